import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto'
import { mkdtemp, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  CreateAliasCommand,
  CreateKeyCommand,
  DecryptCommand,
  DescribeKeyCommand,
  DisableKeyCommand,
  EnableKeyCommand,
  EncryptCommand,
  GetPublicKeyCommand,
  ListAliasesCommand,
  ScheduleKeyDeletionCommand,
  SignCommand,
  VerifyCommand,
} from '@aws-sdk/client-kms'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Aws, startAws } from '../../../support/aws.ts'
import { signedCall } from '../../../support/signed.ts'

let aws: Aws
let signing: string
let symmetric: string
let publicKey: KeyObject

const makeSigningKey = async ({ kms }: Aws): Promise<string> =>
  (await kms.send(new CreateKeyCommand({ KeySpec: 'ECC_NIST_P256', KeyUsage: 'SIGN_VERIFY' }))).KeyMetadata?.Arn ?? ''

beforeAll(async () => {
  aws = await startAws()
  signing = await makeSigningKey(aws)
  symmetric = (await aws.kms.send(new CreateKeyCommand({ Description: 'for data' }))).KeyMetadata?.KeyId ?? ''
  const { PublicKey } = await aws.kms.send(new GetPublicKeyCommand({ KeyId: signing }))
  publicKey = createPublicKey({ key: Buffer.from(PublicKey ?? []), format: 'der', type: 'spki' })
})
afterAll(() => aws.stop())

const sha256 = (message: Uint8Array): Buffer => createHash('sha256').update(message).digest()
const message = Buffer.from('header.claims')
const ecdsa = { SigningAlgorithm: 'ECDSA_SHA_256' } as const

describe('keys', () => {
  test('are described as AWS describes them', async () => {
    const { KeyMetadata } = await aws.kms.send(new DescribeKeyCommand({ KeyId: signing }))
    expect(KeyMetadata).toMatchObject({
      Arn: expect.stringMatching(/^arn:aws:kms:eu-central-1:000000000000:key\/[0-9a-f-]{36}$/),
      KeySpec: 'ECC_NIST_P256',
      KeyUsage: 'SIGN_VERIFY',
      KeyState: 'Enabled',
      SigningAlgorithms: ['ECDSA_SHA_256'],
    })
    expect(KeyMetadata?.CreationDate).toBeInstanceOf(Date)
  })

  test.each([
    [{ KeySpec: 'ECC_NIST_P256' }, 'ValidationException'],
    [{ KeySpec: 'ECC_NIST_P256', KeyUsage: 'ENCRYPT_DECRYPT' }, 'ValidationException'],
    [{ KeySpec: 'SYMMETRIC_DEFAULT', KeyUsage: 'SIGN_VERIFY' }, 'ValidationException'],
    [{ KeySpec: 'RSA_2048', KeyUsage: 'SIGN_VERIFY' }, 'UnsupportedOperationException'],
  ] as const)('%j is refused', async (input, name) => {
    await expect(aws.kms.send(new CreateKeyCommand(input))).rejects.toMatchObject({ name })
  })

  test.each(['00000000-0000-0000-0000-000000000000', 'alias/none', 'constructor', 'arn:aws:kms:eu-west-1:1:key/x'])(
    '%s is not found',
    async (KeyId) => {
      await expect(aws.kms.send(new DescribeKeyCommand({ KeyId }))).rejects.toMatchObject({ name: 'NotFoundException' })
    },
  )

  test('a disabled key does nothing until it is enabled', async () => {
    const KeyId = await makeSigningKey(aws)
    await aws.kms.send(new DisableKeyCommand({ KeyId }))
    await expect(aws.kms.send(new SignCommand({ KeyId, Message: message, ...ecdsa }))).rejects.toMatchObject({
      name: 'DisabledException',
    })
    await expect(aws.kms.send(new GetPublicKeyCommand({ KeyId }))).rejects.toMatchObject({ name: 'DisabledException' })
    await aws.kms.send(new EnableKeyCommand({ KeyId }))
    await aws.kms.send(new SignCommand({ KeyId, Message: message, ...ecdsa }))
  })
})

