/**
 * Builds the public documents with which anyone can verify tokens and find the token endpoint. The signer caches the public
 * keys, so responses cost no call once the keys are loaded.
 */
import type { PublicKey, Signer } from './signer.ts'

/** Below the issuer. OpenID Connect Discovery 1.0 section 4. */
export const DISCOVERY_PATH = '/.well-known/openid-configuration'
export const JWKS_PATH = '/openid/v1/jwks'
/**
 * Below the URL of the API, because other services may have the root of the host. Before the base path, as RFC 8414 section 3 says, it
 * can be reached where the API has a domain of its own: API Gateway serves nothing before the name of a stage.
 */
export const METADATA_PATH = '/.well-known/oauth-authorization-server'
const TOKEN_PATH = '/oauth2/token'
const REVOCATION_PATH = '/oauth2/revoke'

/** The grant type of a token exchange (RFC 8693). */
export const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'

/**
 * 5 minutes. A new key is published one deploy before it signs, and a removed key has no valid tokens left.
 * kube-apiserver caches keys on its own terms and refetches them when it meets an unknown kid.
 */
export const CACHE_CONTROL = 'public, max-age=300'

/**
 * Returns the members that OpenID Connect Discovery requires of an issuer without an authorization endpoint, and the OAuth
 * endpoints (RFC 8414). Those are at the URL of the API, which may differ from the issuer. Rejects with the signer's StatusError (503).
 */
export const discoveryDocument = async (issuer: string, apiUrl: string, signer: Signer) => ({
  issuer,
  jwks_uri: `${issuer}${JWKS_PATH}`,
  response_types_supported: ['id_token'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: [...new Set((await signer.keys()).map(({ alg }) => alg))],
  token_endpoint: `${apiUrl}${TOKEN_PATH}`,
  revocation_endpoint: `${apiUrl}${REVOCATION_PATH}`,
  grant_types_supported: [TOKEN_EXCHANGE],
  token_endpoint_auth_methods_supported: ['none'],
  // The default of RFC 8414 is a client secret.
  revocation_endpoint_auth_methods_supported: ['none'],
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
