/** The alarms of the packaged template: metrics, thresholds and actions. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { expect, test } from 'vitest'
import { usePackagedTemplate } from '../support/packagedtemplate.ts'
import { metricId } from './templatemetrics.ts'

const packaged = usePackagedTemplate({
  Api: 'api',
  Table: 'table',
  Pepper: 'pepper',
  AccessKey: 'key',
  SigningKey: 'key',
})
const { ofType } = packaged

interface Alarm {
  metric: string
  begins: string
  missing: string
}

/** Describes each alarm by its name without the deployment: its metric, with the function or rule that it names, and its threshold. */
function alarms(): Map<string, Alarm> {
  const read = ofType('AWS::CloudWatch::Alarm').map(([, { Properties }]): [string, Alarm] => {
    const { Namespace, MetricName, Dimensions = [], ComparisonOperator, Threshold, Period } = Properties
    const of = Dimensions.flatMap(({ Name, Value }: { Name: string; Value: { Ref?: string } & string }) =>
      ['ApiName', 'FunctionName', 'RuleName'].includes(Name) ? (Value.Ref ?? Value) : [],
    )
    const sign = { GreaterThanOrEqualToThreshold: '>=', LessThanThreshold: '<' }[ComparisonOperator as string]
    const { EvaluationPeriods: periods, DatapointsToAlarm: points = periods, TreatMissingData: missing } = Properties
    const begins = `${sign} ${Threshold}, ${points} of ${periods} x ${Period} s`
    return [
      Properties.AlarmName.replace('keyplane-dev-', ''),
      { metric: metricId(Namespace, MetricName, of), begins, missing },
    ]
  })
  return new Map(read)
}

test.each<[alarm: string, begins: string, metric: string]>([
  ['server-errors', '>= 5, 1 of 1 x 300 s', 'keyplane/dev serverErrors'],
  ['throttled', '>= 50, 1 of 1 x 300 s', 'keyplane/dev throttled'],
  ['authorizer-errors', '>= 1, 2 of 5 x 60 s', 'keyplane/dev authorizerFailed'],
  ['authorizer-throttled', '>= 1, 2 of 5 x 60 s', 'AWS/Lambda Throttles AuthorizerLambdaFunction'],
  ['key-lists-throttled', '>= 1, 2 of 5 x 60 s', 'AWS/Lambda Throttles OwnedaccesskeysDashlistLambdaFunction'],
  [
    'instance-lists-throttled',
    '>= 1, 2 of 5 x 60 s',
    'AWS/Lambda Throttles VirtualclusterinstancesDashlistLambdaFunction',
  ],
  [
    'credential-lists-throttled',
    '>= 1, 2 of 5 x 60 s',
    'AWS/Lambda Throttles FederatedidentitycredentialsDashlistLambdaFunction',
  ],
  ['provider-lists-throttled', '>= 1, 2 of 5 x 60 s', 'AWS/Lambda Throttles IdentityprovidersDashlistLambdaFunction'],
  ['namespace-lists-throttled', '>= 1, 2 of 5 x 60 s', 'AWS/Lambda Throttles NamespacesDashlistLambdaFunction'],
  [
    'definition-lists-throttled',
    '>= 1, 2 of 5 x 60 s',
    'AWS/Lambda Throttles CustomresourcedefinitionsDashlistLambdaFunction',
  ],
  ['collector-throttled', '>= 1, 2 of 5 x 60 s', 'AWS/Lambda Throttles GarbagecollectorLambdaFunction'],
  ['sweep-errors', '>= 1, 2 of 2 x 3600 s', 'AWS/Lambda Errors SweepLambdaFunction'],
  ['sweep-failures', '>= 1, 3 of 3 x 3600 s', 'keyplane/dev sweepFailed'],
  ['sweep-stopped', '< 1, 3 of 3 x 3600 s', 'AWS/Lambda Invocations SweepLambdaFunction'],
  ['collector-errors', '>= 1, 2 of 2 x 900 s', 'AWS/Lambda Errors GarbagecollectorLambdaFunction'],
  ['collector-failures', '>= 1, 3 of 3 x 3600 s', 'keyplane/dev collectionFailed'],
  ['collector-stopped', '< 1, 3 of 3 x 3600 s', 'AWS/Events Invocations GarbagecollectorEventsRuleSchedule1'],
  ['stream-age', '>= 900000, 1 of 1 x 300 s', 'AWS/Lambda IteratorAge GarbagecollectorLambdaFunction'],
  ['uncollected-changes', '>= 1, 1 of 1 x 300 s', 'AWS/SQS ApproximateNumberOfMessagesVisible'],
  ['settle-errors', '>= 10, 2 of 2 x 900 s', 'AWS/Lambda Errors SettleLambdaFunction'],
  ['settle-stopped', '< 1, 2 of 2 x 900 s', 'AWS/Lambda Invocations SettleLambdaFunction'],
  ['events-failed', '>= 1, 3 of 3 x 300 s', 'AWS/Lambda Errors LifecycleLambdaFunction'],
  ['events-lost', '>= 1, 1 of 1 x 300 s', 'keyplane/dev eventsLost'],
  ['events-stopped', '< 1, 2 of 2 x 900 s', 'AWS/Events Invocations LifecycleEventsRuleSchedule1'],
  ['exchanges-refused', '>= 50, 1 of 1 x 300 s', 'keyplane/dev exchanges'],
  ['exchanges-replayed', '>= 1, 1 of 1 x 300 s', 'keyplane/dev exchanges'],
  ['exchanges-throttled', '>= 1, 2 of 5 x 60 s', 'AWS/Lambda Throttles Oauth2DashtokenLambdaFunction'],
  ['issuer-fetch-failures', '>= 3, 1 of 1 x 600 s', 'keyplane/dev issuerFetchFailures'],
  ['issuer-keys-stale', '>= 900, 1 of 1 x 300 s', 'keyplane/dev staleKeys'],
  ['leaks-throttled', '>= 1, 2 of 5 x 60 s', 'AWS/Lambda Throttles LeaksLambdaFunction'],
  ['leaked-keys', '>= 1, 1 of 1 x 300 s', 'keyplane/dev leakedKeys'],
])('alarm %s begins at %s', (name, begins, metric) => {
  // An alarm on too few events treats missing data as breaching.
  const missing = begins.startsWith('<') ? 'breaching' : 'notBreaching'
  expect(alarms().get(name)).toEqual({ metric, begins, missing })
})

