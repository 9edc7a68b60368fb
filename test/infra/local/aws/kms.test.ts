import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto'
import { mkdtemp, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  CreateKeyCommand,
  type CreateKeyCommandInput,
  GetPublicKeyCommand,
  ScheduleKeyDeletionCommand,
  SignCommand,
} from '@aws-sdk/client-kms'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startKms } from '../../../../infra/local/aws/kms.ts'
import { generateKmsKey, publicKeyOf, signDigest } from '../../../../infra/local/aws/kmskeys.ts'
import { createVerifier } from '../../../../infra/local/aws/sigv4.ts'
import { type Aws, credentials, region, startAws } from '../../../support/aws.ts'
import { callSigned } from '../../../support/sigv4client.ts'

let aws: Aws
let signing: string
let publicKey: KeyObject

const openSSL = (der: Uint8Array = new Uint8Array()) =>
  createPublicKey({ key: Buffer.from(der), format: 'der', type: 'spki' })
const createKey = async ({ kms }: Aws, input: CreateKeyCommandInput): Promise<string> =>
  (await kms.send(new CreateKeyCommand(input))).KeyMetadata?.Arn ?? ''
const signingKey = { KeySpec: 'ECC_NIST_P256', KeyUsage: 'SIGN_VERIFY' } as const

beforeAll(async () => {
  aws = await startAws()
  signing = await createKey(aws, signingKey)
  publicKey = openSSL((await aws.kms.send(new GetPublicKeyCommand({ KeyId: signing }))).PublicKey)
})
afterAll(() => aws.stop())

const sha256 = (message: Uint8Array): Buffer => createHash('sha256').update(message).digest()
const digest = { MessageType: 'DIGEST', SigningAlgorithm: 'ECDSA_SHA_256' } as const
const signed = (input: object) =>
  aws.kms.send(new SignCommand({ KeyId: signing, Message: Buffer.alloc(32), ...digest, ...input }))
const publicKeyFor = (KeyId: string) => aws.kms.send(new GetPublicKeyCommand({ KeyId }))

