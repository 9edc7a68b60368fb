/** Rollouts: versions behind an alias, what shifts it, and what makes a new version. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { functions } from '../../infra/functions.ts'
import { parameters } from '../../infra/settings/parameters.ts'
import { parameterOf } from '../../infra/settings/setting.ts'
import { evaluate } from '../support/evaluatedtemplate.ts'
import { type Resource, usePackagedTemplate } from '../support/packagedtemplate.ts'
import { additions, templateWith } from './everysetting.ts'

const packaged = usePackagedTemplate()
const { ofType } = packaged

const published = functions.filter(({ unversioned }) => !unversioned)
const description = { 'Fn::GetAtt': ['Release', 'Description'] }
/** The resources of a stage that shifts its requests. */
let gradual: ReturnType<typeof templateWith>['resources']
beforeAll(() => {
  gradual = templateWith({ rollout: 'canary' }).resources
})
const resource = (id: string) => gradual[id] as Resource & { UpdatePolicy?: unknown }
const groups = () => Object.entries(gradual).filter(([, { Type }]) => Type === 'AWS::CodeDeploy::DeploymentGroup')

// threat: deployment-5
test('every version has the hash of the archive of its function', () => {
  const archives = join(import.meta.dirname, '../../.build/archives')
  const hashes = published.map(({ id, path }) => {
    const archive = readFileSync(join(archives, `${path.replaceAll('/', '-')}.zip`))
    return [`${id}LambdaFunction`, createHash('sha256').update(archive).digest('base64')]
  })
  const versions = ofType('AWS::Lambda::Version').map(([, { Properties }]) => Properties)
  const others: { Name: { Ref: string }; CodeSha256: string }[] = resource('Published').Properties.Functions
  const named = [
    ...versions.map(({ FunctionName, CodeSha256 }) => [FunctionName.Ref, CodeSha256]),
    ...others.map(({ Name, CodeSha256 }) => [Name.Ref, CodeSha256]),
  ]
  expect(named.sort()).toEqual(hashes.sort())
})

test('every version, and its function, has the description of the release', () => {
  for (const { id } of published) {
    const publisher = gradual[`${id}Version`] ? `${id}Version` : 'Published'
    expect([id, resource(publisher).Properties.Description]).toEqual([id, description])
    // Otherwise Lambda would refuse a version of a function that has not changed.
    const { RELEASE } = resource(`${id}LambdaFunction`).Properties.Environment.Variables
    expect([id, RELEASE]).toEqual([id, description])
  }
})

// threat: deployment-4
test('CodeDeploy shifts the authorizer and the functions of most requests, and goes back when an alarm rings', () => {
  expect(groups().map(([id]) => id)).toContain('AuthorizerRollout')
  // Lambda allows 15 calls a second, which all functions would exceed at the same time. docs/deploying.md says how many there are.
  expect(groups()).toHaveLength(12)
  expect(ofType('AWS::CodeDeploy::Application').map(([id]) => id)).toEqual(['RolloutApplication'])
  for (const [id, { Properties }] of groups()) {
    expect(Properties).toMatchObject({
      DeploymentStyle: { DeploymentType: 'BLUE_GREEN', DeploymentOption: 'WITH_TRAFFIC_CONTROL' },
      AutoRollbackConfiguration: { Enabled: true, Events: expect.arrayContaining(['DEPLOYMENT_STOP_ON_ALARM']) },
      AlarmConfiguration: {
        Enabled: true,
        Alarms: ['Errors', 'Authorizer', 'Latency'].map((name) => ({ Name: { Ref: `Rollout${name}Alarm` } })),
      },
    })
    expect(resource(id.replace('Rollout', 'Alias')).UpdatePolicy).toEqual({
      CodeDeployLambdaAliasUpdate: {
        ApplicationName: { Ref: 'RolloutApplication' },
        DeploymentGroupName: { Ref: id },
      },
    })
  }
})

test('all other functions, and with them streams and schedules, move after these', () => {
  const shifted = groups().map(([id]) => id.replace('Rollout', 'Alias'))
  expect(ofType('AWS::Lambda::Alias').map(([id]) => id)).toEqual(shifted)
  expect(resource('Published')).toMatchObject({
    Type: 'Custom::Versions',
    DependsOn: shifted,
    Properties: { ServiceToken: { 'Fn::GetAtt': ['ReleaseLambdaFunction', 'Arn'] }, Alias: 'live' },
  })
})

test('all at once, CloudFormation moves the aliases without CodeDeploy', () => {
  const { resources } = templateWith({ rollout: 'all-at-once' })
  expect(Object.values(resources).filter(({ Type }) => Type === 'AWS::CodeDeploy::DeploymentGroup')).toEqual([])
  expect(resources.AuthorizerAlias).toMatchObject({ UpdatePolicy: {} })
  expect(JSON.stringify(resources.AuthorizerAlias)).not.toContain('Rollout')
})

