/** The settings for the rules of an account: what each changes in the template, and that nothing changes without them. */
import { beforeAll, describe, expect, test } from 'vitest'
import { rules } from '../../infra/settings/parameters.ts'
import type { Resource } from '../support/packagedtemplate.ts'
import { templateWith } from './everysetting.ts'
import { strict } from './strictsettings.ts'

let resources: Readonly<Record<string, Resource>>
let byDefault: ReturnType<typeof templateWith>
let all: ReturnType<typeof templateWith>
beforeAll(() => {
  byDefault = templateWith({})
  all = templateWith(strict)
  resources = all.resources
})

const ofType = (type: string) => Object.entries(resources).filter(([, { Type }]) => Type === type)
const propertiesOf = (id: string, from = resources): Resource['Properties'] => from[id]?.Properties ?? {}
const key = strict['kms-key-arn']

interface Statement {
  Effect: string
  Action: string | string[]
  Resource: unknown
  Condition?: object
}
/** Returns what every function may do. */
function statementsOfFunctions(): Statement[] {
  for (const [id, { Properties }] of ofType('AWS::Lambda::Function'))
    expect([id, propertiesOf(Properties.Role['Fn::GetAtt'][0]).ManagedPolicyArns]).toEqual([
      id,
      [{ Ref: 'FunctionsPolicy' }],
    ])
  return propertiesOf('FunctionsPolicy').PolicyDocument.Statement
}
const statementsOf = (id: string): Statement[] =>
  propertiesOf(id).Policies.flatMap(
    ({ PolicyDocument }: { PolicyDocument: { Statement: Statement[] } }) => PolicyDocument.Statement,
  )

test('without the settings the template has none of this', () => {
  const types = new Set(Object.values(byDefault.resources).map(({ Type }) => Type))
  for (const type of [
    'WAFv2::WebACLAssociation',
    'KinesisFirehose::DeliveryStream',
    'Backup::BackupPlan',
    'Logs::SubscriptionFilter',
  ])
    expect([type, types.has(`AWS::${type}`)]).toEqual([type, false])
  // It has the values of all parameters of functions.
  const { Release: _, ...others } = byDefault.resources
  expect(JSON.stringify(others)).not.toMatch(
    /PermissionsBoundary|FunctionsPolicy|KmsKeyArn|KmsKeyId|KmsMasterKeyId|KMSMasterKeyId|TracingConfig|LoggingConfig|DisableExecuteApi|SourceIp|xray:|kms:GenerateDataKey/,
  )
  expect(Object.keys(propertiesOf('Api', byDefault.resources).Body)).not.toContain('x-amazon-apigateway-policy')
})

test('every role has the boundary and the path', () => {
  const roles = ofType('AWS::IAM::Role')
  expect(roles.length).toBeGreaterThan(60)
  for (const [id, { Properties }] of roles)
    expect([id, Properties]).toEqual([
      id,
      expect.objectContaining({ PermissionsBoundary: strict['permissions-boundary'], Path: strict['role-path'] }),
    ])
  // Old versions of functions, and the deployed API, have the roles from before a change of the path.
  for (const [id, { UpdateReplacePolicy }] of roles) expect([id, UpdateReplacePolicy]).toEqual([id, 'Retain'])
})

describe('a key of the customer', () => {
  test('encrypts everything that is stored', () => {
    const keys: Record<string, (properties: Resource['Properties']) => unknown> = {
      'AWS::DynamoDB::Table': ({ SSESpecification }) => SSESpecification,
      'AWS::SecretsManager::Secret': ({ KmsKeyId }) => KmsKeyId,
      'AWS::Logs::LogGroup': ({ KmsKeyId }) => KmsKeyId,
      'AWS::SQS::Queue': ({ KmsMasterKeyId, SqsManagedSseEnabled }) => [KmsMasterKeyId, SqsManagedSseEnabled],
      'AWS::SNS::Topic': ({ KmsMasterKeyId }) => KmsMasterKeyId,
      'AWS::Lambda::Function': ({ KmsKeyArn }) => KmsKeyArn,
      'AWS::KinesisFirehose::DeliveryStream': ({ DeliveryStreamEncryptionConfigurationInput: { KeyARN } }) => KeyARN,
    }
    const expected = {
      'AWS::DynamoDB::Table': { SSEEnabled: true, SSEType: 'KMS', KMSMasterKeyId: key },
      'AWS::SQS::Queue': [key, undefined],
    } as Record<string, unknown>
    for (const [type, keyOf] of Object.entries(keys)) {
      const found = ofType(type)
      expect([type, found.length > 0]).toEqual([type, true])
      for (const [id, { Properties }] of found) expect([id, keyOf(Properties)]).toEqual([id, expected[type] ?? key])
    }
    expect(JSON.stringify(propertiesOf('AuditBucket').BucketEncryption)).toContain(key)
  })

  test('may be used by every function for its variables, and through the services that store data', () => {
    expect(statementsOfFunctions().filter(({ Resource }) => Resource === key)).toEqual([
      {
        Effect: 'Allow',
        Action: 'kms:Decrypt',
        Resource: key,
        Condition: {
          StringLike: {
            'kms:EncryptionContext:aws:lambda:FunctionArn': {
              'Fn::Sub': `arn:\${AWS::Partition}:lambda:\${AWS::Region}:\${AWS::AccountId}:function:keyplane-prod-*`,
            },
          },
        },
      },
      {
        Effect: 'Allow',
        Action: ['kms:Decrypt', 'kms:DescribeKey', 'kms:Encrypt', 'kms:GenerateDataKey', 'kms:ReEncrypt*'],
        Resource: key,
        Condition: {
          StringEquals: {
            'kms:ViaService': ['dynamodb', 'secretsmanager', 'sqs'].map((service) => ({
              'Fn::Sub': `${service}.\${AWS::Region}.\${AWS::URLSuffix}`,
            })),
          },
        },
      },
    ])
  })
})

