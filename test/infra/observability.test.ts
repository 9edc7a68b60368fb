/** What is recorded of a deployment, for how long, and who is told: read from the packaged template. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { usePackaged } from '../support/packaged.ts'

const packaged = usePackaged()
const { ofType } = packaged

test('the stage traces nothing, is limited and leaves API Gateway no bodies to log', () => {
  const [stage, ...others] = ofType('AWS::ApiGateway::Stage')
  expect(others).toEqual([])
  expect(stage?.[1].Properties.TracingEnabled).toBe(false)
  expect(stage?.[1].Properties.MethodSettings).toEqual([
    expect.objectContaining({
      HttpMethod: '*',
      ResourcePath: '/*',
      ThrottlingRateLimit: 500,
      ThrottlingBurstLimit: 1000,
      DataTraceEnabled: false,
      LoggingLevel: 'ERROR',
    }),
  ])
  for (const [id] of ofType('AWS::Lambda::Function'))
    expect(packaged.resources[id]?.Properties.TracingConfig).toBeUndefined()
})

test('a line of the access log is JSON with the id of the request, and of its text only what this side chose', () => {
  const format: string = packaged.resources.Stage?.Properties.AccessLogSetting.Format
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

test('every log ends', () => {
  const logs = ofType('AWS::Logs::LogGroup')
  expect(logs).toHaveLength(ofType('AWS::Lambda::Function').length + 2)
  for (const [id, { Properties }] of logs) expect([id, Number(Properties.RetentionInDays)]).toEqual([id, 30])
})

test('every alarm tells the topic when it begins and when it ends', () => {
  const alarms = ofType('AWS::CloudWatch::Alarm')
  expect(alarms.length).toBeGreaterThan(10)
  for (const [, { Properties }] of alarms) {
    expect(Properties.AlarmActions).toEqual([{ Ref: 'AlarmTopic' }])
    expect(Properties.OKActions).toEqual([{ Ref: 'AlarmTopic' }])
    expect(['breaching', 'notBreaching']).toContain(Properties.TreatMissingData)
  }
})

test('every alarm and every setting is explained', async () => {
  const page = await readFile(join(import.meta.dirname, '../../docs/operations.md'), 'utf8')
  const names = ofType('AWS::CloudWatch::Alarm').map(([, { Properties }]) => Properties.AlarmName as string)
  for (const name of names) expect(page).toContain(`\`${name.replace('keyplane-dev-', '')}\``)
  const settings =
    /\n {2}default:\n((?: {4}.*\n)+)/.exec(
      await readFile(join(import.meta.dirname, '../../serverless.yml'), 'utf8'),
    )?.[1] ?? ''
  const parameters = [...settings.matchAll(/^ {4}([a-z-]+): (.*)$/gm)]
  expect(parameters.length).toBeGreaterThan(5)
  for (const [, name] of parameters) expect(page).toContain(`\`${name}\``)
})

test('alarms and dashboard look at what is there', () => {
  const { DashboardBody } = packaged.resources.Dashboard?.Properties ?? {}
  const body: string = DashboardBody['Fn::Sub']
  expect(JSON.parse(body).widgets.length).toBeGreaterThan(8)
  const referred = [...body.matchAll(/\$\{(\w+)(?:\.\w+)?\}/g)].map(([, id]) => id ?? '')
  for (const id of referred) expect(packaged.resources).toHaveProperty(id)
  const names = [...body.matchAll(/"ApiName", "([^"]+)"/g)].map(([, name]) => name)
  for (const [, { Properties }] of ofType('AWS::CloudWatch::Alarm')) {
    for (const { Name, Value } of Properties.Dimensions ?? []) if (Name === 'ApiName') names.push(Value)
  }
  expect(new Set(names)).toEqual(new Set([packaged.resources.ApiGatewayRestApi?.Properties.Name]))
})
