/** The template with every setting that adds to it: a domain, warm functions, a warm table and a VPC. */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Resource, usePackagedTemplate } from '../support/packagedtemplate.ts'
import { additions, packageWith } from './everysetting.ts'
import cases from './vectors/deployer.cases.json' with { type: 'json' }

const byDefault = usePackagedTemplate()
const otherIssuer = 'https://api.example.com/prod'
let resources: Record<string, Resource>
let outputs: Record<string, { Value: unknown }>
/** With an issuer of its own, which may be private. */
let other: { text: string; resources: Record<string, Resource> }
beforeAll(async () => {
  const { 'provisioned-concurrency': _, 'signing-keys': __, ...network } = additions
  const [every, text] = await Promise.all([
    packageWith(additions),
    packageWith({ ...network, issuer: otherIssuer, 'allow-private-issuers': 'true' }),
  ])
  ;({ Resources: resources, Outputs: outputs } = JSON.parse(every))
  other = { text, resources: JSON.parse(text).Resources }
}, 120_000)

const ofType = (type: string) => Object.entries(resources).filter(([, { Type }]) => Type === type)
const only = (type: string): Resource['Properties'] => {
  const [found, ...others] = ofType(type)
  expect(others).toEqual([])
  return found?.[1].Properties ?? {}
}
const functions = () => ofType('AWS::Lambda::Function')
const url = 'https://keys.example.com/kubernetes/management'

test('the settings add as many resources as the page states', async () => {
  const added = Object.keys(resources).length - Object.keys(byDefault.resources).length
  // With the second signing key.
  expect(added).toBe(7)
  const page = await readFile(join(import.meta.dirname, '../../docs/deploying.md'), 'utf8')
  expect(page.replaceAll('\n', ' ')).toContain('A domain adds two, provisioned concurrency four')
})

test('the template has the types of resources that deployer.test.ts knows, and no others', () =>
  expect([...new Set(Object.values(resources).map(({ Type }) => Type))].sort()).toEqual(
    Object.keys(cases.creates).sort(),
  ))

describe('the domain', () => {
  test('is regional, requires TLS 1.2 and maps its root to the stage', () => {
    expect(only('AWS::ApiGateway::DomainName')).toEqual({
      DomainName: 'keys.example.com',
      RegionalCertificateArn: additions['certificate-arn'],
      EndpointConfiguration: { Types: ['REGIONAL'] },
      SecurityPolicy: 'TLS_1_2',
    })
    expect(only('AWS::ApiGateway::BasePathMapping')).toEqual({
      DomainName: { Ref: 'DomainName' },
      RestApiId: { Ref: 'Api' },
      Stage: { Ref: 'ApiStage' },
    })
  })

  test('is the issuer of all functions and the printed URL', () => {
    for (const [id, { Properties }] of functions())
      expect([id, Properties.Environment.Variables]).toEqual([
        id,
        expect.objectContaining({ ISSUER: url, API_URL: url }),
      ])
    expect(outputs.Url?.Value).toBe(url)
  })

  test('has the target of its DNS record among the outputs', () => {
    expect(outputs.DomainTarget?.Value).toEqual({ 'Fn::GetAtt': ['DomainName', 'RegionalDomainName'] })
    expect(outputs.DomainHostedZoneId?.Value).toEqual({ 'Fn::GetAtt': ['DomainName', 'RegionalHostedZoneId'] })
  })

  test('leaves an issuer that is set as it is', () => {
    expect(other.text).toContain(`"ISSUER": "${otherIssuer}"`)
    expect(other.text).not.toContain(`"ISSUER": "${url}"`)
    expect(other.text).toContain(`"API_URL": "${url}"`)
    expect(JSON.parse(other.text).Outputs.Url.Value).toBe(url)
  })

  test('is refused with a certificate of another region', () => {
    const Domain = createRequire(import.meta.url)('../../infra/plugins/domain.cjs')
    const settings = { ...additions, 'certificate-arn': additions['certificate-arn'].replace('eu-', 'us-') }
    const { hooks } = new Domain({
      service: { custom: { settings } },
      getProvider: () => ({ getRegion: () => 'eu-central-1' }),
    })
    expect(hooks['before:package:initialize']).toThrow('certificate-arn must be a certificate in eu-central-1')
  })
})

