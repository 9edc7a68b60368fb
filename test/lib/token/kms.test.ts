import { generateKeyPairSync, sign, verify } from 'node:crypto'
import { CreateKeyCommand, KMSClient } from '@aws-sdk/client-kms'
import { calculateJwkThumbprint, createLocalJWKSet, jwtVerify } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Claims } from '../../../lib/token/claims.ts'
import { jwksDocument } from '../../../lib/token/jwks.ts'
import { signToken } from '../../../lib/token/jwt.ts'
import { connectKms, kmsSigner } from '../../../lib/token/kms.ts'
import { type Aws, credentials, region, startAws } from '../../support/aws.ts'

let aws: Aws
const keys: string[] = []

async function makeKey(): Promise<string> {
  const { KeyMetadata } = await aws.kms.send(
    new CreateKeyCommand({ KeySpec: 'ECC_NIST_P256', KeyUsage: 'SIGN_VERIFY' }),
  )
  return KeyMetadata?.KeyId ?? ''
}

beforeAll(async () => {
  aws = await startAws()
  for (let i = 0; i < 2; i++) keys.push(await makeKey())
})
afterAll(() => aws.stop())

/** Counts outgoing calls by name. `answer` may replace KMS. */
function countCalls(answer?: (command: string) => object | undefined) {
  const calls: string[] = []
  const client = new KMSClient({ region, credentials, maxAttempts: 1, endpoint: aws.endpoints.kms })
  client.middlewareStack.add(
    (next, { commandName = '' }) =>
      async (args) => {
        calls.push(commandName)
        const output = answer?.(commandName)
        return output ? { output: { $metadata: {}, ...output }, response: {} } : next(args)
      },
    { step: 'initialize' },
  )
  return { calls, connect: async () => client }
}

const pair = () => [keys[0] ?? '', keys[1] ?? ''] as [string, string]
const unavailable = {
  status: { code: 503, reason: 'ServiceUnavailable', message: 'the token signer is not available' },
}

describe('kmsSigner', () => {
  test('publishes every key by thumbprint, in the given order', async () => {
    const { connect } = countCalls()
    const [first, second] = await kmsSigner(pair(), connect).keys()
    const [turned] = await kmsSigner([pair()[1], pair()[0]], connect).keys()
    expect(second).toEqual(turned)
    expect(first.kid).toBe(await calculateJwkThumbprint({ kty: first.kty, crv: first.crv, x: first.x, y: first.y }))
    expect(first).toMatchObject({ kty: 'EC', crv: 'P-256', alg: 'ES256', use: 'sig' })
    expect(first.kid).not.toBe(second?.kid)
  })

  test('signs with the key of the kid, even messages over the KMS limit for raw messages', async () => {
    const { connect } = countCalls()
    const signer = kmsSigner(pair(), connect)
    const bytes = new Uint8Array(9000).fill(7)
    for (const key of await signer.keys()) {
      const raw = await signer.sign(key.kid, bytes)
      const jwk = { kty: 'EC', crv: 'P-256', x: key.x, y: key.y }
      expect(verify('sha256', bytes, { key: jwk, format: 'jwk', dsaEncoding: 'ieee-p1363' }, raw)).toBe(true)
    }
  })

  test('signs tokens with the first key, and jose verifies them with the published keys', async () => {
    const { connect } = countCalls()
    const signer = kmsSigner(pair(), connect)
    const iat = Math.floor(Date.now() / 1000)
    const token = await signToken({ iss: 'https://a', sub: 'ci', iat, exp: iat + 3600 } as Claims, signer)
    const jwks = await jwksDocument(signer)
    const { payload, protectedHeader } = await jwtVerify(token, createLocalJWKSet(jwks), { issuer: 'https://a' })
    expect(payload.sub).toBe('ci')
    expect(protectedHeader.kid).toBe(jwks.keys[0]?.kid)
  })

  test('reads public keys once, even for concurrent callers', async () => {
    const { calls, connect } = countCalls()
    const signer = kmsSigner(pair(), connect)
    await Promise.all([signer.keys(), signer.keys(), jwksDocument(signer)])
    await jwksDocument(signer)
    expect(calls).toEqual(['GetPublicKeyCommand', 'GetPublicKeyCommand'])
  })

  test('retries a failed read at the next call', async () => {
    let broken = true
    const { connect } = countCalls(() => {
      if (broken) throw Object.assign(new Error('arn:aws:kms:secret'), { name: 'ThrottlingException' })
      return undefined
    })
    const signer = kmsSigner(pair(), connect)
    await expect(signer.keys()).rejects.toMatchObject(unavailable)
    broken = false
    expect(await signer.keys()).toHaveLength(2)
  })
})

describe('kmsSigner throws 503 without internal details', () => {
  test.each(['arn:aws:kms:eu-central-1:000000000000:key/00000000-0000-4000-8000-000000000000', 'nonsense'])(
    'for a missing key: %s',
    async (keyId) => {
      const failure = await kmsSigner([keyId], countCalls().connect)
        .keys()
        .catch((error) => error)
      expect(failure).toMatchObject(unavailable)
      expect(JSON.stringify(failure.status)).not.toContain(keyId)
      expect(failure.cause).toBeInstanceOf(Error)
    },
  )

  test('for a key of another curve', async () => {
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-384' })
    const PublicKey = publicKey.export({ format: 'der', type: 'spki' })
    const { connect } = countCalls((command) => (command === 'GetPublicKeyCommand' ? { PublicKey } : undefined))
    await expect(kmsSigner(pair(), connect).keys()).rejects.toMatchObject(unavailable)
  })

  test('for a kid that is not configured', () =>
    expect(kmsSigner(pair(), countCalls().connect).sign('other', new Uint8Array())).rejects.toMatchObject(unavailable))

  test('for a signature that the published key does not verify', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const { connect } = countCalls((command) =>
      command === 'SignCommand' ? { Signature: sign('sha256', new Uint8Array(3), privateKey) } : undefined,
    )
    const signer = kmsSigner(pair(), connect)
    const [{ kid }] = await signer.keys()
    await expect(signer.sign(kid, new Uint8Array(3))).rejects.toMatchObject(unavailable)
  })

  test('for an answer without a signature', async () => {
    const { connect } = countCalls((command) => (command === 'SignCommand' ? {} : undefined))
    const signer = kmsSigner(pair(), connect)
    const [{ kid }] = await signer.keys()
    await expect(signer.sign(kid, new Uint8Array(3))).rejects.toMatchObject(unavailable)
  })

  test('for an unreachable endpoint', async () => {
    const gone = await startAws()
    await gone.stop()
    const connect = () => connectKms({ region, credentials, endpoint: gone.endpoints.kms, maxAttempts: 1 })
    await expect(kmsSigner(pair(), connect).keys()).rejects.toMatchObject(unavailable)
  })
})
