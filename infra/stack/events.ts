/** The schedules and the streams that invoke functions. */

import { rowsOf, slotKey } from '../../lib/engine/storage/keys.ts'
import { ENDING } from '../../lib/keys/credential/boundsecrets.ts'
import { signalPartition } from '../../lib/keys/credential/signals.ts'
import { KINDS, kindRows } from '../../lib/kinds.ts'
import { type DeployedFunction, functions } from '../functions.ts'
import { att, type Resource, type Resources, ref, type Value } from './intrinsics.ts'
import { alias, aliasOf, publisherOf } from './rollouts.ts'

const prefixOf = (partition: string) => ({ prefix: partition.slice(0, partition.lastIndexOf('#') + 1) })

const filter = (eventName: readonly string[], partitions: readonly Value[]) => ({
  Filters: [{ Pattern: JSON.stringify({ eventName, dynamodb: { Keys: { pk: { S: partitions } } } }) }],
})

const streams = {
  /** Only rows of objects, of each stored kind. A delete is a MODIFY to a tombstone. The function settle removes the tombstone later. */
  changes: {
    queue: 'UncollectedChanges',
    properties: {
      BatchSize: 100,
      StartingPosition: 'TRIM_HORIZON',
      // After these limits the stream skips the records. The hourly pass over all objects makes up for them.
      MaximumRetryAttempts: 20,
      MaximumRecordAgeInSeconds: 21600,
      BisectBatchOnFunctionError: true,
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      FilterCriteria: filter(
        ['INSERT', 'MODIFY'],
        kindRows.filter(({ archetype }) => archetype === 'stored').map(({ plural }) => rowsOf(plural)),
      ),
    },
  },
  /**
   * New entries of the change log of keys, signals, and what ends keys otherwise. They only wake the function, whose schedule finds the
   * same. So it is not invoked many times for old records.
   */
  wakes: {
    queue: 'FailedWakes',
    properties: {
      BatchSize: 1000,
      StartingPosition: 'LATEST',
      MaximumBatchingWindowInSeconds: 2,
      MaximumRetryAttempts: 3,
      MaximumRecordAgeInSeconds: 300,
      FilterCriteria: filter(
        ['INSERT'],
        [...[slotKey(KINDS.OwnedAccessKey.plural, 1).pk, signalPartition(0)].map(prefixOf), ENDING],
      ),
    },
  },
} as const

/** Returns the queue for the records of a stream that its function failed to process. */
export const queueOf = (stream: keyof typeof streams): string => streams[stream].queue

export const secondsOf = { minute: 60, hour: 3600 } as const

/** Returns for how many seconds Lambda collects records of a stream. */
export const windowOf = (stream: keyof typeof streams): number => {
  const { properties } = streams[stream]
  return 'MaximumBatchingWindowInSeconds' in properties ? properties.MaximumBatchingWindowInSeconds : 0
}

const invokedBy = (one: DeployedFunction): [string, Resource][] => {
  const { id, name, every, stream } = one
  const FunctionName = aliasOf(one)
  const DependsOn = publisherOf(one)
  const rule = `${id}EventsRuleSchedule1`
  const scheduled: [string, Resource][] =
    every === undefined
      ? []
      : [
          [
            `${id}LambdaEvConf`,
            {
              Type: 'AWS::Lambda::EventInvokeConfig',
              DependsOn,
              Properties: {
                FunctionName: ref(`${id}LambdaFunction`),
                DestinationConfig: {},
                Qualifier: alias,
                MaximumEventAgeInSeconds: secondsOf[every],
                MaximumRetryAttempts: 0,
              },
            },
          ],
          [
            rule,
            {
              Type: 'AWS::Events::Rule',
              Properties: {
                ScheduleExpression: `rate(1 ${every})`,
                State: 'ENABLED',
                Targets: [{ Arn: FunctionName, Id: `${name}Schedule` }],
              },
            },
          ],
          [
            `${id}LambdaPermissionEventsRuleSchedule1`,
            {
              Type: 'AWS::Lambda::Permission',
              DependsOn,
              Properties: {
                FunctionName,
                Action: 'lambda:InvokeFunction',
                Principal: 'events.amazonaws.com',
                SourceArn: att(rule, 'Arn'),
              },
            },
          ],
        ]
  if (stream === undefined) return scheduled
  const { queue, properties } = streams[stream]
  const mapping: Resource = {
    Type: 'AWS::Lambda::EventSourceMapping',
    DependsOn: [`${id}Role`, DependsOn],
    Properties: {
      ...properties,
      Enabled: true,
      EventSourceArn: att('Table', 'StreamArn'),
      FunctionName,
      DestinationConfig: { OnFailure: { Destination: att(queue, 'Arn') } },
    },
  }
  return [...scheduled, [`${id}EventSourceMappingDynamodbTable`, mapping]]
}

export const events: Resources = Object.fromEntries(functions.flatMap(invokedBy))
