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

const invokeRole = { 'Fn::GetAtt': ['GatewayFunctionsRole', 'Arn'] }

let outputs: Record<string, { Value: unknown }>
beforeAll(() => {
  outputs = JSON.parse(packaged.text).Outputs
})

test('every resource type is covered by a test', async () => {
  const files = await Array.fromAsync(glob('test/{agreement.test,kinds.test,infra/*}.ts', { cwd: root }))
  const texts = await Promise.all(files.map((file) => readFile(join(root, file), 'utf8')))
  const types = new Set(Object.values(packaged.resources).map(({ Type }) => Type))
  expect(types.size).toBeGreaterThan(20)
  expect([...types].filter((type) => !texts.some((text) => text.includes(type)))).toEqual([])
})

test('no cfn-lint finding is suppressed', () => {
  expect(JSON.stringify(packaged.template)).not.toContain('cfn-lint')
  expect(existsSync(join(root, '.cfnlintrc'))).toBe(false)
})

// threat: use-1
test('the authorizer runs for every request', () => {
  const { authorizer, ...others } = only('AWS::ApiGateway::RestApi').Body.components.securitySchemes
  expect(others).toEqual({})
  const { authorizerUri, ...rest } = authorizer['x-amazon-apigateway-authorizer']
  // Without an identity source, the authorizer also decides requests without a key.
  expect(rest).toEqual({ type: 'request', authorizerResultTtlInSeconds: 0, authorizerCredentials: invokeRole })
  expect(JSON.stringify(authorizerUri)).toContain(':function:keyplane-dev-authorizer:live/invocations"')
})

test('the API is regional, has no resource policy and compresses large responses', () => {
  const { Body, ...rest } = only('AWS::ApiGateway::RestApi')
  expect(rest).toEqual({
    Name: 'dev-keyplane',
    EndpointConfiguration: { Types: ['REGIONAL'] },
    Parameters: { endpointConfigurationTypes: 'REGIONAL' },
    Mode: 'overwrite',
  })
  const { paths, components, 'x-amazon-apigateway-gateway-responses': responses, ...document } = Body
  expect(document).toEqual({
    openapi: '3.0.1',
    info: { title: 'dev-keyplane', version: '1.0' },
    'x-amazon-apigateway-binary-media-types': ['application/vnd.kubernetes.protobuf', 'application/octet-stream'],
    'x-amazon-apigateway-minimum-compression-size': 131_072,
  })
})

// Their environment refers to the API.
test('the API refers to no function', () => {
  const { Body } = only('AWS::ApiGateway::RestApi')
  const references = JSON.stringify(Body).match(/"(Ref|Fn::GetAtt)":("\w+"|\[[^\]]*\])|\$\{[^}]*\}/g)
  expect([...new Set(references)].sort()).toEqual([
    '"Fn::GetAtt":["GatewayFunctionsRole","Arn"]',
    `\${AWS::AccountId}`,
    `\${AWS::Partition}`,
    `\${AWS::Region}`,
  ])
})

test('a function has the names of the resources that it uses, and no secret', () => {
  for (const [id, { Properties }] of ofType('AWS::Lambda::Function')) {
    expect(Properties).toMatchObject({ Runtime: 'nodejs24.x', Architectures: ['arm64'] })
    const byReference = Object.entries(Properties.Environment.Variables).filter(([, one]) => typeof one === 'object')
    for (const [name] of byReference)
      expect([id, name]).toEqual([id, expect.stringMatching(/(_ID|_IDS|_NAME|_ARN|^ISSUER|^API_URL|^RELEASE)$/)])
  }
})

test('the log group of a function is the one that Lambda writes to, so that retention applies', () => {
  const names = ofType('AWS::Lambda::Function').map(([, { Properties }]) => `/aws/lambda/${Properties.FunctionName}`)
  const logs = ofType('AWS::Logs::LogGroup').map(([, { Properties }]) => Properties.LogGroupName)
  expect(logs).toEqual(expect.arrayContaining(names))
  expect(logs).toContain('/keyplane/dev/access')
  expect(logs).toContainEqual({ 'Fn::Sub': `API-Gateway-Execution-Logs_\${Api}/dev` })
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

test('only the account may use the topic of the alarms', () =>
  expect(only('AWS::SNS::Topic')).toEqual({ TopicName: 'keyplane-dev-alarms' }))

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
  expect(packaged.resources.GatewayAccount?.DependsOn).toEqual(['Api'])
  expect(packaged.resources.ApiStage?.Properties.Description).toEqual({
    'Fn::Sub': `Logs as set by \${GatewayAccount}`,
  })
})

test('the role of API Gateway for logs allows writing logs only', () => {
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
  for (const { Value } of Object.values(outputs))
    expect(Object.keys(Value as object)[0]).toMatch(/^(Ref|Fn::Sub|Fn::Join)$/)
})