test.each([
  ['prod', {}, 'LambdaCanary10Percent5Minutes'],
  ['dev', {}, undefined],
  ['prod', { Rollout: 'all-at-once' }, undefined],
  ['dev', { Rollout: 'canary' }, 'LambdaCanary10Percent5Minutes'],
  ['prod', { Rollout: 'linear' }, 'LambdaLinear10PercentEvery1Minute'],
])('stage %s with %o rolls out by %s', (Stage, values, config) => {
  const { Resources } = evaluate(packaged.template, { Stage, ...values }) as unknown as {
    Resources: Record<string, Resource>
  }
  expect(Resources.AuthorizerRollout?.Properties.DeploymentConfigName).toBe(config && `CodeDeployDefault.${config}`)
})

test('streams and schedules invoke aliases', () => {
  const invoked = [
    ...ofType('AWS::Events::Rule').map(([, { Properties }]) => Properties.Targets[0].Arn),
    ...['AWS::Lambda::EventSourceMapping', 'AWS::Lambda::Permission'].flatMap((type) =>
      ofType(type).map(([id, { DependsOn = [], Properties }]) => {
        expect([id, [DependsOn].flat()]).toEqual([id, expect.arrayContaining(['Published'])])
        return Properties.FunctionName
      }),
    ),
  ]
  expect(invoked).toHaveLength(12)
  for (const one of invoked) expect(one['Fn::Sub']).toMatch(/^\$\{\w+LambdaFunction\.Arn\}:live$/)
})

// threat: deployment-6
test('a setting makes a new release exactly when it changes a function', () => {
  const { 'console-issuer': _, ...values } = additions
  const others: Readonly<Record<string, string>> = {
    ...Object.fromEntries(Object.entries(values).map(([name, value]) => [parameterOf(name), value])),
    ConsoleIssuer: 'https://login.company.example',
    Stage: 'other',
    Issuer: 'https://issuer.example.com',
    SpaceNamespace: '{project}-{space}',
    ProjectNamespacePrefix: 'project-',
    EventBus: 'none',
    LogRetentionDays: '7',
    MaxTokenTtlSeconds: '600',
  }
  const parts = Object.entries(packaged.template.Resources as unknown as Record<string, Resource>).filter(
    ([id, { Type }]) => ['AWS::Lambda::Function', 'AWS::IAM::Role'].includes(Type) || id === 'Release',
  )
  const template = { ...packaged.template, Resources: Object.fromEntries(parts), Outputs: {} }
  const partsOf = (more: Readonly<Record<string, string>>) => {
    const given = { Stage: 'dev', VpcSubnets: 'subnet-00000000', VpcSecurityGroups: 'sg-00000000', ...more }
    const { Resources } = evaluate(template, given) as unknown as { Resources: Record<string, Resource> }
    // The path of the roles replaces them, which the functions refer to.
    const functions = Object.entries(Resources).flatMap(([id, { Type, Properties }]) =>
      Type === 'AWS::Lambda::Function' && published.some((one) => id === `${one.id}LambdaFunction`)
        ? [[id, Properties, Resources[Properties.Role['Fn::GetAtt'][0]]?.Properties.Path]]
        : [],
    )
    return { functions: JSON.stringify(functions), release: JSON.stringify(Resources.Release) }
  }
  const before = partsOf({})
  const releasing = Object.entries(parameters).flatMap(([name, { Default, AllowedValues = [], MinValue }]) => {
    const other = others[name] ?? AllowedValues.find((one) => one !== Default) ?? String((MinValue ?? 20) + 1)
    const after = partsOf({ [name]: other })
    expect([name, after.release !== before.release]).toEqual([name, after.functions !== before.functions])
    return after.release === before.release ? [] : [name]
  })
  expect(releasing.length).toBeGreaterThan(20)
  expect(releasing).not.toContain('LogRetentionDays')
})

// threat: deployment-7
test('the role of CodeDeploy moves aliases of this deployment only', () => {
  const { AssumeRolePolicyDocument, Policies } = resource('RolloutRole').Properties
  expect(AssumeRolePolicyDocument.Statement).toEqual([
    {
      Effect: 'Allow',
      Principal: { Service: 'codedeploy.amazonaws.com' },
      Action: 'sts:AssumeRole',
      Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
    },
  ])
  const [{ PolicyDocument }, ...others] = Policies
  expect(others).toEqual([])
  const [shift, read, ...more] = PolicyDocument.Statement
  expect(more).toEqual([])
  expect(shift.Resource).toEqual([
    { 'Fn::Sub': `arn:\${AWS::Partition}:lambda:\${AWS::Region}:\${AWS::AccountId}:function:keyplane-prod-*` },
  ])
  expect(read).toEqual({ Effect: 'Allow', Action: 'cloudwatch:DescribeAlarms', Resource: '*' })
})

test('the release is of type Custom::Release, and its function is not waited for long', () =>
  expect(templateWith({}).resources.Release).toMatchObject({
    Type: 'Custom::Release',
    Properties: { ServiceToken: { 'Fn::GetAtt': ['ReleaseLambdaFunction', 'Arn'] }, ServiceTimeout: 60 },
  }))
