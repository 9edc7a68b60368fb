/** Verifies the signatures of ID tokens with the public keys of their issuer. */
import { compactVerify } from 'jose'
import { fitsAlgorithm } from './algorithms.ts'
import type { IdToken } from './idtoken.ts'
import type { PublicKey } from './jwks.ts'

/** An issuer that publishes several keys under one id makes every verification slower, so only these are tried. */
const MAX_CANDIDATES = 4

/**
 * Returns the keys that may have signed the token: those with its key id that fit its algorithm, at most 4. A token without
 * a key id has a candidate only when exactly one key fits.
 */
export function candidateKeys(token: Pick<IdToken, 'alg' | 'kid'>, keys: readonly PublicKey[]): readonly PublicKey[] {
  const fitting = keys.filter((key) => fitsAlgorithm(key, token.alg))
  if (token.kid === undefined) return fitting.length === 1 ? fitting : []
  return fitting.filter(({ kid }) => kid === token.kid).slice(0, MAX_CANDIDATES)
}

/**
 * Reports whether one of the keys signed the token. The caller checks that the provider accepts the algorithm, and judges
 * issuer, audience and times.
 */
export async function verifySignature(token: IdToken, keys: readonly PublicKey[]): Promise<boolean> {
  for (const key of candidateKeys(token, keys)) {
    const valid = await compactVerify(token.text, key, { algorithms: [token.alg] }).then(
      () => true,
      () => false,
    )
    if (valid) return true
  }
  return false
}
