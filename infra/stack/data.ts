/** What a deployment keeps: the table, the secrets, and the queues for records of the stream that functions failed to process. */
import { customerKey, ofQueues } from './account.ts'
import { either, onlyIf, type Part, type Resource, ref, sub } from './intrinsics.ts'

const readUnits = { ReadUnitsPerSecond: ref('WarmReadUnits') }
const writeUnits = { WriteUnitsPerSecond: ref('WarmWriteUnits') }

/**
 * The single table. lib/engine/storage documents its items. Not RetainExceptOnCreate: deletion protection refuses the deletion, which would
 * fail the rollback of a first deployment. The rollback leaves an empty table, which costs nothing (docs/deploying.md).
 */
export const table = {
  Type: 'AWS::DynamoDB::Table',
  DeletionPolicy: 'Retain',
  UpdateReplacePolicy: 'Retain',
  Properties: {
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [
      { AttributeName: 'pk', AttributeType: 'S' },
      { AttributeName: 'sk', AttributeType: 'S' },
      { AttributeName: 'expiryIndex', AttributeType: 'S' },
      { AttributeName: 'expiry', AttributeType: 'N' },
    ],
    KeySchema: [
      { AttributeName: 'pk', KeyType: 'HASH' },
      { AttributeName: 'sk', KeyType: 'RANGE' },
    ],
    // Contains only credentials that can expire, so that the sweep reads only expired keys.
    GlobalSecondaryIndexes: [
      {
        IndexName: 'expiry',
        KeySchema: [
          { AttributeName: 'expiryIndex', KeyType: 'HASH' },
          { AttributeName: 'expiry', KeyType: 'RANGE' },
        ],
        Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['name', 'uid'] },
      },
    ],
    TimeToLiveSpecification: { AttributeName: 'expires', Enabled: true },
    PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
    DeletionProtectionEnabled: true,
    SSESpecification: either(
      'HasKmsKey',
      { SSEEnabled: true, SSEType: 'KMS', KMSMasterKeyId: ref('KmsKeyArn') },
      { SSEEnabled: true },
    ),
    // Without the settings DynamoDB decides: a new table starts with 12,000 read units and 4,000 write units a second.
    WarmThroughput: either(
      'HasWarmReads',
      { ...readUnits, WriteUnitsPerSecond: onlyIf('HasWarmWrites', ref('WarmWriteUnits')) },
      onlyIf('HasWarmWrites', writeUnits),
    ),
    StreamSpecification: { StreamViewType: 'NEW_AND_OLD_IMAGES' },
  },
} as const satisfies Resource

/** Messages contain the position in the stream and the error, but not the objects. docs/monitoring.md describes how to handle them. */
const queue: Resource = {
  Type: 'AWS::SQS::Queue',
  DeletionPolicy: 'Delete',
  UpdateReplacePolicy: 'Delete',
  Properties: { MessageRetentionPeriod: 1209600, ...ofQueues },
}

export const data: Part = {
  Resources: {
    Table: table,
    // 256 random bits. Retained, because without them every stored key becomes invalid. It has no fixed name, which would block a
    // new deployment of a removed stage. It is empty until the first deployment has succeeded, so a rollback may delete it.
    // `npm run bootstrap` fills both secrets, so CloudFormation never sees their values.
    Pepper: {
      Type: 'AWS::SecretsManager::Secret',
      DeletionPolicy: 'RetainExceptOnCreate',
      UpdateReplacePolicy: 'Retain',
      Properties: { Description: 'Pepper of the access key hashes', KmsKeyId: customerKey },
    },
    // The first access key, in group system:masters.
    AccessKey: {
      Type: 'AWS::SecretsManager::Secret',
      DeletionPolicy: 'Delete',
      UpdateReplacePolicy: 'Delete',
      Properties: {
        Name: sub(`keyplane/\${Stage}/access-key`),
        Description: 'First access key, created by bootstrap',
        KmsKeyId: customerKey,
      },
    },
    UncollectedChanges: queue,
    // Of the function lifecycle. Nothing is lost with these records: its schedule reads the log and the signals themselves.
    FailedWakes: queue,
  },
  Outputs: {
    TableName: { Value: ref('Table') },
    PepperSecretId: { Value: ref('Pepper') },
    AccessKeySecretId: { Value: ref('AccessKey') },
  },
}
