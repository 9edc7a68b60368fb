import { describe, expect, test } from 'vitest'
import { evaluatePolicy } from '../../../../infra/local/gateway/policy.ts'

const arn = 'arn:aws:execute-api:eu-central-1:000000000000:local/dev/GET/keys/a.b'
const statement = (
  Effect: string,
  Resource: string | string[] = '*',
  Action: string | string[] = 'execute-api:Invoke',
) => ({ Effect, Resource, Action })
const decide = (...Statement: object[]) => evaluatePolicy({ Version: '2012-10-17', Statement }, arn)

test.each([
  ['everything', '*'],
  ['this method', arn],
  ['every key', 'arn:aws:execute-api:*:*:*/dev/GET/keys/*'],
  ['one character', 'arn:aws:execute-api:eu-central-1:000000000000:local/dev/GET/keys/a?b'],
  ['one of several', ['arn:aws:s3:::a', '*']],
])('Allow of %s allows', (_, resource) => expect(decide(statement('Allow', resource))).toBe('allow'))

test.each([
  ['another method', statement('Allow', 'arn:aws:execute-api:*:*:*/dev/POST/*')],
  ['a prefix only', statement('Allow', arn.slice(0, -1))],
  ['a dot is a dot', statement('Allow', arn.replace('local', 'l.cal'))],
  ['another action', statement('Allow', '*', 'execute-api:ManageConnections')],
])('denies by default: %s', (_, one) => expect(decide(one)).toBe('implicit deny'))

test('a Deny wins in any position and with any spelling of the action', () => {
  expect(decide(statement('Allow'), statement('Deny', '*', ['EXECUTE-API:*']))).toBe('explicit deny')
  expect(decide(statement('Deny', arn, '*'), statement('Allow'))).toBe('explicit deny')
  expect(decide(statement('Deny', 'arn:other'), statement('Allow'))).toBe('allow')
})

describe('refused', () => {
  test.each([
    ['no document', undefined],
    ['no statement', { Statement: [] }],
    ['a text', 'Allow'],
    ['no effect', { Statement: { Action: '*', Resource: '*' } }],
    ['another effect', { Statement: statement('allow') }],
    ['a condition', { Statement: { ...statement('Allow'), Condition: {} } }],
    ['NotResource', { Statement: { Effect: 'Allow', Action: '*', NotResource: 'x' } }],
    ['no resource', { Statement: { ...statement('Allow'), Resource: [] } }],
    ['an ARN over 512 characters', { Statement: statement('Allow', `arn:${'a'.repeat(509)}`) }],
  ])('%s', (_, document) => expect(() => evaluatePolicy(document, arn)).toThrow())
})
