/** The rights of functions to reach clusters of Amazon EKS. */
import { expect, test } from 'vitest'
import { functions } from '../../infra/functions.ts'
import { templateWith } from './everysetting.ts'
import { readRoles } from './roles.ts'

const refs = { 'AWS::Partition': 'aws', 'AWS::Region': 'eu-central-1', 'AWS::AccountId': '123456789012', Stage: 'prod' }
const role = 'arn:aws:iam::123456789012:role/keyplane-prod-clusters'

/** The functions that may call connected clusters. */
const callers = functions
  .filter(({ uses = [] }) => uses.some(({ variables = {} }) => 'CLUSTER_SECRETS_PREFIX' in variables))
  .map(({ path }) => path)

function rightsWith(settings: Readonly<Record<string, string>>) {
  const { text, resources } = templateWith(settings)
  const roles = readRoles(text, refs)
  return {
    may: (action: string, resource: string) =>
      functions.map(({ path }) => path).filter((name) => roles.allows(name, { action, resource })),
    variable: resources.BoundsecretsLambdaFunction?.Properties.Environment.Variables.CLUSTERS_ROLE_ARN,
    roles: Object.values(resources).filter(({ Type }) => Type === 'AWS::IAM::Role'),
  }
}

// threat: exchange-40
test('only functions that reach clusters assume the role, and no other role of such a name', () => {
  const { may, variable } = rightsWith({})
  expect(callers).toContain('boundsecrets')
  expect(may('sts:AssumeRole', role)).toEqual(callers)
  expect(may('eks:DescribeCluster', 'arn:aws:eks:eu-central-1:123456789012:cluster/prod')).toEqual([])
  expect(JSON.stringify(variable)).toContain(':role/keyplane-prod-clusters"')
  expect(may('sts:AssumeRole', `${role}2`)).toEqual([])
})

test('the role is at the path of the setting', () => {
  const { variable } = rightsWith({ 'role-path': '/platform/' })
  expect(JSON.stringify(variable)).toContain(':role/platform/keyplane-prod-clusters"')
})

// A removed stage that is deployed again must find the role that access entries name, and CloudFormation cannot take it over.
test('the role is not part of the stack, which has no role with a name of its own', () => {
  const { roles } = rightsWith({})
  expect(roles.filter(({ Properties }) => 'RoleName' in Properties)).toEqual([])
})