describe('provisioned concurrency', () => {
  const warm = ['AuthorizerLambdaFunction', 'VirtualclusterinstancesDashkubeconfigDashcreateLambdaFunction']
  test('is that of the authorizer and the function of kube configs', () => {
    const aliases = ofType('AWS::Lambda::Alias').map(([, { Properties }]) => Properties)
    expect(aliases.map(({ FunctionName }) => FunctionName.Ref)).toEqual(warm)
    for (const { Name, ProvisionedConcurrencyConfig } of aliases)
      expect([Name, ProvisionedConcurrencyConfig]).toEqual(['provisioned', { ProvisionedConcurrentExecutions: 2 }])
    expect(ofType('AWS::Lambda::Version')).toHaveLength(warm.length)
  })

  test('is what API Gateway invokes and may invoke', () => {
    const names = ['authorizer', 'virtualclusterinstances-kubeconfig-create']
    const { Body } = only('AWS::ApiGateway::RestApi')
    const uris = JSON.stringify(Body).match(/:function:[\w:-]+(?=\/invocations)/g) ?? []
    const invoked = uris.filter((uri) => names.some((name) => uri.includes(`:keyplane-prod-${name}`)))
    const [authorizer, ...kubeConfigs] = names.map((name) => `:function:keyplane-prod-${name}:provisioned`)
    expect(new Set(invoked)).toEqual(new Set([authorizer, ...kubeConfigs]))
    const [{ Resource }] = resources.GatewayInvokeRole?.Properties.Policies[0].PolicyDocument.Statement ?? []
    const permitted = JSON.stringify(Resource).match(/:function:[\w:-]+/g) ?? []
    expect(permitted.filter((arn) => names.some((name) => arn.includes(`:keyplane-prod-${name}`))).sort()).toEqual(
      [...new Set(invoked)].sort(),
    )
  })

  test('is there before a deployment of the API uses it', () => {
    const [deployment] = ofType('AWS::ApiGateway::Deployment')
    const aliases = ofType('AWS::Lambda::Alias').map(([id]) => id)
    expect(aliases).toHaveLength(warm.length)
    expect(deployment?.[1].DependsOn).toEqual(expect.arrayContaining([...aliases, ...warm]))
  })
})

test('the table is warm for the given units', () => {
  const { WarmThroughput } = only('AWS::DynamoDB::Table')
  expect(WarmThroughput).toEqual({ ReadUnitsPerSecond: 20_000, WriteUnitsPerSecond: 8_000 })
})

describe('the VPC', () => {
  const connected = 'VirtualclusterinstancesDashkubeconfigDashcreate'

  test('has only the function that calls virtual clusters', () => {
    const networks = functions().flatMap(
      ([
        id,
        {
          Properties: { VpcConfig },
        },
      ]) => (VpcConfig ? [[id, VpcConfig]] : []),
    )
    const SubnetIds = additions['vpc-subnets'].split(',')
    const network = { SubnetIds, SecurityGroupIds: [additions['vpc-security-groups']] }
    expect(networks).toEqual([[`${connected}LambdaFunction`, network]])
  })

  test('grants network interfaces to Lambda for that function, and denies them to its code', () => {
    const statements = ofType('AWS::IAM::Role').flatMap(([id, { Properties }]) =>
      (Properties.Policies ?? []).flatMap(
        ({ PolicyDocument }: { PolicyDocument: { Statement: { Action: string }[] } }) =>
          PolicyDocument.Statement.filter(({ Action }) => JSON.stringify(Action).includes('ec2:')).map((one) => [
            id,
            one,
          ]),
      ),
    )
    const [allow, deny] = statements.map(([, statement]) => statement)
    expect(statements.map(([id]) => id)).toEqual([`${connected}Role`, `${connected}Role`])
    expect(allow).toMatchObject({ Effect: 'Allow', Resource: '*' })
    expect(allow.Action).toContain('ec2:CreateNetworkInterface')
    const code = `arn:\${AWS::Partition}:lambda:\${AWS::Region}:\${AWS::AccountId}:function:keyplane-prod-virtualclusterinstances-kubeconfig-create`
    expect(deny).toEqual({
      Effect: 'Deny',
      Action: allow.Action,
      Resource: '*',
      Condition: { ArnEquals: { 'lambda:SourceFunctionArn': [{ 'Fn::Sub': code }] } },
    })
  })
})

test('the function that reads keys of issuers is in the VPC if issuers may be private', () => {
  const connected = Object.keys(other.resources).filter((id) => other.resources[id]?.Properties.VpcConfig)
  expect(connected).toEqual([
    'VirtualclusterinstancesDashkubeconfigDashcreateLambdaFunction',
    'Oauth2DashtokenLambdaFunction',
  ])
  const policies = JSON.stringify(other.resources.Oauth2DashtokenRole?.Properties.Policies)
  expect(policies).toContain('"Effect":"Deny","Action":["ec2:AssignPrivateIpAddresses"')
})

test('none of this is in the default template', () => {
  const types = new Set(Object.values(byDefault.resources).map(({ Type }) => Type))
  for (const type of ['ApiGateway::DomainName', 'ApiGateway::BasePathMapping', 'Lambda::Alias', 'Lambda::Version'])
    expect([type, types.has(`AWS::${type}`)]).toEqual([type, false])
  expect(byDefault.text).not.toMatch(/WarmThroughput|VpcConfig|ec2:|DomainTarget/)
})
