import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto'
import { mkdtemp, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CreateKeyCommand, GetPublicKeyCommand, ScheduleKeyDeletionCommand, SignCommand } from '@aws-sdk/client-kms'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Kms, startKms } from '../../../../infra/local/aws/kms.ts'
import { generateKmsKey, publicKeyOf, signDigest } from '../../../../infra/local/aws/kmskeys.ts'
import { createVerifier } from '../../../../infra/local/aws/sigv4.ts'
import { type Aws, credentials, region, startAws } from '../../../support/aws.ts'
import { callSigned } from '../../../support/sigv4client.ts'

let aws: Aws
let signing: string
let symmetric: string
let publicKey: KeyObject

const createSigningKey = async ({ kms }: Aws): Promise<string> =>
  (await kms.send(new CreateKeyCommand({ KeySpec: 'ECC_NIST_P256', KeyUsage: 'SIGN_VERIFY' }))).KeyMetadata?.Arn ?? ''

beforeAll(async () => {
  aws = await startAws()
  signing = await createSigningKey(aws)
  symmetric = (await aws.kms.send(new CreateKeyCommand({}))).KeyMetadata?.KeyId ?? ''
  const { PublicKey } = await aws.kms.send(new GetPublicKeyCommand({ KeyId: signing }))
  publicKey = createPublicKey({ key: Buffer.from(PublicKey ?? []), format: 'der', type: 'spki' })
})
afterAll(() => aws.stop())

const sha256 = (message: Uint8Array): Buffer => createHash('sha256').update(message).digest()
const digest = { MessageType: 'DIGEST', SigningAlgorithm: 'ECDSA_SHA_256' } as const

describe('CreateKey', () => {
  test('returns the ARN of the new key', () => {
    expect(signing).toMatch(/^arn:aws:kms:eu-central-1:000000000000:key\/[0-9a-f-]{36}$/)
  })

  test.each([
    { KeySpec: 'ECC_NIST_P256' },
    { KeySpec: 'ECC_NIST_P256', KeyUsage: 'ENCRYPT_DECRYPT' },
    { KeySpec: 'SYMMETRIC_DEFAULT', KeyUsage: 'SIGN_VERIFY' },
    { KeySpec: 'RSA_2048', KeyUsage: 'SIGN_VERIFY' },
  ] as const)('refuses %j', async (input) => {
    await expect(aws.kms.send(new CreateKeyCommand(input))).rejects.toMatchObject({ name: 'ValidationException' })
  })
})

