/** Logs, retention and the dashboard of the packaged template. */
import { expect, test } from 'vitest'
import { usePackagedTemplate } from '../support/packagedtemplate.ts'

const packaged = usePackagedTemplate({
  Api: 'api',
  Table: 'table',
  Pepper: 'pepper',
  AccessKey: 'key',
  SigningKey: 'key',
})
const { ofType } = packaged

test('the stage has no tracing, is throttled and logs no bodies', () => {
  const [stage, ...others] = ofType('AWS::ApiGateway::Stage')
  expect(others).toEqual([])
  expect(stage?.[1].Properties.TracingEnabled).toBe(false)
  const settings = { DataTraceEnabled: false, LoggingLevel: 'ERROR', MetricsEnabled: false, CachingEnabled: false }
  const ofExchanges = { HttpMethod: 'POST', ThrottlingRateLimit: '50', ThrottlingBurstLimit: '100', ...settings }
  const ofLeaks = { HttpMethod: 'POST', ThrottlingRateLimit: 5, ThrottlingBurstLimit: 20, ...settings }
  const ofConsole = { ThrottlingRateLimit: 50, ThrottlingBurstLimit: 200, ...settings }
  const base = '/~1kubernetes~1management~1'
  const below = `${base}oauth2~1`
  expect(stage?.[1].Properties.MethodSettings).toEqual([
    { HttpMethod: '*', ResourcePath: '/*', ThrottlingRateLimit: '500', ThrottlingBurstLimit: '1000', ...settings },
    { ResourcePath: `${below}token`, ...ofExchanges },
    { ResourcePath: `${below}revoke`, ...ofExchanges },
    { ResourcePath: `${base}leaks`, ...ofLeaks },
    { ResourcePath: `${base}leaks~1github`, ...ofLeaks },
    { ResourcePath: `${base}apis~1management.platform~1v1~1accesskeylookups`, ...ofLeaks },
    ...['GET', 'HEAD'].flatMap((HttpMethod) => [
      { ...ofConsole, HttpMethod, ResourcePath: '/~1console' },
      { ...ofConsole, HttpMethod, ResourcePath: '/~1console~1{proxy+}' },
    ]),
    { ResourcePath: '/~1apis~1management.platform~1v1~1accesskeylookups', ...ofLeaks },
  ])
  const { methodThrottles } = packaged.deployment.api
  const routed = packaged.deployment.routes.map(({ method, resource }) => `${method} ${resource}`)
  expect(routed).toEqual(expect.arrayContaining([...methodThrottles.keys()]))
  for (const [id] of ofType('AWS::Lambda::Function'))
    expect(packaged.resources[id]?.Properties.TracingConfig).toBeUndefined()
})

test('an access log line is JSON with the request ID and without text that clients choose', () => {
  const format: string = packaged.resources.ApiStage?.Properties.AccessLogSetting.Format
  expect(JSON.parse(format.replace('$context.status', '200'))).toMatchObject({ requestId: '$context.requestId' })
  const variables = [...format.matchAll(/\$context\.([A-Za-z.]+)/g)].map(([, name]) => name)
  expect(variables.sort()).toEqual([
    'authorizer.latency',
    'error.responseType',
    'httpMethod',
    'identity.sourceIp',
    'integration.latency',
    'integration.status',
    'requestId',
    'requestTime',
    'resourcePath',
    'responseLatency',
    'responseLength',
    'status',
  ])
  expect(format).not.toContain('\n')
})

test('every log group has a retention', () => {
  const logs = ofType('AWS::Logs::LogGroup')
  expect(logs).toHaveLength(ofType('AWS::Lambda::Function').length + 2)
  for (const [id, { Properties }] of logs) expect([id, Number(Properties.RetentionInDays)]).toEqual([id, 30])
})

test('the dashboard uses existing resources', () => {
  const { DashboardBody } = packaged.resources.Dashboard?.Properties ?? {}
  const body: string = DashboardBody['Fn::Sub']
  expect(JSON.parse(body).widgets.length).toBeGreaterThan(8)
  const referred = [...body.matchAll(/\$\{(\w+)(?:\.\w+)?\}/g)].map(([, id]) => id ?? '')
  for (const id of referred) expect(packaged.resources).toHaveProperty(id)
  const names = [...body.matchAll(/"ApiName", "([^"]+)"/g)].map(([, name]) => name)
  expect(new Set(names)).toEqual(new Set([packaged.resources.Api?.Properties.Name]))
})
