import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../../lib/engine/meta/types.ts'
import { MAX_KEYS, normalizeKeySet, parseKeySet, UnusableKeySet } from '../../../lib/federation/jwks.ts'

const pair = (curve: string) => generateKeyPairSync('ec', { namedCurve: curve })
const rsaPair = (modulusLength: number) => generateKeyPairSync('rsa', { modulusLength })
const publicJwk = ({ publicKey }: { publicKey: ReturnType<typeof pair>['publicKey'] }) =>
  publicKey.export({ format: 'jwk' }) as JsonObject

const rsa = publicJwk(rsaPair(2048))
const ec = publicJwk(pair('P-256'))
const ed = publicJwk(generateKeyPairSync('ed25519'))

describe('normalizeKeySet', () => {
  test.each<[string, JsonObject]>([
    ['RSA', rsa],
    ['P-256', ec],
    ['P-384', publicJwk(pair('P-384'))],
    ['P-521', publicJwk(pair('P-521'))],
    ['Ed25519', ed],
  ])('takes %s keys', (_, key) => expect(normalizeKeySet({ keys: [key] })).toEqual([key]))

  test('takes an RSA exponent of 8 bytes', () => {
    const long = { ...rsa, e: 'AQAAAAAAAAE' }
    expect(normalizeKeySet({ keys: [long] })).toEqual([long])
  })

  test('takes only the members that verifying needs', () => {
    const useful = { ...rsa, kid: 'a', alg: 'RS256', use: 'sig' }
    const others = {
      x5c: ['MII'],
      x5t: 'x',
      x5u: 'https://evil.example.com',
      key_ops: ['verify'],
      note: 'text',
      iat: 5,
    }
    expect(normalizeKeySet({ keys: [{ ...useful, ...others }], note: 'text' })).toEqual([useful])
  })

  const changed = (value: string) => `${value.startsWith('A') ? 'B' : 'A'}${value.slice(1)}`
  test.each<[string, JsonValue]>([
    ['of an unknown type', { kty: 'AKP', pub: 'AA' }],
    ['without a type', { ...rsa, kty: null }],
    ['for encryption', { ...rsa, use: 'enc' }],
    ['with other operations', { ...rsa, key_ops: ['encrypt'] }],
    ['of an algorithm for encryption', { ...rsa, alg: 'RSA-OAEP' }],
    ['of a symmetric algorithm', { ...rsa, alg: 'HS256' }],
    ['of an algorithm for another type', { ...rsa, alg: 'ES256' }],
    ['of an algorithm for another curve', { ...ec, alg: 'ES384' }],
    ['of 1024 bits', publicJwk(rsaPair(1024))],
    [
      'of 2041 bits',
      {
        ...rsa,
        n: Buffer.from(rsa.n as string, 'base64url')
          .fill(1, 0, 1)
          .toString('base64url'),
      },
    ],
    ['of 16384 bits', { ...rsa, n: Buffer.alloc(2048, 255).toString('base64url') }],
    ['with the exponent 1', { ...rsa, e: 'AQ' }],
    ['with an even exponent', { ...rsa, e: 'AQAC' }],
    ['with an exponent of 9 bytes', { ...rsa, e: 'AQAAAAAAAAAB' }],
    ['with an even modulus', { ...rsa, n: Buffer.alloc(256, 254).toString('base64url') }],
    ['with a coordinate of 33 bytes', { ...ec, x: `AAAA${ec.x}` }],
    ['without an exponent', { kty: 'RSA', n: rsa.n ?? null }],
    ['with padding', { ...ec, x: `${ec.x}=` }],
    ['off the curve', { ...ec, x: changed(String(ec.x)) }],
    ['of a curve without algorithm', publicJwk(pair('secp256k1'))],
    ['for key agreement', publicJwk(generateKeyPairSync('x25519'))],
    ['of Ed448', publicJwk(generateKeyPairSync('ed448'))],
    ['with a kid that is no text', { ...rsa, kid: 5 }],
    ['that is text', 'key'],
    ['that is null', null],
    ['that is a list', [rsa]],
  ])('skips a key %s, and keeps the others', (_, key) => {
    expect(normalizeKeySet({ keys: [key, ec] })).toEqual([ec])
  })

  const SECRET = 'c2VjcmV0'
  // threat: exchange-22
  test.each(['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'])(
    'refuses the whole set when a key has the member %s, and does not repeat it',
    (member) => {
      const attempt = () => normalizeKeySet({ keys: [ec, { ...rsa, [member]: SECRET }] })
      expect(attempt).toThrow(UnusableKeySet)
      expect(attempt).toThrow('contains a private or symmetric key: publish only public keys, and replace this one')
      expect(attempt).not.toThrow(SECRET)
    },
  )

  test('refuses a symmetric key', () =>
    expect(() => normalizeKeySet({ keys: [{ kty: 'oct', k: SECRET }] })).toThrow(UnusableKeySet))

  test.each<[string, JsonValue, string]>([
    ['a list', [rsa], 'must be a JSON object with a list of keys'],
    ['nothing', null, 'must be a JSON object with a list of keys'],
    ['no keys', {}, 'must be a JSON object with a list of keys'],
    ['keys by id', { keys: { a: rsa } }, 'must be a JSON object with a list of keys'],
    ['too many keys', { keys: Array.from({ length: MAX_KEYS + 1 }, () => ec) }, 'must have at most 100 keys'],
  ])('refuses %s', (_, set, message) => expect(() => normalizeKeySet(set)).toThrow(new UnusableKeySet(message)))

  test('accepts an empty set and 100 keys', () => {
    expect(normalizeKeySet({ keys: [] })).toEqual([])
    expect(normalizeKeySet({ keys: Array.from({ length: MAX_KEYS }, () => ec) })).toHaveLength(MAX_KEYS)
  })
})

describe('parseKeySet', () => {
  test('reads a text', () => expect(parseKeySet(JSON.stringify({ keys: [ec] }))).toEqual([ec]))

  test.each([
    ['<html>', 'must be valid JSON'],
    ['', 'must be valid JSON'],
    ['{"keys":[]}{}', 'must be valid JSON'],
    ['{"keys":[],"keys":[]}', 'has a member twice'],
    [`{"keys":[{"kty":"RSA","kty":"EC"}]}`, 'has a member twice'],
    ['{"keys":[{"__proto__":{"kty":"EC"}}]}', 'must be valid JSON'],
    [`{"keys":[${'[],'.repeat(6000)}[]]}`, 'must be valid JSON'],
  ])('refuses %s', (text, message) => expect(() => parseKeySet(text)).toThrow(new UnusableKeySet(message)))
})
