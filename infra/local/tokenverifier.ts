/** Verifies our tokens as any cluster does: by the issuer's public documents, for one audience. */
import { PRIVATE_CLAIM } from '../../lib/token/claims.ts'
import { DISCOVERY_PATH } from '../../lib/token/jwks.ts'
import type { PublicKey } from '../../lib/token/signer.ts'
import { verifyOwnToken } from '../../lib/token/verify.ts'
import { createApiClient } from './apiclient.ts'
import type { ClusterUser } from './clusteraccess.ts'

export interface TokenVerifierOptions {
  issuer: string
  /** PEM of the authority of the issuer's server. */
  authority: string
  audience: string
  /** Unix milliseconds. */
  now: () => number
}

/** How long the keys are used without asking again; a token that fails asks again, but not more often. */
const FRESH_MS = 10_000

/** No scopes at all: JSON text, as PrivateClaim says. */
const UNRESTRICTED = '[]'

/**
 * undefined for every token that is not good here. A token with scopes is not: judging it takes the review webhook of a
 * real kube-apiserver, and without that it would be worth more than it should.
 */
export function createTokenVerifier({ issuer, authority, audience, now }: TokenVerifierOptions) {
  const client = createApiClient(authority)
  let kept: { keys: PublicKey[]; fetched: number } | undefined

  async function keys(): Promise<PublicKey[]> {
    if (kept && kept.fetched > now() - FRESH_MS) return kept.keys
    const discovery = (await client.send('GET', `${issuer}${DISCOVERY_PATH}`)).body as { jwks_uri: string }
    const jwks = (await client.send('GET', discovery.jwks_uri)).body as { keys: PublicKey[] }
    kept = { keys: jwks.keys, fetched: now() }
    return kept.keys
  }

  return async (token: string): Promise<ClusterUser | undefined> => {
    try {
      const claims = await verifyOwnToken(token, { keys: await keys() }, { issuer, audience, now: new Date(now()) })
      if (claims[PRIVATE_CLAIM].scopes !== UNRESTRICTED) return undefined
      return { name: claims.sub, groups: claims.groups }
    } catch {
      return undefined
    }
  }
}
