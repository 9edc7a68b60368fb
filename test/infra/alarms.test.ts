/** The alarms of the packaged template. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { functions } from '../../infra/functions.ts'
import { usePackagedTemplate } from '../support/packagedtemplate.ts'

const packaged = usePackagedTemplate()
const { ofType } = packaged

/** Returns the names of the alarms without the deployment. */
const names = () =>
  ofType('AWS::CloudWatch::Alarm').map(([, { Properties }]) => Properties.AlarmName.replace('keyplane-dev-', ''))

test('every function with a concurrency limit has an alarm on its throttles', () => {
  const limited = functions.filter(({ concurrency }) => concurrency !== undefined)
  expect(limited.length).toBeGreaterThan(5)
  expect(limited.filter(({ throttled }) => throttled === undefined)).toEqual([])
})

test('an alarm on too few events treats missing data as breaching', () => {
  for (const [id, { Properties }] of ofType('AWS::CloudWatch::Alarm'))
    expect([id, Properties.TreatMissingData]).toEqual([
      id,
      Properties.ComparisonOperator === 'LessThanThreshold' ? 'breaching' : 'notBreaching',
    ])
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
  }
})

// threat: rotation-13
test('every alarm describes itself: what it means, and what to do', () => {
  const described = ofType('AWS::CloudWatch::Alarm').map(([id, { Properties }]) => [id, Properties.AlarmDescription])
  expect(described.length).toBeGreaterThan(40)
  // CloudWatch takes at most 1,024 characters.
  const complete = /^[A-Z](?=.{40,1000}$).*[.:;,] .*\.$/
  expect(described.filter(([id, text]) => !complete.test(text) && !id?.startsWith('Rollout'))).toEqual([])
})

test('the page states the cost of the alarms', async () => {
  const page = await readFile(join(import.meta.dirname, '../../docs/cost.md'), 'utf8')
  expect(page).toContain(`| alarms | ${names().length} | $0.10 | $${(names().length * 0.1).toFixed(2)} |`)
})
