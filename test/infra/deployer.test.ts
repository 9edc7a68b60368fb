/** The deployer's policy (infra/deployer.json) covers every resource of the template. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import cases from './vectors/deployer.cases.json' with { type: 'json' }

interface Statement {
  Sid: string
  Effect: 'Allow'
  Action: string | string[]
  Resource: string | string[]
  Condition?: { StringEquals?: Record<string, string[]> }
}
const { Statement: statements } = JSON.parse(
  await readFile(join(import.meta.dirname, '../../infra/deployer.json'), 'utf8'),
) as { Statement: Statement[] }

const actions = statements.flatMap(({ Action }) => Action)
const allows = (action: string) => actions.some((one) => one === action || one === `${action.split(':')[0]}:*`)

/** The action with which CloudFormation creates a resource. Source: AWS CloudFormation resource types, handlers of their schemas. */
const creates: Readonly<Record<string, string>> = cases.creates

// everysetting.test.ts shows that the template has no others.
test('allows creating every resource of the template with every setting', () =>
  expect(Object.values(creates).filter((action) => !allows(action))).toEqual([]))

test('allows what API Gateway and Lambda do with the rights of the caller for a domain and a VPC', () => {
  const gateway = statements.filter(({ Action }) => [Action].flat().includes('apigateway:*'))
  const paths = gateway.flatMap(({ Resource }) => Resource)
  for (const path of ['/domainnames', '/domainnames/*']) expect(paths).toContain(`arn:aws:apigateway:*::${path}`)
  for (const action of [
    'iam:CreateServiceLinkedRole',
    'ec2:DescribeSubnets',
    'ec2:DescribeSecurityGroups',
    'ec2:DescribeVpcs',
  ])
    expect([action, allows(action)]).toEqual([action, true])
})

test.each(['kms:ScheduleKeyDeletion', 'secretsmanager:DeleteSecret'])('allows %s only to CloudFormation', (action) => {
  const deleting = statements.filter(({ Action }) => [Action].flat().includes(action))
  expect(deleting.map(({ Condition }) => Condition)).toEqual([
    { 'ForAnyValue:StringEquals': { 'aws:CalledVia': 'cloudformation.amazonaws.com' } },
  ])
  expect(allows('dynamodb:DeleteTable')).toBe(false)
})

test('allows passing a role to API Gateway, which imports it with the API', () => {
  const [{ Resource, Condition } = {}, ...others] = statements.filter(({ Action }) => Action === 'iam:PassRole')
  expect(others).toEqual([])
  expect(Condition?.StringEquals?.['iam:PassedToService']).toContain('apigateway.amazonaws.com')
  // The role has no name of its own (test/infra/roles.test.ts), so CloudFormation begins it with that of the stack.
  expect(Resource).toBe('arn:aws:iam::*:role/keyplane-*')
})

test('allows neither reading secrets or items nor using keys', () => {
  for (const action of [
    'secretsmanager:GetSecretValue',
    'dynamodb:GetItem',
    'dynamodb:Scan',
    'kms:Sign',
    'iam:CreateUser',
  ])
    expect([action, allows(action)]).toEqual([action, false])
})

test('allows all actions of a service only on resources named keyplane', () => {
  const whole = statements.filter(({ Action }) => [Action].flat().some((action) => action.endsWith(':*')))
  const resources = whole.filter(({ Sid }) => Sid !== 'Gateway').flatMap(({ Resource }) => Resource)
  expect(resources.length).toBeGreaterThan(8)
  expect(resources.filter((one) => !/[:/]keyplane[-/]|API-Gateway-Execution-Logs_/.test(one))).toEqual([])
})
