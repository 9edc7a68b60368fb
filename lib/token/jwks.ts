/**
 * Builds the two public documents with which anyone can verify tokens. The signer caches the public keys, so responses
 * cost no call once the keys are loaded.
 */
import type { PublicKey, Signer } from './signer.ts'

/** Below the issuer. OpenID Connect Discovery 1.0 section 4. */
export const DISCOVERY_PATH = '/.well-known/openid-configuration'
export const JWKS_PATH = '/openid/v1/jwks'

/**
 * 5 minutes. A new key is published one deploy before it signs, and a removed key has no valid tokens left.
 * kube-apiserver caches keys on its own terms and refetches them when it meets an unknown kid.
 */
export const CACHE_CONTROL = 'public, max-age=300'

export interface Discovery {
  issuer: string
  jwks_uri: string
  response_types_supported: string[]
  subject_types_supported: string[]
  id_token_signing_alg_values_supported: string[]
}

/** Returns the members that OpenID Connect Discovery requires of an issuer without an authorization endpoint. */
export const discoveryDocument = (issuer: string): Discovery => ({
  issuer,
  jwks_uri: `${issuer}${JWKS_PATH}`,
  response_types_supported: ['id_token'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['ES256'],
})

/** Returns the key set (RFC 7517 section 5). Rejects with the signer's StatusError (503). */
export const jwksDocument = async (signer: Signer): Promise<{ keys: PublicKey[] }> => ({
  keys: [...(await signer.keys())],
})

/**
 * Returns the issuer if kube-apiserver accepts it: https, without user, query, fragment or trailing slash. Otherwise
 * throws, so that a deploy with an invalid issuer fails.
 */
export function checkIssuer(text: string): string {
  const url = URL.parse(text)
  const bare = url && `${url.protocol}//${url.host}${url.pathname === '/' ? '' : url.pathname}`
  if (url?.protocol !== 'https:' || bare !== text || text.endsWith('/')) {
    throw new Error(`the issuer must be an https URL without user, query, fragment or trailing slash: ${text}`)
  }
  return text
}
