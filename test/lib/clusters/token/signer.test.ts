/** Tests the signer over both holders of its keys: KMS, which an emulator speaks for, and this process. */
import { generateKeyPairSync, sign, verify } from 'node:crypto'
import { KMSClient } from '@aws-sdk/client-kms'
import { calculateJwkThumbprint, createLocalJWKSet, jwtVerify } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openLocalKeys } from '../../../../infra/local/aws/signingkeys.ts'
import type { Claims } from '../../../../lib/clusters/token/claims.ts'
import { jwksDocument } from '../../../../lib/clusters/token/jwks.ts'
import { signToken } from '../../../../lib/clusters/token/jwt.ts'
import { connectKms, kmsKeys } from '../../../../lib/clusters/token/kms.ts'
import { createSigner } from '../../../../lib/clusters/token/signer.ts'
import type { SigningKeys } from '../../../../lib/clusters/token/signingkeys.ts'
import { type Aws, credentials, region, startAws } from '../../../support/aws.ts'

type Pair = [string, string]

let aws: Aws
beforeAll(async () => {
  aws = await startAws()
})
afterAll(() => aws.stop())

/** Counts outgoing calls by name. `answer` may replace KMS. */
function countCalls(answer?: (command: string) => object | undefined) {
  const calls: string[] = []
  const client = new KMSClient({ region, credentials, maxAttempts: 1, endpoint: aws.url })
  client.middlewareStack.add(
    (next, { commandName = '' }) =>
      async (args) => {
        calls.push(commandName)
        const output = answer?.(commandName)
        return output ? { output: { $metadata: {}, ...output }, response: {} } : next(args)
      },
    { step: 'initialize' },
  )
  const keys = kmsKeys(async () => client)
  return { calls, keys: () => keys }
}

const kms = async () => ({ pair: [aws.makeKey(), aws.makeKey('RS256')] as Pair, ...countCalls() })

async function local() {
  const { open, ensureKey } = await openLocalKeys(undefined, 'arn:key/')
  const calls: string[] = []
  const keys = open(() => void calls.push('a call'))
  return {
    pair: [await ensureKey('alias/one'), await ensureKey('alias/two', 'RS256')] as Pair,
    calls,
    keys: () => keys,
  }
}

const unavailable = {
  status: { code: 503, reason: 'ServiceUnavailable', message: 'the token signer is not available' },
}

describe.each([
  ['KMS', kms],
  ['this process', local],
])('a signer with keys of %s', (_, open) => {
  let pair: Pair
  let calls: string[]
  let keys: () => SigningKeys
  beforeAll(async () => {
    ;({ pair, calls, keys } = await open())
  })

  test('publishes every key by thumbprint, in the given order', async () => {
    const [first, second] = await createSigner(pair, keys).keys()
    const [turned] = await createSigner([pair[1], pair[0]], keys).keys()
    expect(second).toEqual(turned)
    expect(first).toMatchObject({ kty: 'EC', crv: 'P-256', alg: 'ES256', use: 'sig' })
    expect(second).toMatchObject({ kty: 'RSA', e: 'AQAB', alg: 'RS256', use: 'sig' })
    for (const key of [first, turned]) expect(key.kid).toBe(await calculateJwkThumbprint(key))
  })

  test('signs with the key of the kid, even messages over the KMS limit for raw messages', async () => {
    const signer = createSigner(pair, keys)
    const bytes = new Uint8Array(9000).fill(7)
    for (const key of await signer.keys()) {
      const raw = await signer.sign(key.kid, bytes)
      expect(verify('sha256', bytes, { key, format: 'jwk', dsaEncoding: 'ieee-p1363' }, raw)).toBe(true)
    }
  })

  test.each(['ES256', 'RS256'])(
    'signs tokens with the first key, and jose verifies %s with the published keys',
    async (alg) => {
      const signer = createSigner(alg === 'ES256' ? pair : [pair[1], pair[0]], keys)
      const iat = Math.floor(Date.now() / 1000)
      const token = await signToken({ iss: 'https://a', sub: 'ci', iat, exp: iat + 3600 } as Claims, signer)
      const jwks = await jwksDocument(signer)
      const { payload, protectedHeader } = await jwtVerify(token, createLocalJWKSet(jwks), { issuer: 'https://a' })
      expect(payload.sub).toBe('ci')
      expect(protectedHeader).toEqual({ alg, kid: jwks.keys[0]?.kid, typ: 'JWT' })
    },
  )

  test('reads public keys once, even for concurrent callers', async () => {
    calls.length = 0
    const signer = createSigner(pair, keys)
    await Promise.all([signer.keys(), signer.keys(), jwksDocument(signer)])
    await jwksDocument(signer)
    expect(calls).toHaveLength(2)
  })

  test('throws 503 without internal details for a missing key', async () => {
    const keyId = 'arn:aws:kms:eu-central-1:000000000000:key/00000000-0000-4000-8000-000000000000'
    const failure = await createSigner([keyId], keys)
      .keys()
      .catch((error) => error)
    expect(failure).toMatchObject(unavailable)
    expect(JSON.stringify(failure.status)).not.toContain(keyId)
    expect(failure.cause).toBeInstanceOf(Error)
  })

  test('throws 503 for a kid that is not configured', () =>
    expect(createSigner(pair, keys).sign('other', new Uint8Array())).rejects.toMatchObject(unavailable))
})

test('a failed read is retried at the next call', async () => {
  let broken = true
  const { keys } = countCalls(() => {
    if (broken) throw Object.assign(new Error('arn:aws:kms:secret'), { name: 'ThrottlingException' })
    return undefined
  })
  const signer = createSigner([aws.makeKey(), aws.makeKey()], keys)
  await expect(signer.keys()).rejects.toMatchObject(unavailable)
  broken = false
  expect(await signer.keys()).toHaveLength(2)
})

// threat: storage-9
describe('a signer throws 503 without internal details', () => {
  test.each([
    ['a key of another curve', () => generateKeyPairSync('ec', { namedCurve: 'P-384' })],
    ['a short RSA key', () => generateKeyPairSync('rsa', { modulusLength: 1024 })],
  ])('for %s', async (_, generate) => {
    const { publicKey } = generate()
    const PublicKey = publicKey.export({ format: 'der', type: 'spki' })
    const { keys } = countCalls((command) => (command === 'GetPublicKeyCommand' ? { PublicKey } : undefined))
    await expect(createSigner([aws.makeKey()], keys).keys()).rejects.toMatchObject(unavailable)
  })

  // threat: storage-8
  test('for a signature that the published key does not verify', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const { keys } = countCalls((command) =>
      command === 'SignCommand' ? { Signature: sign('sha256', new Uint8Array(3), privateKey) } : undefined,
    )
    const signer = createSigner([aws.makeKey()], keys)
    const [{ kid }] = await signer.keys()
    await expect(signer.sign(kid, new Uint8Array(3))).rejects.toMatchObject(unavailable)
  })

  test('for an answer without a signature', async () => {
    const { keys } = countCalls((command) => (command === 'SignCommand' ? {} : undefined))
    const signer = createSigner([aws.makeKey()], keys)
    const [{ kid }] = await signer.keys()
    await expect(signer.sign(kid, new Uint8Array(3))).rejects.toMatchObject(unavailable)
  })

  test('for an unreachable endpoint', async () => {
    const gone = await startAws()
    await gone.stop()
    const keys = kmsKeys(() => connectKms({ region, credentials, endpoint: gone.url, maxAttempts: 1 }))
    await expect(createSigner(['a'], () => keys).keys()).rejects.toMatchObject(unavailable)
  })
})