describe('access to the API', () => {
  const policyWith = (settings: Readonly<Record<string, string>>) => {
    const { Body, EndpointConfiguration, Parameters } = propertiesOf('Api', templateWith(settings).resources)
    const Policy = Body['x-amazon-apigateway-policy']
    const [server] = Body.servers ?? []
    return {
      endpoint: server?.['x-amazon-apigateway-endpoint-configuration'],
      denied: Policy.Statement.slice(1).map(({ Condition }: Statement) => Condition),
      EndpointConfiguration,
      Parameters,
      Policy,
    }
  }
  const endpoints = { 'vpc-endpoint-ids': 'vpce-0123456789abcdef0,vpce-0123456789abcdef1' }
  const ids = endpoints['vpc-endpoint-ids'].split(',')
  const cidrs = { 'allowed-cidrs': strict['allowed-cidrs'] }

  test('is denied from other addresses', () => {
    const { denied, EndpointConfiguration, Policy } = policyWith(cidrs)
    expect(denied).toEqual([{ NotIpAddress: { 'aws:SourceIp': ['203.0.113.0/24', '2001:db8::/32'] } }])
    expect(EndpointConfiguration).toEqual({ Types: ['REGIONAL'] })
    for (const statement of Policy.Statement)
      expect(statement).toMatchObject({ Principal: '*', Action: 'execute-api:Invoke', Resource: 'execute-api:/*' })
  })

  test('is denied except through the endpoints of a private API, whose clients have addresses in the VPC', () => {
    const { denied, endpoint, EndpointConfiguration, Parameters } = policyWith(endpoints)
    expect(endpoint).toEqual({ vpcEndpointIds: ids })
    expect(denied).toEqual([{ StringNotEquals: { 'aws:SourceVpce': ids } }])
    expect(EndpointConfiguration).toEqual({ Types: ['PRIVATE'], VpcEndpointIds: ids })
    expect(Parameters).toEqual({ endpointConfigurationTypes: 'PRIVATE' })
    const both = policyWith({ ...endpoints, ...cidrs })
    expect(both.denied[1]).toEqual({ NotIpAddress: { 'aws:VpcSourceIp': ['203.0.113.0/24', '2001:db8::/32'] } })
  })

  test('is judged by the web ACL, and only by the domain', () => {
    expect(ofType('AWS::WAFv2::WebACLAssociation')).toEqual([
      [
        'WebAclAssociation',
        {
          Type: 'AWS::WAFv2::WebACLAssociation',
          Properties: {
            ResourceArn: {
              'Fn::Sub': `arn:\${AWS::Partition}:apigateway:\${AWS::Region}::/restapis/\${Api}/stages/\${ApiStage}`,
            },
            WebACLArn: strict['web-acl-arn'],
          },
        },
      ],
    ])
    const [server] = propertiesOf('Api').Body.servers
    expect(server['x-amazon-apigateway-endpoint-configuration']).toEqual({ disableExecuteApiEndpoint: true })
  })

  test.each([
    [{ 'disable-execute-api': 'true' }, 'the setting disable-execute-api requires domain'],
    [
      { ...endpoints, domain: strict.domain, 'certificate-arn': strict['certificate-arn'] },
      'the setting vpc-endpoint-ids excludes domain',
    ],
    [{ 'backup-copy-vault-arn': strict['backup-copy-vault-arn'] }, 'requires backup-vault'],
  ])('%o is refused', (settings, message) => expect(() => templateWith(settings)).toThrow(message))

  test('CloudFormation refuses the same', () => {
    expect(rules.DisableExecuteApiRule).toEqual({
      RuleCondition: { 'Fn::Not': [{ 'Fn::Equals': [{ Ref: 'DisableExecuteApi' }, 'false'] }] },
      Assertions: [
        {
          Assert: { 'Fn::Not': [{ 'Fn::Equals': [{ Ref: 'Domain' }, ''] }] },
          AssertDescription: 'DisableExecuteApi requires Domain',
        },
      ],
    })
    expect(rules.VpcEndpointIdsRule?.Assertions).toEqual([
      {
        Assert: { 'Fn::Not': [{ 'Fn::Not': [{ 'Fn::Equals': [{ Ref: 'Domain' }, ''] }] }] },
        AssertDescription: 'VpcEndpointIds excludes Domain',
      },
    ])
  })
})

