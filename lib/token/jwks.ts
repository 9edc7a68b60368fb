/**
 * The two public documents that let anybody verify our tokens. Both are made of public keys that the signer keeps, so
 * answering costs no call once they are loaded.
 */
import type { PublicKey, Signer } from './signer.ts'

/** Below the issuer. OpenID Connect Discovery 1.0 section 4. */
export const DISCOVERY_PATH = '/.well-known/openid-configuration'
export const JWKS_PATH = '/openid/v1/jwks'

/**
 * 5 minutes: a new key is published a whole deploy before it signs, a removed one has no living tokens. kube-apiserver
 * keeps keys on its own terms and asks again when it meets an unknown kid.
 */
export const CACHE_CONTROL = 'public, max-age=300'

export interface Discovery {
  issuer: string
  jwks_uri: string
  response_types_supported: string[]
  subject_types_supported: string[]
  id_token_signing_alg_values_supported: string[]
}

/** The members that OpenID Connect Discovery requires of an issuer without an authorization endpoint. */
export const discoveryDocument = (issuer: string): Discovery => ({
  issuer,
  jwks_uri: `${issuer}${JWKS_PATH}`,
  response_types_supported: ['id_token'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['ES256'],
})

/** RFC 7517 section 5. Rejects with the signer's StatusError (503). */
export const jwksDocument = async (signer: Signer): Promise<{ keys: PublicKey[] }> => ({
  keys: [...(await signer.keys())],
})

/**
 * The issuer, if it is one that kube-apiserver takes: https, no user, query, fragment or closing slash. Throws: a
 * wrong issuer must not survive a deploy.
 */
export function checkIssuer(text: string): string {
  const url = URL.parse(text)
  const bare = url && `${url.protocol}//${url.host}${url.pathname === '/' ? '' : url.pathname}`
  if (url?.protocol !== 'https:' || bare !== text || text.endsWith('/')) {
    throw new Error(`the issuer must be an https URL without user, query, fragment and closing slash: ${text}`)
  }
  return text
}
