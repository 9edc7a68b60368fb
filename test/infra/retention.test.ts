/** Retained resources and background functions of the packaged template. */
import { expect, test } from 'vitest'
import { type Resource, usePackagedTemplate } from '../support/packagedtemplate.ts'

const packaged = usePackagedTemplate()
const { ofType } = packaged
const resource = (id: string): Resource => packaged.resources[id] as Resource
const only = (type: string): Resource => {
  const [found, ...others] = ofType(type)
  expect(others).toEqual([])
  return found?.[1] as Resource
}

test('retained resources are retained on replacement too', () => {
  for (const [id, { Type, DeletionPolicy, UpdateReplacePolicy }] of Object.entries(packaged.resources)) {
    // Only the setting role-path replaces a role: account.test.ts.
    if (Type === 'AWS::IAM::Role' && DeletionPolicy === 'Delete') continue
    expect([id, UpdateReplacePolicy]).toEqual([id, DeletionPolicy?.replace('RetainExceptOnCreate', 'Retain')])
  }
})

test('a protected resource is not deleted in a rollback, which would fail', () => {
  const isProtected = ({ Properties }: Resource) => Properties?.DeletionProtectionEnabled === true
  const policies = Object.values(packaged.resources)
    .filter(isProtected)
    .map(({ DeletionPolicy }) => DeletionPolicy)
  expect(policies).toEqual(['Retain'])
})

test('the table has encryption, point-in-time recovery, a TTL and a stream', () => {
  const { DeletionPolicy, Properties } = only('AWS::DynamoDB::Table')
  expect(DeletionPolicy).toBe('Retain')
  expect(Properties).toMatchObject({
    BillingMode: 'PAY_PER_REQUEST',
    PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
    DeletionProtectionEnabled: true,
    SSESpecification: { SSEEnabled: true },
    TimeToLiveSpecification: { AttributeName: 'expires', Enabled: true },
    StreamSpecification: { StreamViewType: 'NEW_AND_OLD_IMAGES' },
  })
  expect(Properties).not.toHaveProperty('TableName')
})

test('a signing key is retained unless its creation is rolled back, and its policy names the account only', () => {
  const { DeletionPolicy, Properties } = only('AWS::KMS::Key')
  expect(DeletionPolicy).toBe('RetainExceptOnCreate')
  expect(Properties).toMatchObject({ KeySpec: 'ECC_NIST_P256', KeyUsage: 'SIGN_VERIFY', PendingWindowInDays: 30 })
  expect(Object.keys(Properties).sort()).toEqual([
    'Description',
    'KeyPolicy',
    'KeySpec',
    'KeyUsage',
    'PendingWindowInDays',
  ])
  const [statement, ...others] = Properties.KeyPolicy.Statement
  expect(others).toEqual([])
  // The account delegates to the roles.
  expect(statement).toMatchObject({ Effect: 'Allow', Action: 'kms:*', Resource: '*' })
  expect(JSON.stringify(statement.Principal)).toMatch(
    /^\{"AWS":\{"Fn::Sub":"arn:[^:]+::Partition\}:iam::[^:]+::AccountId\}:root"\}\}$/,
  )
})

test('failed batches of the collector are retried, bisected, and sent to a queue before they expire in the stream', () => {
  const { Properties } = resource('GarbagecollectorEventSourceMappingDynamodbTable')
  expect(Properties).toMatchObject({
    EventSourceArn: { 'Fn::GetAtt': ['Table', 'StreamArn'] },
    FunctionName: { 'Fn::Sub': `\${GarbagecollectorLambdaFunction.Arn}:live` },
    StartingPosition: 'TRIM_HORIZON',
    BisectBatchOnFunctionError: true,
    FunctionResponseTypes: ['ReportBatchItemFailures'],
    DestinationConfig: { OnFailure: { Destination: { 'Fn::GetAtt': ['UncollectedChanges', 'Arn'] } } },
  })
  expect(Properties.MaximumRetryAttempts).toBeGreaterThan(0)
  expect(Properties.MaximumRecordAgeInSeconds).toBeGreaterThan(0)
  expect(Properties.MaximumRecordAgeInSeconds).toBeLessThan(86_400)
})

test('the stream wakes the publisher of events, and failures are kept in a queue of their own', () => {
  const { Properties } = resource('LifecycleEventSourceMappingDynamodbTable')
  expect(Properties).toMatchObject({
    EventSourceArn: { 'Fn::GetAtt': ['Table', 'StreamArn'] },
    FunctionName: { 'Fn::Sub': `\${LifecycleLambdaFunction.Arn}:live` },
    DestinationConfig: { OnFailure: { Destination: { 'Fn::GetAtt': ['FailedWakes', 'Arn'] } } },
  })
  // Its schedule repeats what failed, so old records do not hold up new ones.
  expect(Properties.MaximumRetryAttempts).toBeLessThan(5)
  expect(Properties.MaximumRecordAgeInSeconds).toBeLessThan(3600)
})

test('the queues of failed records are encrypted and keep them for two weeks', () => {
  const queues = ofType('AWS::SQS::Queue')
  expect(queues.map(([id]) => id).sort()).toEqual(['FailedWakes', 'UncollectedChanges'])
  for (const [, { Properties }] of queues)
    expect(Properties).toMatchObject({ SqsManagedSseEnabled: true, MessageRetentionPeriod: 1_209_600 })
})

test('scheduled invocations are not retried and expire before the next run', () => {
  const seconds = { 'rate(1 minute)': 60, 'rate(1 hour)': 3600 }
  const settings = new Map(
    ofType('AWS::Lambda::EventInvokeConfig').map(([, { Properties }]) => [
      `\${${Properties.FunctionName.Ref}.Arn}:live`,
      Properties,
    ]),
  )
  const rules = ofType('AWS::Events::Rule')
  for (const [, { Properties }] of rules) {
    expect(Properties.State).toBe('ENABLED')
    const [target] = Properties.Targets
    expect(settings.get(target.Arn['Fn::Sub'])).toMatchObject({
      Qualifier: 'live',
      MaximumRetryAttempts: 0,
      MaximumEventAgeInSeconds: seconds[Properties.ScheduleExpression as keyof typeof seconds],
    })
  }
})
