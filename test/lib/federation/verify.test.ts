import { createPublicKey } from 'node:crypto'
import { CompactSign } from 'jose'
import { beforeAll, describe, expect, test } from 'vitest'
import { type SignatureAlgorithm, signatureAlgorithms } from '../../../lib/federation/algorithms.ts'
import { type IdToken, parseIdToken, replayId } from '../../../lib/federation/idtoken.ts'
import type { PublicKey } from '../../../lib/federation/jwks.ts'
import { candidateKeys, verifySignature } from '../../../lib/federation/verify.ts'
import { claims, createSigningKey, encode, type SigningKey, sign, signText } from './signing.ts'

const keys = {} as Record<SignatureAlgorithm, SigningKey>
beforeAll(async () => {
  for (const alg of signatureAlgorithms) keys[alg] = await createSigningKey(alg, `key-${alg}`)
})

const publicKeys = () => Object.values(keys).map(({ publicKey }) => publicKey)
const verify = (text: string, trusted: readonly PublicKey[] = publicKeys()) =>
  verifySignature(parseIdToken(text), trusted)

describe('verifySignature', () => {
  test.each(signatureAlgorithms)('accepts a token signed with %s, and no longer when the key is gone', async (alg) => {
    const text = await sign(keys[alg])
    expect(await verify(text)).toBe(true)
    expect(
      await verify(
        text,
        publicKeys().filter((key) => key !== keys[alg].publicKey),
      ),
    ).toBe(false)
    expect(await verify(text, [])).toBe(false)
  })

  // threat: exchange-14
  test.each<SignatureAlgorithm>(['RS256', 'ES256', 'EdDSA'])(
    'rejects a token of %s signed with another key of the same id',
    async (alg) => expect(await verify(await sign(await createSigningKey(alg, `key-${alg}`)))).toBe(false),
  )

  test('rejects a token that names another key', async () => {
    const other = await createSigningKey('ES256', 'other')
    const text = await sign({ ...keys.ES256, publicKey: { ...keys.ES256.publicKey, kid: 'other' } })
    expect(await verify(text, [keys.ES256.publicKey, other.publicKey])).toBe(false)
  })

  test.each(['../../etc/passwd', "' OR 1=1 --", 'k'.repeat(8000), '', '__proto__', 'key-ES256 ', 'KEY-ES256'])(
    'finds no key for the id %s',
    async (kid) =>
      expect(await verify(await sign({ ...keys.ES256, publicKey: { ...keys.ES256.publicKey, kid } }))).toBe(false),
  )

  // threat: exchange-14
  test('rejects an algorithm that the key does not have', async () => {
    const { publicKey, privateKey } = keys.ES256
    const payload = new TextEncoder().encode(JSON.stringify(claims))
    const token = await new CompactSign(payload).setProtectedHeader({ alg: 'ES256', kid: 'key-ES256' }).sign(privateKey)
    const signature = token.split('.')[2]
    for (const alg of signatureAlgorithms.filter((one) => one !== 'ES256')) {
      const text = `${encode({ alg, kid: 'key-ES256' })}.${encode(claims)}.${signature}`
      expect([alg, await verify(text, [publicKey])]).toEqual([alg, false])
    }
    expect(await verify(await sign(keys.RS256), [{ ...keys.RS256.publicKey, alg: 'RS512' }])).toBe(false)
    expect(await verify(await sign(keys.RS256), [{ ...keys.RS256.publicKey, alg: 'RS256' }])).toBe(true)
  })

  test('takes a token without a key id only when one key fits', async () => {
    const { kid: _, ...anonymous } = keys.ES256.publicKey
    const text = await sign({ ...keys.ES256, publicKey: anonymous })
    expect(await verify(text, [keys.ES256.publicKey, keys.RS256.publicKey])).toBe(true)
    const second = (await createSigningKey('ES256', 'second')).publicKey
    expect(await verify(text, [keys.ES256.publicKey, second])).toBe(false)
  })

  test('takes no key without an id for a token with one', async () => {
    const { kid: _, ...anonymous } = keys.ES256.publicKey
    expect(await verify(await sign(keys.ES256), [anonymous])).toBe(false)
  })

  test('tries up to 4 keys of one id', async () => {
    const same = await Promise.all(Array.from({ length: 4 }, () => createSigningKey('ES256', 'key-ES256')))
    const others = same.map(({ publicKey }) => publicKey)
    const text = await sign(keys.ES256)
    expect(await verify(text, [...others.slice(0, 3), keys.ES256.publicKey])).toBe(true)
    expect(await verify(text, [...others, keys.ES256.publicKey])).toBe(false)
    expect(candidateKeys(parseIdToken(text), [...others, keys.ES256.publicKey])).toHaveLength(4)
  })

  test('rejects an RSA key of 1024 bits that reached it in another way', async () => {
    const { publicKey } = keys.RS256
    const short = { ...publicKey, n: Buffer.alloc(128, 255).toString('base64url') }
    expect(await verify(await sign(keys.RS256), [short])).toBe(false)
  })

  // threat: exchange-14
  test('never sees HS256 with the public key as secret', async () => {
    const { publicKey } = keys.RS256
    const pem = createPublicKey({ key: publicKey, format: 'jwk' }).export({ type: 'spki', format: 'pem' })
    const secret = new TextEncoder().encode(String(pem))
    const forged = await new CompactSign(new TextEncoder().encode(JSON.stringify(claims)))
      .setProtectedHeader({ alg: 'HS256', kid: 'key-RS256', typ: 'JWT' })
      .sign(secret)
    expect(() => parseIdToken(forged)).toThrow('alg in the header of the subject token is not supported')
  })
})

