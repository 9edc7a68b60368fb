/** Reading back our own tokens. */
import { createLocalJWKSet, type JWTPayload, jwtVerify } from 'jose'
import { unauthorized } from '../meta/errors/status.ts'
import { type Claims, PRIVATE_CLAIM } from './claims.ts'
import { MAX_TOKEN_LENGTH } from './jwt.ts'
import type { PublicKey } from './signer.ts'

export interface Expectations {
  issuer: string
  /** One of these must be among the token's audiences. */
  audience: string | string[]
  now: Date
}

/**
 * The claims of a token of ours, or a 401 that does not say why. No leeway: issuer and verifier are the same system.
 * Whether its key is still alive and its scopes allow a request is not asked here.
 */
export async function verifyOwnToken(
  jwt: string,
  jwks: { keys: PublicKey[] },
  { issuer, audience, now }: Expectations,
): Promise<Claims> {
  if (jwt.length > MAX_TOKEN_LENGTH) throw unauthorized()
  const payload = await jwtVerify(jwt, createLocalJWKSet(jwks), {
    algorithms: ['ES256'],
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

/** The signature proves that we wrote it; this proves that this version of us did. */
function isComplete(payload: JWTPayload): payload is JWTPayload & Claims {
  const { groups } = payload
  const own = payload[PRIVATE_CLAIM] as Partial<Claims[typeof PRIVATE_CLAIM]> | undefined
  return (
    Array.isArray(groups) &&
    groups.every((group) => typeof group === 'string') &&
    Array.isArray(payload.aud) &&
    typeof own?.scopes === 'string' &&
    typeof own.key?.name === 'string' &&
    typeof own.key.uid === 'string'
  )
}
