/** Logs, retention and the dashboard of the packaged template. */
import { expect, test } from 'vitest'
import { usePackagedTemplate } from '../support/packagedtemplate.ts'

const packaged = usePackagedTemplate()
const { ofType } = packaged

// threat: gateway-16, exchange-49, leaks-1, lookups-2, page-7
test('the stage has no tracing, is throttled and logs no bodies', () => {
  const [stage, ...others] = ofType('AWS::ApiGateway::Stage')
  expect(others).toEqual([])
  expect(stage?.[1].Properties.TracingEnabled).toBe(false)
  const settings = { DataTraceEnabled: false, LoggingLevel: 'ERROR', MetricsEnabled: false, CachingEnabled: false }
  const limitsOf = new Map(
    stage?.[1].Properties.MethodSettings.map(({ HttpMethod, ResourcePath, ...setting }: Record<string, unknown>) => {
      const { ThrottlingRateLimit: rate, ThrottlingBurstLimit: burst, ...others } = setting
      expect(others).toEqual(settings)
      return [`${HttpMethod} ${String(ResourcePath).slice(1).replaceAll('~1', '/')}`, [rate, burst]]
    }),
  )
  const base = '/kubernetes/management'
  const lookups = '/apis/management.platform/v1/accesskeylookups'
  const reviews = ['/apis/authentication.k8s.io/v1/tokenreviews', '/apis/authorization.k8s.io/v1/subjectaccessreviews']
  expect(Object.fromEntries(limitsOf)).toEqual({
    '* *': ['500', '1000'],
    ...Object.fromEntries(['token', 'revoke'].map((name) => [`POST ${base}/oauth2/${name}`, ['50', '100']])),
    ...Object.fromEntries(
      reviews.flatMap((path) => [path, base + path]).map((path) => [`POST ${path}`, ['500', '1000']]),
    ),
    ...Object.fromEntries([`${base}/leaks`, base + lookups, lookups].map((path) => [`POST ${path}`, [5, 20]])),
    ...Object.fromEntries(
      ['GET', 'HEAD'].flatMap((method) =>
        ['/console', '/console/{proxy+}'].map((path) => [`${method} ${path}`, [50, 200]]),
      ),
    ),
  })
  const { methodThrottles } = packaged.deployment.api
  const routed = packaged.deployment.routes.map(({ method, resource }) => `${method} ${resource}`)
  expect(routed).toEqual(expect.arrayContaining([...methodThrottles.keys()]))
  for (const [id] of ofType('AWS::Lambda::Function'))
    expect(packaged.resources[id]?.Properties.TracingConfig).toBeUndefined()
})

// threat: logs-6
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
  const names = [...body.matchAll(/"ApiName","([^"]+)"/g)].map(([, name]) => name)
  expect(new Set(names)).toEqual(new Set([packaged.resources.Api?.Properties.Name]))
})
