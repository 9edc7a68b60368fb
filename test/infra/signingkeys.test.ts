/** The signing keys: which one signs, which are published and which are retained. */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const SigningKeys = createRequire(import.meta.url)(join(import.meta.dirname, '../../infra/plugins/signingkeys.cjs'))

/** Returns the configuration with this setting. */
function runPlugin(setting: string | number) {
  // Filled by the plugin.
  const grants: Record<string, Partial<Grant>> = { sign: {}, 'signing-keys': {} }
  const service = {
    custom: { settings: { 'signing-keys': setting }, grants },
    resources: {
      Resources: { SigningKey: { Type: 'AWS::KMS::Key', DeletionPolicy: 'Retain' }, Table: {} },
      Outputs: { SigningKeyId: { Value: {} } },
    },
  }
  new SigningKeys({ service }).hooks['before:package:initialize']()
  return { ...service.resources, ...service.custom }
}

interface Grant {
  environment: object
  statements: { Action: string; Resource: unknown }[]
}

const arn = (id: string) => ({ 'Fn::GetAtt': [id, 'Arn'] })

test('the first key signs, and all are published', () => {
  const { grants, Outputs } = runPlugin('2,1')
  const read = { Effect: 'Allow', Action: 'kms:GetPublicKey', Resource: [arn('SigningKey2'), arn('SigningKey')] }
  const environment = { SIGNING_KEY_IDS: { 'Fn::Join': [',', [{ Ref: 'SigningKey2' }, { Ref: 'SigningKey' }]] } }
  expect(grants['signing-keys']).toEqual({ environment, statements: [read] })
  const sign = { Effect: 'Allow', Action: 'kms:Sign', Resource: arn('SigningKey2') }
  expect(grants.sign).toEqual({ environment, statements: [sign, read] })
  expect(Outputs.SigningKeyId.Value).toEqual({ Ref: 'SigningKey2' })
})

test('each key is a separate resource that outlives the stack', () => {
  const { Resources } = runPlugin('1,2,7')
  const kept = { Type: 'AWS::KMS::Key', DeletionPolicy: 'Retain' }
  expect(Resources).toEqual({ Table: {}, SigningKey: kept, SigningKey2: kept, SigningKey7: kept })
})

test('a key removed from the list is no longer a resource and is retained', () => {
  // The command line passes a number.
  expect(Object.keys(runPlugin(2).Resources)).toEqual(['Table', 'SigningKey2'])
})

test('refuses a key that is listed twice', () =>
  expect(() => runPlugin('1,2,1')).toThrow('signing-keys lists a key twice'))
