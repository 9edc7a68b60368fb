/**
 * Reads the public keys of an issuer (RFC 7517). Takes only the members that verifying needs, so that nothing else of what
 * an issuer sends is stored.
 */
import { createPublicKey } from 'node:crypto'
import { parseJson } from '../engine/meta/encoding/json.ts'
import { modulusBits } from '../engine/meta/encoding/keysizes.ts'
import type { JsonObject, JsonValue } from '../engine/meta/types.ts'
import { isObject } from '../engine/meta/value/walk.ts'
import { fitsAlgorithm, isAlgorithm, signatureAlgorithms } from './algorithms.ts'

/** A public key of an issuer, as it is stored. It is not an interface, so that it can be assigned to JsonObject. */
export type PublicKey = {
  kty: 'RSA' | 'EC' | 'OKP'
  kid?: string
  alg?: string
  use?: 'sig'
  crv?: string
  x?: string
  y?: string
  n?: string
  e?: string
}

/** Thrown for a key set that cannot be used. The message quotes nothing of it. */
export class UnusableKeySet extends Error {
  override readonly name = 'UnusableKeySet'
}

export const MAX_KEYS = 100
const MIN_MODULUS_BITS = 2048
const MAX_VALUES = 5000

/** The members that only private and symmetric keys have. RFC 7518 section 6. */
export const SECRET_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']

/**
 * Returns the keys of a key set that can verify ID tokens. Throws UnusableKeySet when the text is not a key set, when it has
 * more than 100 keys, and when any of them is private: an issuer that publishes private keys can be trusted with nothing.
 */
export const parseKeySet = (text: string): PublicKey[] => normalizeKeySet(decode(text))

/** Reads a decoded key set, as `parseKeySet` does. */
export function normalizeKeySet(value: JsonValue): PublicKey[] {
  const entries = isObject(value) ? value.keys : undefined
  if (!Array.isArray(entries)) throw new UnusableKeySet('must be a JSON object with a list of keys')
  if (entries.length > MAX_KEYS) throw new UnusableKeySet(`must have at most ${MAX_KEYS} keys`)
  if (entries.some((entry) => isObject(entry) && SECRET_MEMBERS.some((name) => Object.hasOwn(entry, name)))) {
    throw new UnusableKeySet('contains a private or symmetric key: publish only public keys, and replace this one')
  }
  return entries.flatMap((entry) => (isObject(entry) ? (toPublicKey(entry) ?? []) : []))
}

function decode(text: string): JsonValue {
  let parsed: ReturnType<typeof parseJson>
  try {
    parsed = parseJson(text, MAX_VALUES)
  } catch {
    // The message of the decoder quotes a character of the text.
    throw new UnusableKeySet('must be valid JSON')
  }
  if (parsed.duplicates.length > 0) throw new UnusableKeySet('has a member twice')
  return parsed.value
}

/** The algorithms of keys for encryption and key agreement begin so. RFC 7518 section 4.1. */
const ENCRYPTION = /^(RSA-OAEP|RSA1_5|ECDH-ES)/

/** Reports whether a key may be for signatures: it names no other use (RFC 7517 sections 4.2 to 4.4). */
export function isForSignatures({ use, key_ops: operations, alg }: JsonObject): boolean {
  if (use !== undefined && use !== 'sig') return false
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes('verify'))) return false
  return !(typeof alg === 'string' && ENCRYPTION.test(alg))
}

/** Returns the members that verifying needs, or undefined if the key cannot verify ID tokens. */
function toPublicKey(entry: JsonObject): PublicKey | undefined {
  const { kty, kid, alg, use } = entry
  if (kid !== undefined && typeof kid !== 'string') return undefined
  if (alg !== undefined && !isAlgorithm(alg)) return undefined
  if (!isForSignatures(entry)) return undefined
  const material = toMaterial(kty, entry)
  if (!material) return undefined
  const key: PublicKey = {
    ...material,
    ...(kid !== undefined && { kid }),
    ...(alg && { alg }),
    ...(use && { use: 'sig' }),
  }
  return signatureAlgorithms.some((one) => fitsAlgorithm(key, one)) && isSound(key) ? key : undefined
}

type Material = Pick<PublicKey, 'kty' | 'crv' | 'x' | 'y' | 'n' | 'e'>

function toMaterial(kty: JsonValue | undefined, { crv, x, y, n, e }: JsonObject): Material | undefined {
  if (kty === 'RSA') return isBase64url(n) && isBase64url(e) ? { kty, n, e } : undefined
  if (typeof crv !== 'string' || !isBase64url(x)) return undefined
  if (kty === 'EC') return isBase64url(y) ? { kty, crv, x, y } : undefined
  return kty === 'OKP' ? { kty, crv, x } : undefined
}

const isBase64url = (value: JsonValue | undefined): value is string =>
  typeof value === 'string' && value !== '' && Buffer.from(value, 'base64url').toString('base64url') === value

/** The bytes of a coordinate on each curve. */
const COORDINATE_BYTES: Readonly<Record<string, number>> = { 'P-256': 32, 'P-384': 48, 'P-521': 66, Ed25519: 32 }

/** Reports whether the key has an accepted size, and is a point of its curve as the cryptography library says. */
function isSound(key: PublicKey): boolean {
  if (!hasSoundSize(key)) return false
  try {
    createPublicKey({ key, format: 'jwk' })
    return true
  } catch {
    return false
  }
}

function hasSoundSize({ crv = '', x = '', y = '', n = '', e = '', kty }: PublicKey): boolean {
  if (kty === 'RSA') {
    return (modulusBits(Buffer.from(n, 'base64url'), Buffer.from(e, 'base64url')) ?? 0) >= MIN_MODULUS_BITS
  }
  const most = COORDINATE_BYTES[crv] ?? 0
  return [x, y].every((one) => Buffer.byteLength(one, 'base64url') <= most)
}