test('tracing is that of the stage and of every function, which may send traces', () => {
  expect(propertiesOf('ApiStage').TracingEnabled).toBe(true)
  for (const [id, { Properties }] of ofType('AWS::Lambda::Function'))
    expect([id, Properties.TracingConfig]).toEqual([id, { Mode: 'Active' }])
  expect(statementsOfFunctions()).toContainEqual({
    Effect: 'Allow',
    Action: ['xray:PutTelemetryRecords', 'xray:PutTraceSegments'],
    Resource: '*',
  })
})

test('the role of API Gateway for logs is left alone if the account says so', () => {
  const { resources: kept } = templateWith({ 'api-log-role': 'keep' })
  expect([kept.GatewayAccount, kept.GatewayLogRole]).toEqual([undefined, undefined])
  expect(JSON.stringify(kept.ApiStage)).not.toContain('GatewayAccount')
  expect(byDefault.resources.GatewayAccount).toBeDefined()
})

describe('audit records', () => {
  test('go from every function to one log group, of which only they are exported', () => {
    const group = { Ref: 'FunctionsLog' }
    for (const [id, { Properties }] of ofType('AWS::Lambda::Function'))
      expect([id, Properties.LoggingConfig]).toEqual([id, { LogGroup: group }])
    expect(statementsOfFunctions()).toContainEqual({
      Effect: 'Allow',
      Action: ['logs:CreateLogStream', 'logs:PutLogEvents'],
      Resource: { 'Fn::GetAtt': ['FunctionsLog', 'Arn'] },
    })
    expect(propertiesOf('AuditSubscription')).toEqual({
      LogGroupName: group,
      FilterPattern: '{ $.message = "audit" }',
      DestinationArn: { 'Fn::GetAtt': ['AuditStream', 'Arn'] },
      RoleArn: { 'Fn::GetAtt': ['AuditSubscriptionRole', 'Arn'] },
    })
    expect(statementsOf('AuditSubscriptionRole')).toEqual([
      {
        Effect: 'Allow',
        Action: ['firehose:PutRecord', 'firehose:PutRecordBatch'],
        Resource: { 'Fn::GetAtt': ['AuditStream', 'Arn'] },
      },
    ])
  })

  // threat: deployment-9
  test('are lines of JSON in a bucket that nobody can empty, and that stays', () => {
    const { AuditBucket } = resources
    expect([AuditBucket?.DeletionPolicy, AuditBucket?.UpdateReplacePolicy]).toEqual(['RetainExceptOnCreate', 'Retain'])
    expect(propertiesOf('AuditBucket')).toMatchObject({
      ObjectLockEnabled: true,
      ObjectLockConfiguration: {
        Rule: { DefaultRetention: { Mode: 'COMPLIANCE', Days: strict['audit-retention-days'] } },
      },
      VersioningConfiguration: { Status: 'Enabled' },
    })
    expect(JSON.stringify(propertiesOf('AuditBucketPolicy').PolicyDocument)).toContain('"aws:SecureTransport":false')
    const { Prefix, ProcessingConfiguration, CompressionFormat } =
      propertiesOf('AuditStream').ExtendedS3DestinationConfiguration
    expect([Prefix, CompressionFormat]).toEqual(['audit/day=!{timestamp:yyyy-MM-dd}/', 'GZIP'])
    expect(ProcessingConfiguration.Processors.map(({ Type }: { Type: string }) => Type)).toEqual([
      'Decompression',
      'CloudWatchLogProcessing',
      'AppendDelimiterToRecord',
    ])
    expect(all.outputs.AuditBucketName?.Value).toEqual({ Ref: 'AuditBucket' })
  })
})

test('the table has a daily backup, and a copy of it', () => {
  const [rule] = propertiesOf('BackupPlan').BackupPlan.BackupPlanRule
  expect(rule).toMatchObject({
    TargetBackupVault: 'platform',
    Lifecycle: { DeleteAfterDays: 35 },
    CopyActions: [{ DestinationBackupVaultArn: strict['backup-copy-vault-arn'], Lifecycle: { DeleteAfterDays: 35 } }],
  })
  expect(propertiesOf('BackupSelection').BackupSelection.Resources).toEqual([{ 'Fn::GetAtt': ['Table', 'Arn'] }])
  const { resources: alone } = templateWith({ 'backup-vault': 'platform' })
  expect(alone.BackupPlan?.Properties.BackupPlan.BackupPlanRule[0]).not.toHaveProperty('CopyActions')
})