test('a key has an ARN, and is found by it and by its ID', async () => {
  expect(signing).toMatch(/^arn:aws:kms:eu-central-1:000000000000:key\/[0-9a-f-]{36}$/)
  for (const KeyId of [signing, signing.replace(/.*\//, '')])
    expect(await publicKeyFor(KeyId)).toMatchObject({
      ...signingKey,
      KeyId: signing,
      SigningAlgorithms: ['ECDSA_SHA_256'],
    })
})

test.each<readonly [string, () => Promise<unknown>, string]>([
  ...[
    {},
    { KeySpec: 'ECC_NIST_P256' } as const,
    { KeySpec: 'ECC_NIST_P256', KeyUsage: 'ENCRYPT_DECRYPT' } as const,
    { KeySpec: 'SYMMETRIC_DEFAULT', KeyUsage: 'SIGN_VERIFY' } as const,
    { KeySpec: 'RSA_2048', KeyUsage: 'SIGN_VERIFY' } as const,
  ].map((input) => [JSON.stringify(input), () => createKey(aws, input), 'ValidationException'] as const),
  ...['00000000-0000-0000-0000-000000000000', 'alias/none', 'constructor', 'arn:aws:kms:eu-west-1:1:key/x'].map(
    (id) => [`the key ${id}`, () => publicKeyFor(id), 'NotFoundException'] as const,
  ),
  ['a digest of another length', () => signed({ Message: Buffer.alloc(31) }), 'ValidationException'],
  ['an empty message', () => signed({ Message: Buffer.alloc(0) }), 'ValidationException'],
  ['a raw message', () => signed({ MessageType: 'RAW' }), 'ValidationException'],
  ['no message type, which means a raw message', () => signed({ MessageType: undefined }), 'ValidationException'],
  ['the algorithm of another curve', () => signed({ SigningAlgorithm: 'ECDSA_SHA_384' }), 'ValidationException'],
  ['no algorithm', () => signed({ SigningAlgorithm: undefined }), 'ValidationException'],
  [
    'an operation that it does not offer',
    () => aws.kms.send(new ScheduleKeyDeletionCommand({ KeyId: signing })),
    'UnknownOperationException',
  ],
])('refuses %s', (_, send, name) => expect(send()).rejects.toMatchObject({ name }))

test('signs digests so that OpenSSL verifies the signature over the message', async () => {
  const message = Buffer.from('header.claims')
  const { Signature = new Uint8Array(), KeyId } = await signed({ Message: sha256(message) })
  expect(KeyId).toBe(signing)
  expect(verify('sha256', message, publicKey, Signature)).toBe(true)
  expect(verify('sha256', Buffer.from('other'), publicKey, Signature)).toBe(false)
  const key = generateKmsKey()
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (any) => {
      expect(verify('sha256', any, openSSL(publicKeyOf(key)), signDigest(key, sha256(any)))).toBe(true)
    }),
    { numRuns: 100 },
  )
})

test('makes one key for each alias', async () => {
  const kms = await startKms({
    region,
    account: '000000000000',
    verify: createVerifier({ credentials, region, now: Date.now }),
  })
  const key = await kms.ensureKey('alias/test')
  expect(await kms.ensureKey('alias/test')).toBe(key)
  expect(await kms.ensureKey('alias/other')).not.toBe(key)
  await kms.close()
})

describe('the AWS JSON protocol', () => {
  const target = 'TrentService.GetPublicKey'
  const blob = JSON.stringify({ KeyId: 'KEY', ...digest, Message: 'not base64!' })

  test.each([
    ['an unknown operation', 'TrentService.constructor', '{}', [400, 'UnknownOperationException']],
    ["another service's operation", 'secretsmanager.GetPublicKey', '{}', [400, 'UnknownOperationException']],
    ['a missing target', '', '{}', [400, 'UnknownOperationException']],
    ['invalid JSON', target, '{"KeyId":', [400, 'SerializationException']],
    ['a list', target, '[]', [400, 'SerializationException']],
    ['a member of the wrong type', target, '{"KeyId":1}', [400, 'SerializationException']],
    ['a blob that is not base64', 'TrentService.Sign', blob, [400, 'SerializationException']],
    ['an empty body', target, '', [400, 'ValidationException']],
    ['a body that is too large', target, `"${'x'.repeat(1 << 20)}"`, [413, 'RequestEntityTooLargeException']],
  ])('refuses %s', async (_, operation, body, expected) => {
    const call = { endpoint: aws.endpoints.kms, service: 'kms', target: operation, body: body.replace('KEY', signing) }
    const { status, json } = await callSigned(call)
    expect([status, json.__type]).toEqual(expected)
  })
})

describe('the data file', () => {
  test('keeps keys across a restart, is readable by its owner only, and is refused when damaged', async () => {
    const kmsPath = join(await mkdtemp(join(tmpdir(), 'keyplane-')), 'kms.json')
    const first = await startAws({ kmsPath })
    const KeyId = await createKey(first, signingKey)
    const before = await first.kms.send(new GetPublicKeyCommand({ KeyId }))
    await first.stop()
    const second = await startAws({ kmsPath })
    const after = await second.kms.send(new GetPublicKeyCommand({ KeyId }))
    await second.stop()
    expect(after.PublicKey).toEqual(before.PublicKey)
    expect((await stat(kmsPath)).mode & 0o777).toBe(0o600)

    const content = await readFile(kmsPath, 'utf8')
    const sentence =
      /^The data file .*kms\.json is damaged: restore it from a copy, or remove the folder .* to start afresh\.$/
    for (const damaged of [content.slice(0, -20), content.replace('material', 'materiel'), '', '[]', 'null']) {
      await writeFile(kmsPath, damaged)
      await expect(startAws({ kmsPath })).rejects.toThrow(sentence)
    }
  })
})
