/** The remaining resources of the packaged template: every type is tested, and every default is intended. */
import { existsSync } from 'node:fs'
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { type Resource, usePackagedTemplate } from '../support/packagedtemplate.ts'

const root = join(import.meta.dirname, '../..')
const packaged = usePackagedTemplate()
const { ofType } = packaged
const only = (type: string): Resource['Properties'] => {
  const [found, ...others] = ofType(type)
  expect(others).toEqual([])
  return found?.[1].Properties ?? {}
}

let outputs: Record<string, { Value: unknown }>
beforeAll(() => {
  outputs = JSON.parse(packaged.text).Outputs
})

test('every resource type is covered by a test', async () => {
  // AWS::ApiGateway::Resource: the segments of paths, which test/agreement.test.ts tests as routes.
  const files = await Array.fromAsync(glob('test/{agreement.test,infra/*}.ts', { cwd: root }))
  const texts = await Promise.all(files.map((file) => readFile(join(root, file), 'utf8')))
  const types = new Set(Object.values(packaged.resources).map(({ Type }) => Type))
  expect(types.size).toBeGreaterThan(20)
  expect([...types].filter((type) => !texts.some((text) => text.includes(type)))).toEqual([])
})

test('no cfn-lint finding is suppressed', () => {
  expect(packaged.text).not.toMatch(/cfn-lint|"Metadata"/)
  expect(existsSync(join(root, '.cfnlintrc'))).toBe(false)
})

test('the authorizer runs for every request', () => {
  const { AuthorizerUri, RestApiId, ...rest } = only('AWS::ApiGateway::Authorizer')
  // Without an identity source, the authorizer also decides requests without a key.
  expect(rest).toEqual({ AuthorizerResultTtlInSeconds: 0, Name: 'authorizer', Type: 'REQUEST' })
  expect(JSON.stringify(AuthorizerUri)).toContain('"AuthorizerLambdaFunction"')
})

test('the API is regional, has no resource policy and compresses large responses', () => {
  expect(only('AWS::ApiGateway::RestApi')).toEqual({
    Name: 'dev-keyplane',
    BinaryMediaTypes: ['application/vnd.kubernetes.protobuf', 'application/octet-stream'],
    EndpointConfiguration: { Types: ['REGIONAL'] },
    MinimumCompressionSize: 131_072,
    Policy: '',
  })
})

test('methods without an authorizer have no other authorization and require no API key', () => {
  for (const [id, { Properties }] of ofType('AWS::ApiGateway::Method')) {
    expect([id, Properties.ApiKeyRequired]).toEqual([id, false])
    const authorizer = { AuthorizationType: 'CUSTOM', AuthorizerId: { Ref: 'AuthorizerApiGatewayAuthorizer' } }
    const open = { AuthorizationType: 'NONE' }
    const { AuthorizationType, AuthorizerId } = Properties
    expect([authorizer, open]).toContainEqual({ AuthorizationType, ...(AuthorizerId && { AuthorizerId }) })
  }
})

test('a function has only code, size, role and the names of the resources that it uses', () => {
  for (const [id, { Properties }] of ofType('AWS::Lambda::Function')) {
    const { Code, Handler, FunctionName, Timeout, Environment, Role, ...rest } = Properties
    // These two only wait.
    const waits = /^(Namespaces|Customresourcedefinitions)Dashlist/.test(id)
    const isSmall =
      /(list|deletecollection|^Namespaces|^Discovery|^Openapi|^Issuer|^Notfound|^Bootstrap|^Sweep|^Settle|^Garbage)/
    const MemorySize = waits ? 128 : isSmall.test(id) ? 512 : 1769
    expect([id, rest]).toEqual([id, { Runtime: 'nodejs24.x', Architectures: ['arm64'], MemorySize }])
    expect(Code.S3Bucket).toEqual({ Ref: 'ServerlessDeploymentBucket' })
    const byReference = Object.entries(Environment.Variables).filter(([, value]) => typeof value === 'object')
    for (const [name] of byReference)
      expect([id, name]).toEqual([id, expect.stringMatching(/(_ID|_IDS|_NAME|^ISSUER)$/)])
  }
})