describe('a signed token', () => {
  const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const flip = (text: string, at: number, bit: number): string => {
    const index = BASE64URL.indexOf(text.charAt(at))
    const changed = index < 0 ? BASE64URL.charAt(bit) : BASE64URL.charAt(index ^ (1 << bit))
    return text.slice(0, at) + changed + text.slice(at + 1)
  }
  const parse = (text: string): IdToken | undefined => {
    try {
      return parseIdToken(text)
    } catch {
      return undefined
    }
  }

  test.each<SignatureAlgorithm>(['RS256', 'ES256', 'EdDSA'])(
    'of %s is not verified when any bit of it is flipped',
    async (alg) => {
      const text = await sign(keys[alg])
      let parsed = 0
      for (let at = 0; at < text.length; at++) {
        for (const bit of [0, 3, 5]) {
          const token = parse(flip(text, at, bit))
          if (!token) continue
          parsed++
          expect([at, bit, await verifySignature(token, publicKeys())]).toEqual([at, bit, false])
        }
      }
      expect(parsed).toBeGreaterThan(100)
    },
  )

  // threat: exchange-10
  test('is not read when any member of its payload is there twice, although the issuer signed it', async () => {
    for (const [name, value] of Object.entries(claims)) {
      const doubled = `${JSON.stringify(claims).slice(0, -1)},${JSON.stringify(name)}:${JSON.stringify(value)}}`
      expect([name, parse(await signText(keys.ES256, doubled))]).toEqual([name, undefined])
    }
  })

  // threat: exchange-15, exchange-29
  test('with a rewritten ECDSA signature is verified, but has the same replay id', async () => {
    const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
    const token = parseIdToken(await sign(keys.ES256))
    const s = BigInt(`0x${Buffer.from(token.signature.subarray(32)).toString('hex')}`)
    const twin = Buffer.from((order - s).toString(16).padStart(64, '0'), 'hex')
    const rewritten = Buffer.concat([token.signature.subarray(0, 32), twin]).toString('base64url')
    const other = parseIdToken(`${token.signingInput}.${rewritten}`)
    expect(other.text).not.toBe(token.text)
    expect(await verifySignature(other, publicKeys())).toBe(true)
    expect(replayId(other)).toBe(replayId(token))
  })
})
