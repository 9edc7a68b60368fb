/** Verifies tokens that keyplane signed. */
import { createLocalJWKSet, type JWTPayload, jwtVerify } from 'jose'
import type { Claims } from '../../../lib/clusters/token/claims.ts'
import { PRIVATE_CLAIM } from '../../../lib/clusters/token/contract.ts'
import { MAX_TOKEN_LENGTH } from '../../../lib/clusters/token/jwt.ts'
import type { PublicKey } from '../../../lib/clusters/token/signer.ts'
import { unauthorized } from '../../../lib/engine/meta/errors/status.ts'

export interface Expectations {
  issuer: string
  /** The token must have at least one of these audiences. */
  audience: string | string[]
  now: Date
}

/**
 * Returns the claims of a valid token of keyplane. Throws a 401 without a reason otherwise. There is no leeway, because
 * issuer and verifier have the same clock. The caller checks the token's key and scopes.
 */
export async function verifyOwnToken(
  jwt: string,
  jwks: { keys: PublicKey[] },
  { issuer, audience, now }: Expectations,
): Promise<Claims> {
  if (jwt.length > MAX_TOKEN_LENGTH) throw unauthorized()
  const payload = await jwtVerify(jwt, createLocalJWKSet(jwks), {
    algorithms: ['ES256', 'RS256'],
    issuer,
    audience,
    typ: 'JWT',
    currentDate: now,
    requiredClaims: ['sub', 'iat', 'nbf', 'exp', 'jti'],
  }).then(
    (verified) => verified.payload,
    () => undefined,
  )
  if (!payload || !isComplete(payload)) throw unauthorized()
  return payload
}

/**
 * Reports whether all claims are present. The signature proves that keyplane signed the token; this check proves that its
 * version knows the same claims.
 */
function isComplete(payload: JWTPayload): payload is JWTPayload & Claims {
  const { groups } = payload
  const own = payload[PRIVATE_CLAIM] as Partial<Claims[typeof PRIVATE_CLAIM]> | undefined
  return (
    Array.isArray(groups) &&
    groups.every((group) => typeof group === 'string') &&
    Array.isArray(payload.aud) &&
    typeof own?.scopes === 'string' &&
    typeof own.key?.name === 'string' &&
    typeof own.key.uid === 'string' &&
    typeof own.key.run === 'string'
  )
}