test('the log group of a function is the one that Lambda writes to, so that retention applies', () => {
  const names = ofType('AWS::Lambda::Function').map(([, { Properties }]) => `/aws/lambda/${Properties.FunctionName}`)
  const logs = ofType('AWS::Logs::LogGroup').map(([, { Properties }]) => Properties.LogGroupName)
  expect(logs).toEqual(expect.arrayContaining(names))
  expect(logs).toContain('/keyplane/dev/access')
  expect(logs).toContainEqual({ 'Fn::Sub': `API-Gateway-Execution-Logs_\${ApiGatewayRestApi}/dev` })
})

test('metric filters count failures of API Gateway, 429 responses and failed authorizers', () => {
  const filters = ofType('AWS::Logs::MetricFilter').map(([, { Properties }]) => Properties)
  for (const { LogGroupName } of filters) expect(LogGroupName).toEqual({ Ref: 'AccessLog' })
  expect(filters.map(({ FilterPattern }) => FilterPattern)).toEqual([
    '{ ($.status >= 500) && ($.error != "-") }',
    '{ $.status = 429 }',
    '{ $.error = "AUTHORIZER_*" }',
  ])
})

test('the bucket of the archives is encrypted, private and accessible over TLS only', () => {
  const { BucketEncryption, PublicAccessBlockConfiguration, ...rest } = only('AWS::S3::Bucket')
  expect(rest).toEqual({})
  expect(JSON.stringify(BucketEncryption)).toContain('"SSEAlgorithm":"AES256"')
  expect(new Set(Object.values(PublicAccessBlockConfiguration))).toEqual(new Set([true]))
  expect(Object.keys(PublicAccessBlockConfiguration)).toHaveLength(4)
  const [statement, ...others] = only('AWS::S3::BucketPolicy').PolicyDocument.Statement
  expect(others).toEqual([])
  expect(statement).toMatchObject({
    Action: 's3:*',
    Effect: 'Deny',
    Principal: '*',
    Condition: { Bool: { 'aws:SecureTransport': false } },
  })
  expect(statement.Resource).toHaveLength(2)
})

test('only the account may use the topic of the alarms', () => {
  expect(only('AWS::SNS::Topic')).toEqual({ TopicName: 'keyplane-dev-alarms' })
})

test('the pepper is retained without a fixed name, and the first key is deleted', () => {
  const secrets = Object.fromEntries(ofType('AWS::SecretsManager::Secret'))
  expect(secrets.Pepper).toMatchObject({
    DeletionPolicy: 'RetainExceptOnCreate',
    Properties: { Description: expect.any(String) },
  })
  expect(Object.keys(secrets.Pepper?.Properties ?? {})).toEqual(['Description'])
  expect(secrets.AccessKey).toMatchObject({ DeletionPolicy: 'Delete', Properties: { Name: 'keyplane/dev/access-key' } })
  expect(Object.keys(secrets)).toHaveLength(2)
})

test('the stage is created after the log role of the account, which is set after the API', () => {
  // Source: AWS::ApiGateway::Account, for accounts that have never had an API.
  expect(packaged.resources.GatewayAccount?.DependsOn).toEqual(['ApiGatewayRestApi'])
  expect(packaged.resources.Stage?.DependsOn).toContain('GatewayAccount')
})

test('the role of API Gateway allows writing logs only', () => {
  expect(only('AWS::ApiGateway::Account')).toEqual({ CloudWatchRoleArn: { 'Fn::GetAtt': ['GatewayLogRole', 'Arn'] } })
  const { AssumeRolePolicyDocument, ManagedPolicyArns, ...rest } = packaged.resources.GatewayLogRole?.Properties ?? {}
  expect(rest).toEqual({})
  const arn = `arn:\${AWS::Partition}:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs`
  expect(ManagedPolicyArns).toEqual([{ 'Fn::Sub': arn }])
  expect(AssumeRolePolicyDocument.Statement).toEqual([
    { Effect: 'Allow', Principal: { Service: 'apigateway.amazonaws.com' }, Action: 'sts:AssumeRole' },
  ])
})

test('outputs are names and addresses', () => {
  expect(Object.keys(outputs).sort()).toEqual([
    'AccessKeySecretId',
    'AlarmTopicArn',
    'PepperSecretId',
    'ServerlessDeploymentBucketName',
    'ServiceEndpoint',
    'SigningKeyId',
    'TableName',
    'Url',
  ])
  for (const [, { Value }] of Object.entries(outputs))
    expect(Object.keys(Value as object)[0]).toMatch(/^(Ref|Fn::Sub|Fn::Join)$/)
})
