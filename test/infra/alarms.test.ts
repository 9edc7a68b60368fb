/** The alarms of the packaged template: metrics, thresholds and actions. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { functions } from '../../infra/functions.ts'
import { usePackagedTemplate } from '../support/packagedtemplate.ts'
import { metricId } from './templatemetrics.ts'
import cases from './vectors/alarms.cases.json' with { type: 'json' }

const packaged = usePackagedTemplate()
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

test.each(cases.begins as [alarm: string, begins: string, metric: string][])(
  'alarm %s begins at %s',
  (name, begins, metric) => {
    // An alarm on too few events treats missing data as breaching.
    const missing = begins.startsWith('<') ? 'breaching' : 'notBreaching'
    expect(alarms().get(name)).toEqual({ metric, begins, missing })
  },
)

test('failures of API Gateway and of functions count together', () => {
  const filters = ofType('AWS::Logs::MetricFilter').map(([, { Properties }]) => Properties)
  const [{ FilterPattern } = {}] = filters.filter(
    ({ MetricTransformations: [one] }) => one.MetricName === 'serverErrors',
  )
  expect(FilterPattern).toBe('{ ($.status >= 500) && ($.error != "-") }')
})

test('every function with a concurrency limit has an alarm on its throttles', () => {
  const limited = functions.filter(({ concurrency }) => concurrency !== undefined)
  expect(limited).toHaveLength(7)
  const watched = [...alarms().values()].map(({ metric }) => metric)
  expect(watched).toEqual(expect.arrayContaining(limited.map(({ id }) => `AWS/Lambda Throttles ${id}LambdaFunction`)))
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
  // Those of rollouts are for CodeDeploy.
  const all = ofType('AWS::CloudWatch::Alarm').filter(([id]) => !id.startsWith('Rollout'))
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
