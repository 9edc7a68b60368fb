/** The template with every setting that adds to it: a domain, warm functions, a warm table and a VPC. */
import { beforeAll, describe, expect, test } from 'vitest'
import { type Resource, usePackagedTemplate } from '../support/packagedtemplate.ts'
import { additions, templateWith } from './everysetting.ts'

const byDefault = usePackagedTemplate()
const otherIssuer = 'https://api.example.com/prod'
let resources: Readonly<Record<string, Resource>>
let outputs: Readonly<Record<string, { Value: unknown }>>
/** With an issuer of its own, which may be private. */
let other: ReturnType<typeof templateWith>
beforeAll(() => {
  const { 'provisioned-concurrency': _, 'signing-keys': __, ...network } = additions
  ;({ resources, outputs } = templateWith(additions))
  other = templateWith({ ...network, issuer: otherIssuer, 'allow-private-issuers': 'true' })
})

const ofType = (type: string) => Object.entries(resources).filter(([, { Type }]) => Type === type)
const only = (type: string): Resource['Properties'] => {
  const [found, ...others] = ofType(type)
  expect(others).toEqual([])
  return found?.[1].Properties ?? {}
}
const functions = () => ofType('AWS::Lambda::Function')
const url = 'https://keys.example.com/kubernetes/management'

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
    expect(other.text).toContain(`"ISSUER":"${otherIssuer}"`)
    expect(other.text).not.toContain(`"ISSUER":"${url}"`)
    expect(other.text).toContain(`"API_URL":"${url}"`)
    expect(other.outputs.Url?.Value).toBe(url)
  })
})

test('provisioned concurrency is that of the authorizer and the function of kube configs', () => {
  const warm = ofType('AWS::Lambda::Alias').flatMap(([id, { Properties }]) =>
    Properties.ProvisionedConcurrencyConfig ? [[id, Properties.ProvisionedConcurrencyConfig]] : [],
  )
  const two = { ProvisionedConcurrentExecutions: '2' }
  expect(warm).toEqual([
    ['AuthorizerAlias', two],
    ['VirtualclusterinstancesDashkubeconfigDashcreateAlias', two],
  ])
})

test('the table is warm for the given units', () => {
  const { WarmThroughput } = only('AWS::DynamoDB::Table')
  expect(WarmThroughput).toEqual({ ReadUnitsPerSecond: '20000', WriteUnitsPerSecond: '8000' })
})

describe('the VPC', () => {
  const callers = [
    ['VirtualclusterinstancesDashkubeconfigDashcreate', 'virtualclusterinstances-kubeconfig-create'],
    ['ClustersDashkubeconfigDashcreate', 'clusters-kubeconfig-create'],
    ['Boundsecrets', 'boundsecrets'],
  ] as const

  test('has only the functions that call clusters', () => {
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
    expect(networks).toEqual(callers.map(([id]) => [`${id}LambdaFunction`, network]))
  })

  // threat: deployment-11
  test('grants network interfaces to Lambda for these functions, and denies them to their code', () => {
    const statements = ofType('AWS::IAM::Role').flatMap(([id, { Properties }]) =>
      (Properties.Policies ?? []).flatMap(
        ({ PolicyDocument }: { PolicyDocument: { Statement: { Action: string }[] } }) =>
          PolicyDocument.Statement.filter(({ Action }) => JSON.stringify(Action).includes('ec2:')).map((one) => [
            id,
            one,
          ]),
      ),
    )
    expect(statements.map(([id]) => id)).toEqual(callers.flatMap(([id]) => [`${id}Role`, `${id}Role`]))
    for (const [index, [, name]] of callers.entries()) {
      const [allow, deny] = statements.slice(2 * index).map(([, statement]) => statement)
      expect(allow).toMatchObject({ Effect: 'Allow', Resource: '*' })
      expect(allow.Action).toContain('ec2:CreateNetworkInterface')
      const code = `arn:\${AWS::Partition}:lambda:\${AWS::Region}:\${AWS::AccountId}:function:keyplane-prod-${name}`
      expect(deny).toEqual({
        Effect: 'Deny',
        Action: allow.Action,
        Resource: '*',
        Condition: { ArnEquals: { 'lambda:SourceFunctionArn': [{ 'Fn::Sub': code }] } },
      })
    }
  })
})

test('the function that reads keys of issuers is in the VPC if issuers may be private', () => {
  const connected = Object.keys(other.resources).filter((id) => other.resources[id]?.Properties.VpcConfig)
  expect(connected).toEqual([
    'VirtualclusterinstancesDashkubeconfigDashcreateLambdaFunction',
    'ClustersDashkubeconfigDashcreateLambdaFunction',
    'Oauth2DashtokenLambdaFunction',
    'BoundsecretsLambdaFunction',
  ])
  const policies = JSON.stringify(other.resources.Oauth2DashtokenRole?.Properties.Policies)
  expect(policies).toContain('"Effect":"Deny","Action":["ec2:AssignPrivateIpAddresses"')
})

test('none of this is in the default template', () => {
  const types = new Set(Object.values(byDefault.resources).map(({ Type }) => Type))
  for (const type of ['ApiGateway::DomainName', 'ApiGateway::BasePathMapping'])
    expect([type, types.has(`AWS::${type}`)]).toEqual([type, false])
  expect(byDefault.text).not.toMatch(/WarmThroughput|"ProvisionedConcurrencyConfig"|VpcConfig|ec2:|DomainTarget/)
})