test('failures of API Gateway and of functions count together', () => {
  const filters = ofType('AWS::Logs::MetricFilter').map(([, { Properties }]) => Properties)
  const [{ FilterPattern } = {}] = filters.filter(
    ({ MetricTransformations: [one] }) => one.MetricName === 'serverErrors',
  )
  expect(FilterPattern).toBe('{ ($.status >= 500) && ($.error != "-") }')
})

test('every function with a concurrency limit has an alarm on its throttles', async () => {
  const text = await readFile(join(import.meta.dirname, '../../serverless.yml'), 'utf8')
  const { functions } = load(text.replace(/!\w+/g, '')) as {
    functions: Record<string, { handler: string; reservedConcurrency?: unknown }>
  }
  const limited = Object.values(functions).filter(({ reservedConcurrency }) => reservedConcurrency !== undefined)
  const modules = limited.map(({ handler }) => handler.replace(/\.handler$/, ''))
  const ids = [...packaged.deployment.functions].filter(([, { module }]) => modules.includes(module)).map(([id]) => id)
  expect(ids).toHaveLength(7)
  const watched = [...alarms().values()].map(({ metric }) => metric)
  expect(watched).toEqual(expect.arrayContaining(ids.map((id) => `AWS/Lambda Throttles ${id}`)))
})

test('throttled requests of the table and of its index each have an alarm', () => {
  const index = { Name: 'GlobalSecondaryIndexName', Value: 'expiry' }
  const table = { Name: 'TableName', Value: { Ref: 'Table' } }
  const watched = ofType('AWS::CloudWatch::Alarm').flatMap(([, { Properties }]) =>
    Properties.Namespace === 'AWS/DynamoDB' ? [[Properties.MetricName, Properties.Dimensions]] : [],
  )
  expect(watched).toEqual([
    ['ReadThrottleEvents', [table]],
    ['WriteThrottleEvents', [table]],
    ['WriteThrottleEvents', [table, index]],
  ])
})

test('every alarm notifies the topic when it starts and when it ends', () => {
  const all = ofType('AWS::CloudWatch::Alarm')
  expect(all.length).toBeGreaterThan(10)
  for (const [, { Properties }] of all) {
    expect(Properties.AlarmActions).toEqual([{ Ref: 'AlarmTopic' }])
    expect(Properties.OKActions).toEqual([{ Ref: 'AlarmTopic' }])
    expect(['breaching', 'notBreaching']).toContain(Properties.TreatMissingData)
  }
})

test('every alarm is documented', async () => {
  const page = await readFile(join(import.meta.dirname, '../../docs/monitoring.md'), 'utf8')
  for (const name of alarms().keys()) expect(page).toMatch(new RegExp(`^\\| .*\`${name}\`.* \\|`, 'm'))
})

test('the page states the cost of the alarms', async () => {
  const page = await readFile(join(import.meta.dirname, '../../docs/cost.md'), 'utf8')
  expect(page.replaceAll('\n', ' ')).toContain(`$${(alarms().size * 0.1).toFixed(2)} for the alarms`)
})