describe('GetPublicKey', () => {
  test('accepts the ID and the ARN of a key', async () => {
    for (const KeyId of [signing, signing.replace(/.*\//, '')])
      expect(await aws.kms.send(new GetPublicKeyCommand({ KeyId }))).toMatchObject({
        KeyId: signing,
        KeySpec: 'ECC_NIST_P256',
        KeyUsage: 'SIGN_VERIFY',
        SigningAlgorithms: ['ECDSA_SHA_256'],
      })
  })

  test.each(['00000000-0000-0000-0000-000000000000', 'alias/none', 'constructor', 'arn:aws:kms:eu-west-1:1:key/x'])(
    'does not find %s',
    async (KeyId) => {
      await expect(aws.kms.send(new GetPublicKeyCommand({ KeyId }))).rejects.toMatchObject({
        name: 'NotFoundException',
      })
    },
  )

  test('refuses a symmetric key', async () => {
    await expect(aws.kms.send(new GetPublicKeyCommand({ KeyId: symmetric }))).rejects.toMatchObject({
      name: 'UnsupportedOperationException',
    })
  })
})

describe('Sign', () => {
  const sign = (input: object) =>
    aws.kms.send(new SignCommand({ KeyId: signing, Message: Buffer.alloc(32), ...digest, ...input }))

  test('returns a signature of the digest that OpenSSL verifies over the message', async () => {
    const message = Buffer.from('header.claims')
    const { Signature, KeyId } = await sign({ Message: sha256(message) })
    expect(KeyId).toBe(signing)
    expect(verify('sha256', message, publicKey, Buffer.from(Signature ?? []))).toBe(true)
    expect(verify('sha256', Buffer.from('other'), publicKey, Buffer.from(Signature ?? []))).toBe(false)
  })

  test.each([
    ['a digest of another length', { Message: Buffer.alloc(31) }, 'ValidationException'],
    ['an empty message', { Message: Buffer.alloc(0) }, 'ValidationException'],
    ['a raw message', { MessageType: 'RAW' }, 'ValidationException'],
    ['no message type, which means a raw message', { MessageType: undefined }, 'ValidationException'],
    ['the algorithm of another curve', { SigningAlgorithm: 'ECDSA_SHA_384' }, 'ValidationException'],
    ['no algorithm', { SigningAlgorithm: undefined }, 'ValidationException'],
    ['a symmetric key', { KeyId: undefined }, 'InvalidKeyUsageException'],
  ] as const)('refuses %s', async (_, input, name) => {
    const key = 'KeyId' in input ? { KeyId: symmetric } : {}
    await expect(sign({ ...input, ...key })).rejects.toMatchObject({ name })
  })
})

describe('signDigest', () => {
  test('returns signatures that OpenSSL verifies', () => {
    const key = generateKmsKey('ECC_NIST_P256')
    const known = createPublicKey({ key: publicKeyOf(key), format: 'der', type: 'spki' })
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (message) => {
        expect(verify('sha256', message, known, signDigest(key, sha256(message)))).toBe(true)
      }),
      { numRuns: 100 },
    )
  })
})

describe('seal and open', () => {
  let kms: Kms
  let key: string
  const context = { purpose: 'test', stage: 'dev' }
  const message = Buffer.from('a secret')

  beforeAll(async () => {
    const verifySignature = createVerifier({ credentials, region, now: Date.now })
    kms = await startKms({ region, account: '000000000000', verify: verifySignature })
    key = await kms.ensureKey('alias/test', 'SYMMETRIC_DEFAULT')
  })
  afterAll(() => kms.close())

  test('return the plaintext under the same context in any order', () => {
    const sealed = kms.seal(key, message, context)
    expect(sealed.includes(message)).toBe(false)
    expect(kms.open(sealed, { stage: 'dev', purpose: 'test' })).toEqual(message)
  })

  test('refuse another context, a changed byte, a truncated ciphertext and an unknown key', () => {
    const sealed = kms.seal(key, message, context)
    const changedAt = (at: number) => {
      const changed = Buffer.from(sealed)
      changed.writeUInt8(changed.readUInt8(at) ^ 1, at)
      return changed
    }
    for (const [ciphertext, given] of [
      [sealed, {}],
      [changedAt(sealed.length - 1), context],
      [changedAt(0), context],
      [sealed.subarray(0, 20), context],
      [Buffer.alloc(0), context],
    ] as const)
      expect(() => kms.open(ciphertext, given)).toThrow('The ciphertext is not valid for this context.')
  })

  test('ensureKey returns the same key for the same alias', async () => {
    expect(await kms.ensureKey('alias/test', 'SYMMETRIC_DEFAULT')).toBe(key)
    expect(await kms.ensureKey('alias/other', 'SYMMETRIC_DEFAULT')).not.toBe(key)
  })
})

describe('the AWS JSON protocol', () => {
  const target = 'TrentService.GetPublicKey'

  test.each([
    ['an unknown operation', 'TrentService.constructor', '{}', [400, 'UnknownOperationException']],
    ["another service's operation", 'secretsmanager.GetPublicKey', '{}', [400, 'UnknownOperationException']],
    ['a missing target', '', '{}', [400, 'UnknownOperationException']],
    ['invalid JSON', target, '{"KeyId":', [400, 'SerializationException']],
    ['a list', target, '[]', [400, 'SerializationException']],
    ['a member of the wrong type', target, '{"KeyId":1}', [400, 'SerializationException']],
    ['an empty body', target, '', [400, 'ValidationException']],
    ['a body that is too large', target, `"${'x'.repeat(1 << 20)}"`, [413, 'RequestEntityTooLargeException']],
  ])('refuses %s', async (_, operation, body, expected) => {
    const call = { endpoint: aws.endpoints.kms, service: 'kms', target: operation, body }
    const { status, json } = await callSigned(call)
    expect([status, json.__type]).toEqual(expected)
  })

  test('refuses a blob that is not base64', async () => {
    const body = JSON.stringify({ KeyId: signing, ...digest, Message: 'not base64!' })
    const call = { endpoint: aws.endpoints.kms, service: 'kms', target: 'TrentService.Sign', body }
    expect((await callSigned(call)).json.__type).toBe('SerializationException')
  })

  test('an operation that the endpoint does not offer is an error in the SDK', async () => {
    await expect(aws.kms.send(new ScheduleKeyDeletionCommand({ KeyId: signing }))).rejects.toMatchObject({
      name: 'UnknownOperationException',
    })
  })
})

describe('the data file', () => {
  test('keeps keys across a restart, is readable by its owner only, and is refused when damaged', async () => {
    const kmsPath = join(await mkdtemp(join(tmpdir(), 'keyplane-')), 'kms.json')
    const first = await startAws({ kmsPath })
    const KeyId = await createSigningKey(first)
    const before = await first.kms.send(new GetPublicKeyCommand({ KeyId }))
    await first.stop()

    const second = await startAws({ kmsPath })
    const after = await second.kms.send(new GetPublicKeyCommand({ KeyId }))
    await second.stop()
    expect(after.PublicKey).toEqual(before.PublicKey)
    expect((await stat(kmsPath)).mode & 0o777).toBe(0o600)

    const content = await readFile(kmsPath, 'utf8')
    for (const damaged of [content.slice(0, -20), content.replace('ECC_NIST', 'ECC_MIST'), '', '[]', 'null'])
      await writeFile(kmsPath, damaged).then(() =>
        expect(startAws({ kmsPath })).rejects.toThrow(
          /^The data file .*kms\.json is damaged: restore it from a copy, or remove the folder .* to start afresh\.$/,
        ),
      )
  })
})