describe('aliases', () => {
  test('stand for their key in every form, and are listed', async () => {
    const arn = signing.replace(/key\/.*/, 'alias/signing')
    await aws.kms.send(new CreateAliasCommand({ AliasName: 'alias/signing', TargetKeyId: signing }))
    for (const KeyId of ['alias/signing', arn, signing.replace(/.*\//, '')]) {
      const { KeyMetadata } = await aws.kms.send(new DescribeKeyCommand({ KeyId }))
      expect(KeyMetadata?.Arn).toBe(signing)
    }
    const { Aliases } = await aws.kms.send(new ListAliasesCommand({ KeyId: signing }))
    expect(Aliases).toEqual([{ AliasName: 'alias/signing', AliasArn: arn, TargetKeyId: signing.replace(/.*\//, '') }])
  })

  test('are listed in pages', async () => {
    for (const name of ['c', 'a', 'b'])
      await aws.kms.send(new CreateAliasCommand({ AliasName: `alias/page/${name}`, TargetKeyId: symmetric }))
    const first = await aws.kms.send(new ListAliasesCommand({ KeyId: symmetric, Limit: 2 }))
    const second = await aws.kms.send(new ListAliasesCommand({ KeyId: symmetric, Marker: first.NextMarker }))
    const names = [...(first.Aliases ?? []), ...(second.Aliases ?? [])].map(({ AliasName }) => AliasName)
    expect(names).toEqual(['alias/page/a', 'alias/page/b', 'alias/page/c'])
    expect([first.Truncated, second.Truncated]).toEqual([true, false])
    const exact = await aws.kms.send(new ListAliasesCommand({ KeyId: symmetric, Limit: 3 }))
    expect([exact.Truncated, exact.NextMarker]).toEqual([false, undefined])
  })

  test.each([
    ['signing', 'x', 'InvalidAliasNameException'],
    ['alias/aws/x', 'x', 'NotAuthorizedException'],
    ['alias/y', 'alias/x', 'ValidationException'],
    ['alias/y', 'x', 'NotFoundException'],
    ['alias/aws', '', 'AlreadyExistsException'],
  ])('%s for %s is a %s', async (AliasName, target, name) => {
    const TargetKeyId = target || symmetric
    if (name === 'AlreadyExistsException') await aws.kms.send(new CreateAliasCommand({ AliasName, TargetKeyId }))
    await expect(aws.kms.send(new CreateAliasCommand({ AliasName, TargetKeyId }))).rejects.toMatchObject({ name })
  })
})

describe('signatures', () => {
  test('of a message and of its digest both verify over the message', async () => {
    const raw = await aws.kms.send(new SignCommand({ KeyId: signing, Message: message, ...ecdsa }))
    const digest = await aws.kms.send(
      new SignCommand({ KeyId: signing, Message: sha256(message), MessageType: 'DIGEST', ...ecdsa }),
    )
    for (const { Signature, KeyId } of [raw, digest]) {
      expect(KeyId).toBe(signing)
      expect(verify('sha256', message, publicKey, Buffer.from(Signature ?? []))).toBe(true)
      const both = { KeyId: signing, Signature, ...ecdsa }
      const { SignatureValid } = await aws.kms.send(new VerifyCommand({ ...both, Message: message }))
      expect(SignatureValid).toBe(true)
      await aws.kms.send(new VerifyCommand({ ...both, Message: sha256(message), MessageType: 'DIGEST' }))
      await expect(
        aws.kms.send(new VerifyCommand({ ...both, Message: sha256(Buffer.from('other')), MessageType: 'DIGEST' })),
      ).rejects.toMatchObject({ name: 'KMSInvalidSignatureException' })
      await expect(aws.kms.send(new VerifyCommand({ ...both, Message: Buffer.from('other') }))).rejects.toMatchObject({
        name: 'KMSInvalidSignatureException',
      })
    }
  })

  test.each([
    ['a message over 4096 bytes', { Message: Buffer.alloc(4097) }, 'ValidationException'],
    ['an empty message', { Message: Buffer.alloc(0) }, 'ValidationException'],
    ['a digest of 31 bytes', { Message: Buffer.alloc(31), MessageType: 'DIGEST' }, 'ValidationException'],
    ['a digest of 33 bytes', { Message: Buffer.alloc(33), MessageType: 'DIGEST' }, 'ValidationException'],
    [
      'an algorithm of another curve',
      { Message: message, SigningAlgorithm: 'ECDSA_SHA_384' },
      'InvalidKeyUsageException',
    ],
    ['a dry run', { Message: message, DryRun: true }, 'UnsupportedOperationException'],
  ] as const)('%s is refused', async (_, input, name) => {
    await expect(aws.kms.send(new SignCommand({ KeyId: signing, ...ecdsa, ...input }))).rejects.toMatchObject({ name })
  })

  test('a message of 4096 bytes is signed', async () => {
    const { Signature } = await aws.kms.send(new SignCommand({ KeyId: signing, Message: Buffer.alloc(4096), ...ecdsa }))
    expect(Signature?.length).toBeGreaterThan(60)
  })

  test('a symmetric key neither signs nor has a public key', async () => {
    await expect(aws.kms.send(new SignCommand({ KeyId: symmetric, Message: message, ...ecdsa }))).rejects.toMatchObject(
      { name: 'InvalidKeyUsageException' },
    )
    await expect(aws.kms.send(new GetPublicKeyCommand({ KeyId: symmetric }))).rejects.toMatchObject({
      name: 'UnsupportedOperationException',
    })
  })
})

describe('encryption', () => {
  const EncryptionContext = { purpose: 'test', stage: 'dev' }

  test('comes back under the same context in any order, without naming the key', async () => {
    const { CiphertextBlob } = await aws.kms.send(
      new EncryptCommand({ KeyId: symmetric, Plaintext: message, EncryptionContext }),
    )
    expect(Buffer.from(CiphertextBlob ?? []).includes(message)).toBe(false)
    const { Plaintext, KeyId } = await aws.kms.send(
      new DecryptCommand({ CiphertextBlob, EncryptionContext: { stage: 'dev', purpose: 'test' } }),
    )
    expect(Buffer.from(Plaintext ?? [])).toEqual(message)
    expect(KeyId).toMatch(new RegExp(`key/${symmetric}$`))
  })

  test('refuses another context, another key, a changed byte, a short ciphertext', async () => {
    const { CiphertextBlob } = await aws.kms.send(
      new EncryptCommand({ KeyId: symmetric, Plaintext: message, EncryptionContext }),
    )
    const changed = Buffer.from(CiphertextBlob ?? [])
    changed.writeUInt8(changed.readUInt8(changed.length - 1) ^ 1, changed.length - 1)
    const other = (await aws.kms.send(new CreateKeyCommand({}))).KeyMetadata?.KeyId
    for (const [input, name] of [
      [{ CiphertextBlob }, 'InvalidCiphertextException'],
      [{ CiphertextBlob: changed, EncryptionContext }, 'InvalidCiphertextException'],
      [{ CiphertextBlob: changed.subarray(0, 20), EncryptionContext }, 'InvalidCiphertextException'],
      [{ CiphertextBlob, EncryptionContext, KeyId: other }, 'IncorrectKeyException'],
      [{ CiphertextBlob, EncryptionContext, KeyId: signing }, 'InvalidKeyUsageException'],
    ] as const)
      await expect(aws.kms.send(new DecryptCommand(input))).rejects.toMatchObject({ name })
  })

  test('needs its key enabled, also when the call does not name it', async () => {
    const KeyId = (await aws.kms.send(new CreateKeyCommand({}))).KeyMetadata?.KeyId
    const { CiphertextBlob } = await aws.kms.send(new EncryptCommand({ KeyId, Plaintext: message }))
    await aws.kms.send(new DisableKeyCommand({ KeyId }))
    await expect(aws.kms.send(new DecryptCommand({ CiphertextBlob }))).rejects.toMatchObject({
      name: 'DisabledException',
    })
  })

  test('takes 4096 bytes and no more', async () => {
    await aws.kms.send(new EncryptCommand({ KeyId: symmetric, Plaintext: Buffer.alloc(4096) }))
    await expect(
      aws.kms.send(new EncryptCommand({ KeyId: symmetric, Plaintext: Buffer.alloc(4097) })),
    ).rejects.toMatchObject({ name: 'ValidationException' })
  })
})

describe('protocol', () => {
  const describeKey = 'TrentService.DescribeKey'

  test.each([
    ['unknown operation', 'TrentService.constructor', '{}', [400, 'UnknownOperationException']],
    ['other service', 'secretsmanager.DescribeKey', '{}', [400, 'UnknownOperationException']],
    ['no target', '', '{}', [400, 'UnknownOperationException']],
    ['no JSON', describeKey, '{"KeyId":', [400, 'SerializationException']],
    ['a list', describeKey, '[]', [400, 'SerializationException']],
    ['wrong type', describeKey, '{"KeyId":1}', [400, 'SerializationException']],
    [
      'a blob that is no base64',
      'TrentService.Decrypt',
      '{"CiphertextBlob":"not base64!"}',
      [400, 'SerializationException'],
    ],
    ['nothing', describeKey, '', [400, 'ValidationException']],
    ['too much', describeKey, `"${'x'.repeat(1 << 20)}"`, [413, 'RequestEntityTooLargeException']],
  ])('%s', async (_, target, body, expected) => {
    const { status, json } = await signedCall({ endpoint: aws.endpoints.kms, service: 'kms', target, body })
    expect([status, json.__type]).toEqual(expected)
  })

  test('an operation that is not offered is unknown to the SDK too', async () => {
    await expect(aws.kms.send(new ScheduleKeyDeletionCommand({ KeyId: signing }))).rejects.toMatchObject({
      name: 'UnknownOperationException',
    })
  })
})

describe('the file', () => {
  test('keeps keys and aliases over a restart, for its owner only, and damage is named', async () => {
    const kmsPath = join(await mkdtemp(join(tmpdir(), 'keyplane-')), 'kms.json')
    const first = await startAws({ kmsPath })
    const KeyId = await makeSigningKey(first)
    await first.kms.send(new CreateAliasCommand({ AliasName: 'alias/a', TargetKeyId: KeyId }))
    const before = await first.kms.send(new GetPublicKeyCommand({ KeyId: 'alias/a' }))
    await first.stop()

    const second = await startAws({ kmsPath })
    const after = await second.kms.send(new GetPublicKeyCommand({ KeyId: 'alias/a' }))
    await second.stop()
    expect(after.PublicKey).toEqual(before.PublicKey)
    expect((await stat(kmsPath)).mode & 0o777).toBe(0o600)

    const content = await readFile(kmsPath, 'utf8')
    for (const damaged of [content.slice(0, -20), content.replace('alias/a"', 'alias/b"'), '', '[]', 'null'])
      await writeFile(kmsPath, damaged).then(() =>
        expect(startAws({ kmsPath })).rejects.toThrow(
          /^The data file .*kms\.json is damaged: restore it from a copy, or remove the folder .* to start afresh\.$/,
        ),
      )
  })
})
