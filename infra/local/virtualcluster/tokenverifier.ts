/** Verifies keyplane's tokens as any cluster does: with the issuer's public documents, for one audience. */
import { EXTRA, PRIVATE_CLAIM } from '../../../lib/clusters/token/contract.ts'
import { DISCOVERY_PATH } from '../../../lib/clusters/token/jwks.ts'
import type { PublicKey } from '../../../lib/clusters/token/signer.ts'
import { createApiClient } from './apiclient.ts'
import type { VerifyToken } from './clusteraccess.ts'
import { verifyOwnToken } from './verifytoken.ts'

export interface TokenVerifierOptions {
  issuer: string
  /** PEM of the authority of the issuer's server. */
  authority: string
  audience: string
  /** Unix milliseconds. */
  now: () => number
}

/** How long the keys are cached. A token that fails verification also fetches them, at most this often. */
const FRESH_MS = 10_000

/** Creates a function that returns the user of a token with the extras of docs/clusters.md, or undefined for an invalid token. */
export function createTokenVerifier({ issuer, authority, audience, now }: TokenVerifierOptions): VerifyToken {
  const client = createApiClient(authority)
  let kept: { keys: PublicKey[]; fetched: number } | undefined

  async function keys(): Promise<PublicKey[]> {
    if (kept && kept.fetched > now() - FRESH_MS) return kept.keys
    const discovery = (await client.send('GET', `${issuer}${DISCOVERY_PATH}`)).body as { jwks_uri: string }
    const jwks = (await client.send('GET', discovery.jwks_uri)).body as { keys: PublicKey[] }
    kept = { keys: jwks.keys, fetched: now() }
    return kept.keys
  }

  return async (token) => {
    try {
      const claims = await verifyOwnToken(token, { keys: await keys() }, { issuer, audience, now: new Date(now()) })
      const { key, scopes } = claims[PRIVATE_CLAIM]
      const extra = {
        [EXTRA.key]: [key.name],
        [EXTRA.keyUid]: [key.uid],
        [EXTRA.run]: [key.run],
        [EXTRA.scopes]: [scopes],
        [EXTRA.target]: [audience.slice(issuer.length + 1)],
        [EXTRA.issuedAt]: [String(claims.iat)],
      }
      return { name: claims.sub, groups: claims.groups, extra }
    } catch {
      return undefined
    }
  }
}
