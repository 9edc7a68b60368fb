/** Signs tokens of any form, also of forms that no library writes. */
import { CompactSign, type CryptoKey, exportJWK, generateKeyPair } from 'jose'
import type { JsonObject } from '../../../lib/engine/meta/types.ts'
import type { SignatureAlgorithm } from '../../../lib/federation/algorithms.ts'
import { normalizeKeySet, type PublicKey } from '../../../lib/federation/jwks.ts'

export const NOW = 1_700_000_000
export const now = new Date(NOW * 1000)

/** The claims that every ID token has. */
export const claims: JsonObject = {
  iss: 'https://issuer.example.com',
  sub: 'job:1',
  aud: 'https://keys.example.com',
  iat: NOW - 10,
  exp: NOW + 300,
}

export interface SigningKey {
  alg: SignatureAlgorithm
  privateKey: CryptoKey
  publicKey: PublicKey
}

export async function createSigningKey(alg: SignatureAlgorithm, kid?: string): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  const jwk = { ...(await exportJWK(publicKey)), ...(kid !== undefined && { kid }) }
  const [key] = normalizeKeySet({ keys: [jwk as JsonObject] })
  if (!key) throw new Error(`the key for ${alg} is not usable`)
  return { alg, privateKey, publicKey: key }
}

/** Signs a payload as it is. `header` may change `alg` after signing, or add what jose would refuse. */
export async function signText(
  { alg, privateKey, publicKey }: SigningKey,
  payload: string,
  header: JsonObject = {},
): Promise<string> {
  const { kid } = publicKey
  return new CompactSign(new TextEncoder().encode(payload))
    .setProtectedHeader({ alg, ...(kid !== undefined && { kid }), typ: 'JWT', ...header })
    .sign(privateKey)
}

export const sign = (key: SigningKey, changes: JsonObject = {}, header?: JsonObject): Promise<string> =>
  signText(key, JSON.stringify({ ...claims, ...changes }), header)

export const encode = (part: unknown): string =>
  Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url')

/** Returns a token of this header and payload that nobody signed. */
export const unsigned = (header: unknown, payload: unknown, signature = 'c2lnbmF0dXJl'): string =>
  `${encode(header)}.${encode(payload)}.${signature}`
