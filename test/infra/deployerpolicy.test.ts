/** The policy of a deployer covers every resource of the template, and nothing else. */
import { matchesGlob } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { policyFor, type Statement } from '../../infra/deployerpolicy.ts'
import { additions, templateWith } from './everysetting.ts'
import { strict } from './strictsettings.ts'
import cases from './vectors/deployer.cases.json' with { type: 'json' }

const everything = { ...additions, ...strict }
const settings = { few: {}, all: everything }

let resources: ReturnType<typeof templateWith>['resources']
beforeAll(() => {
  resources = templateWith(everything).resources
})

const policy = (of: 'few' | 'all', region = 'eu-central-1') =>
  policyFor({ stage: 'prod', region, param: Object.entries(settings[of]).map(([name, value]) => `${name}=${value}`) })
const statementsFor = (action: string, of: 'few' | 'all' = 'all'): Statement[] =>
  policy(of).Statement.filter(
    ({ Effect, Action }) => Effect === 'Allow' && Action.some((one) => matchesGlob(action, one)),
  )
const allows = (action: string, of?: 'few' | 'all') => statementsFor(action, of).length > 0

/** The action with which CloudFormation creates a resource. Source: the handlers in the schemas of resource types. */
const creates: Readonly<Record<string, string>> = cases.creates

test('allows creating every resource of the template', () => {
  const types = [...new Set(Object.values(resources).map(({ Type }) => Type))]
  expect(types.sort()).toEqual(Object.keys(creates).sort())
  expect(Object.values(creates).filter((action) => !allows(action))).toEqual([])
})

// Source: Service Authorization Reference, "Condition keys for AWS CloudFormation".
// threat: people-5
test('denies taking over resources that are not of the stack', () => {
  for (const which of ['few', 'all'] as const)
    expect(policy(which).Statement.filter(({ Effect }) => Effect === 'Deny')).toEqual([
      {
        Sid: 'NoImports',
        Effect: 'Deny',
        Action: ['cloudformation:CreateChangeSet'],
        Resource: ['*'],
        Condition: { Null: { 'cloudformation:ImportResourceTypes': 'false' } },
      },
    ])
})

test('allows only what the template contains', () => {
  for (const action of [
    'firehose:CreateDeliveryStream',
    'wafv2:AssociateWebACL',
    'backup:CreateBackupPlan',
    'ec2:DescribeVpcs',
    'iam:CreateServiceLinkedRole',
  ])
    expect([action, allows(action, 'few'), allows(action)]).toEqual([action, false, true])
})

test('names the stage in every resource that has a name', () => {
  const withIds =
    /:(key\/|restapis|domainnames|account|tags|deploymentconfig|role\/aws-service-role|regional\/webacl)|::\/|API-Gateway-Execution-Logs_\*\/prod|secret:Pepper-/
  const others = policy('all')
    .Statement.flatMap(({ Resource }) => Resource)
    .filter((one) => one !== '*' && !withIds.test(one) && !/[:/]keyplane[-/]prod(?![a-z0-9])/.test(one))
  expect(others).toEqual([])
})

describe('on all resources', () => {
  test('allows reading lists, and otherwise only what CloudFormation calls or what concerns a function of the stage', () => {
    const free = policy('all').Statement.filter(
      ({ Resource, Condition }) => Resource.includes('*') && Condition === undefined,
    )
    const reading = /:(Describe|Get|List|Validate)\w*\*?$|^logs:(\*LogDelivery|PutResourcePolicy)$/
    expect(free.flatMap(({ Action }) => Action).filter((action) => !reading.test(action))).toEqual([])
  })

  test.each([
    'kms:PutKeyPolicy',
    'kms:DisableKey',
    'kms:ScheduleKeyDeletion',
    'secretsmanager:UpdateSecret',
    'secretsmanager:DeleteSecret',
  ])('allows %s only to CloudFormation', (action) =>
    expect(statementsFor(action).map(({ Condition }) => Condition)).toEqual([
      { 'ForAnyValue:StringEquals': { 'aws:CalledVia': 'cloudformation.amazonaws.com' } },
    ]),
  )
})

test('passes only roles of the stage, below their path', () => {
  const [{ Resource, Condition } = {}, ...others] = statementsFor('iam:PassRole')
  expect(others).toEqual([])
  expect(Resource).toEqual(['arn:aws:iam::*:role/platform/keyplane/keyplane-prod-*'])
  expect(Object.keys(Condition?.StringEquals ?? {})).toEqual(['iam:PassedToService'])
})

test('has the root as the path of roles, and no condition on their rights, where the deployment gives neither', () => {
  const { Statement } = policy('few')
  expect(Statement.find(({ Sid }) => Sid === 'RightsOfRoles')).toEqual({
    Sid: 'RightsOfRoles',
    Effect: 'Allow',
    Action: ['iam:AttachRolePolicy', 'iam:CreateRole', 'iam:De*RolePolicy', 'iam:PutRole*'],
    Resource: ['arn:aws:iam::*:role/keyplane-prod-*'],
  })
  expect(JSON.stringify(Statement)).not.toMatch(/\{\w+\}/)
})

test('gives roles rights only within the boundary', () => {
  for (const action of [
    'iam:CreateRole',
    'iam:PutRolePolicy',
    'iam:AttachRolePolicy',
    'iam:PutRolePermissionsBoundary',
  ])
    expect(statementsFor(action).map(({ Condition }) => Condition)).toEqual([
      { StringEquals: { 'iam:PermissionsBoundary': strict['permissions-boundary'] } },
    ])
  expect(allows('iam:DeleteRolePermissionsBoundary')).toBe(false)
})

test('lets AWS services make grants of the key of the customer, and of no other', () =>
  expect(statementsFor('kms:CreateGrant').map(({ Resource }) => Resource)).toEqual([[strict['kms-key-arn']]]))

// threat: people-9
test.each([
  'secretsmanager:GetSecretValue',
  'dynamodb:GetItem',
  'dynamodb:Scan',
  'dynamodb:DeleteTable',
  'kms:Sign',
  'iam:CreateUser',
])('does not allow %s', (action) => expect(allows(action)).toBe(false))

test.each([
  ['eu-central-1', 'aws'],
  ['cn-north-1', 'aws-cn'],
  ['us-gov-west-1', 'aws-us-gov'],
])('a policy for %s is of the partition %s', (region, partition) => {
  const arns = policy('all', region)
    .Statement.flatMap(({ Resource }) => Resource)
    .filter((one) => one !== '*' && one !== strict['kms-key-arn'])
  expect(new Set(arns.map((arn) => arn.split(':')[1]))).toEqual(new Set([partition]))
})

// IAM counts no white space.
test('is below the limit of a managed policy', () => expect(JSON.stringify(policy('all')).length).toBeLessThan(6144))
