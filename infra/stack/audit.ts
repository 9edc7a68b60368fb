/** With audit records in S3 all functions write to one log group, which one subscription reads. Their own groups stay as they are. */
import { logGroup, role } from './account.ts'
import {
  allow,
  att,
  either,
  forThisAccount,
  onlyIf,
  type Part,
  policy,
  type Resource,
  ref,
  sub,
  trusts,
} from './intrinsics.ts'

const Condition = 'ExportsAudit'
const days = ref('AuditRetentionDays')
const bucket = [att('AuditBucket', 'Arn'), sub(`\${AuditBucket.Arn}/*`)]
const retained = { Condition, DeletionPolicy: 'RetainExceptOnCreate', UpdateReplacePolicy: 'Retain' } as const

/** Nobody can delete or replace an object before its time, not even an administrator: the mode is COMPLIANCE. */
const AuditBucket: Resource = {
  Type: 'AWS::S3::Bucket',
  ...retained,
  Properties: {
    ObjectLockEnabled: true,
    ObjectLockConfiguration: {
      ObjectLockEnabled: 'Enabled',
      Rule: { DefaultRetention: { Mode: 'COMPLIANCE', Days: days } },
    },
    VersioningConfiguration: { Status: 'Enabled' },
    LifecycleConfiguration: {
      Rules: [
        {
          Id: 'expired',
          Status: 'Enabled',
          ExpirationInDays: days,
          NoncurrentVersionExpiration: { NoncurrentDays: 1 },
        },
      ],
    },
    BucketEncryption: {
      ServerSideEncryptionConfiguration: [
        {
          ServerSideEncryptionByDefault: either(
            'HasKmsKey',
            { SSEAlgorithm: 'aws:kms', KMSMasterKeyID: ref('KmsKeyArn') },
            { SSEAlgorithm: 'AES256' },
          ),
          BucketKeyEnabled: true,
        },
      ],
    },
    PublicAccessBlockConfiguration: {
      BlockPublicAcls: true,
      BlockPublicPolicy: true,
      IgnorePublicAcls: true,
      RestrictPublicBuckets: true,
    },
    OwnershipControls: { Rules: [{ ObjectOwnership: 'BucketOwnerEnforced' }] },
  },
}

const processor = (Type: string, ParameterName: string, ParameterValue: string) => ({
  Type,
  Parameters: [{ ParameterName, ParameterValue }],
})

/**
 * Writes one JSON object a line, in compressed files by day. Sources: Amazon Data Firehose Developer Guide, "Decompress CloudWatch
 * Logs", "Extract message" and "Use custom prefixes".
 */
const AuditStream: Resource = {
  Type: 'AWS::KinesisFirehose::DeliveryStream',
  Condition,
  Properties: {
    DeliveryStreamType: 'DirectPut',
    DeliveryStreamEncryptionConfigurationInput: either(
      'HasKmsKey',
      { KeyType: 'CUSTOMER_MANAGED_CMK', KeyARN: ref('KmsKeyArn') },
      { KeyType: 'AWS_OWNED_CMK' },
    ),
    ExtendedS3DestinationConfiguration: {
      BucketARN: att('AuditBucket', 'Arn'),
      RoleARN: att('AuditStreamRole', 'Arn'),
      Prefix: 'audit/day=!{timestamp:yyyy-MM-dd}/',
      ErrorOutputPrefix: 'failed/!{firehose:error-output-type}/day=!{timestamp:yyyy-MM-dd}/',
      CompressionFormat: 'GZIP',
      FileExtension: '.json.gz',
      BufferingHints: { IntervalInSeconds: 300, SizeInMBs: 64 },
      ProcessingConfiguration: {
        Enabled: true,
        Processors: [
          processor('Decompression', 'CompressionFormat', 'GZIP'),
          processor('CloudWatchLogProcessing', 'DataMessageExtraction', 'true'),
          processor('AppendDelimiterToRecord', 'Delimiter', '\\n'),
        ],
      },
    },
  },
}

export const audit: Part = {
  Resources: {
    FunctionsLog: logGroup(sub(`/keyplane/\${Stage}/functions`), { Condition }),
    AuditBucket,
    AuditBucketPolicy: {
      Type: 'AWS::S3::BucketPolicy',
      ...retained,
      Properties: {
        Bucket: ref('AuditBucket'),
        PolicyDocument: policy({
          Effect: 'Deny',
          Principal: '*',
          Action: 's3:*',
          Resource: bucket,
          Condition: { Bool: { 'aws:SecureTransport': false } },
        }),
      },
    },
    AuditStream,
    AuditStreamRole: role(
      trusts('firehose', forThisAccount),
      {
        write: policy(
          allow(
            [
              's3:AbortMultipartUpload',
              's3:GetBucketLocation',
              's3:ListBucket',
              's3:ListBucketMultipartUploads',
              's3:PutObject',
            ],
            bucket,
          ),
          onlyIf('HasKmsKey', allow(['kms:Decrypt', 'kms:GenerateDataKey'], ref('KmsKeyArn'))),
        ),
      },
      { Condition },
    ),
    AuditSubscription: {
      Type: 'AWS::Logs::SubscriptionFilter',
      Condition,
      Properties: {
        LogGroupName: ref('FunctionsLog'),
        FilterPattern: '{ $.message = "audit" }',
        DestinationArn: att('AuditStream', 'Arn'),
        RoleArn: att('AuditSubscriptionRole', 'Arn'),
      },
    },
    AuditSubscriptionRole: role(
      trusts('logs', {
        StringLike: { 'aws:SourceArn': sub(`arn:\${AWS::Partition}:logs:\${AWS::Region}:\${AWS::AccountId}:*`) },
      }),
      { deliver: policy(allow(['firehose:PutRecord', 'firehose:PutRecordBatch'], att('AuditStream', 'Arn'))) },
      { Condition },
    ),
  },
  Outputs: {
    AuditBucketName: { Condition, Description: 'Has the audit records as JSON lines', Value: ref('AuditBucket') },
  },
}
