/** The signing keys: which one signs, which are published and which are retained. */
import { expect, test } from 'vitest'
import { templateWith } from './everysetting.ts'

interface Statement {
  Effect: string
  Action: string | string[]
  Resource: unknown
}

/** Returns what the template has for the keys of a list. */
function keysOf(list: string) {
  const { resources, outputs } = templateWith({ 'signing-keys': list })
  const statementsOf = (id: string): Statement[] =>
    (resources[id]?.Properties.Policies[0].PolicyDocument.Statement ?? []).filter(({ Action }: Statement) =>
      String(Action).startsWith('kms:'),
    )
  return {
    keys: Object.entries(resources).filter(([, { Type }]) => Type === 'AWS::KMS::Key'),
    signs: outputs.SigningKeyId?.Value,
    ids: resources.IssuerLambdaFunction?.Properties.Environment.Variables.SIGNING_KEY_IDS,
    published: statementsOf('IssuerRole'),
    signing: statementsOf('DirectclusterendpointtokensDashcreateRole'),
  }
}

const arn = (id: string) => ({ 'Fn::GetAtt': [id, 'Arn'] })

test('the first key signs, and all are published', () => {
  const { ids, published, signing, signs } = keysOf('2,1')
  const read = { Effect: 'Allow', Action: 'kms:GetPublicKey', Resource: [arn('SigningKey'), arn('SigningKey2')] }
  expect(ids).toEqual({ 'Fn::Join': [',', [{ Ref: 'SigningKey2' }, { Ref: 'SigningKey' }]] })
  expect(published).toEqual([read])
  // Versions from before a rotation sign with the former key.
  expect(signing).toEqual([{ ...read, Action: 'kms:Sign' }, read])
  expect(signs).toEqual({ Ref: 'SigningKey2' })
})

test('each key is a separate resource that outlives the stack', () => {
  const { keys, ids } = keysOf('1,2,7,9')
  expect(keys.map(([id, { DeletionPolicy }]) => [id, DeletionPolicy])).toEqual(
    ['SigningKey', 'SigningKey2', 'SigningKey7', 'SigningKey9'].map((id) => [id, 'RetainExceptOnCreate']),
  )
  expect(ids['Fn::Join'][1]).toHaveLength(4)
})

test('a key removed from the list is no longer a resource and is retained', () => {
  const { keys, ids, signs } = keysOf('9')
  expect(keys.map(([id, { UpdateReplacePolicy }]) => [id, UpdateReplacePolicy])).toEqual([['SigningKey9', 'Retain']])
  expect([ids, signs]).toEqual([{ Ref: 'SigningKey9' }, { Ref: 'SigningKey9' }])
})

// A number whose algorithm changes is another key, as CloudFormation replaces keys of another key spec.
test('a number with -rsa is a key for RS256, and signs and is published like any other', () => {
  const { keys, ids, signs } = keysOf('2-rsa,1')
  expect(keys.map(([id, { Properties }]) => [id, Properties.KeySpec])).toEqual([
    ['SigningKey', 'ECC_NIST_P256'],
    ['SigningKey2', 'RSA_2048'],
  ])
  expect(ids).toEqual({ 'Fn::Join': [',', [{ Ref: 'SigningKey2' }, { Ref: 'SigningKey' }]] })
  expect(signs).toEqual({ Ref: 'SigningKey2' })
  expect(keysOf('1,9-rsa').signs).toEqual({ Ref: 'SigningKey' })
  expect(keysOf('9-rsa').signs).toEqual({ Ref: 'SigningKey9' })
})
