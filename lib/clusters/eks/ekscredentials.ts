/**
 * Returns how a cluster of Amazon EKS is reached, without a stored credential: with a bearer token of the role of the deployment, which an
 * access entry of the cluster names. The cluster may be in any account.
 */
import type { AwsCredentials } from '../../engine/outbound/awssignature.ts'
import { type Fetched, keepFetched } from '../../engine/outbound/fetched.ts'
import type { Credentials } from '../cluster/credentials.ts'
import { clusterError } from '../cluster/failure.ts'
import { assumeRole, type Sts } from './assumerole.ts'
import { eksBearer } from './bearer.ts'

/** A cluster of Amazon EKS: where it is, and the name that its authenticator has. */
export interface EksCluster {
  name: string
  server: string
  /** PEM. */
  certificateAuthority?: string
}

export interface Eks {
  /**
   * Returns the address and a token. Rejects with a ClusterError. `fresh` bypasses what is kept, for when the cluster rejects the token.
   * See clusterError for `label`.
   */
  credentials(label: string, cluster: EksCluster, fresh?: boolean): Promise<Credentials>
}

/** How long after a failure AWS is asked again, where what it said is still usable: keys also end while a service of AWS is away. */
const RETRY_MS = 30_000
/** The credentials of a role are valid for an hour. A token that they sign is accepted for as long as they are, up to 15 minutes. */
const KEEP_ROLE = { freshMs: 40 * 60_000, staleMs: 55 * 60_000, retryMs: RETRY_MS }
/** The cluster asks AWS about each token that is new to it. AWS answers for 15 minutes. */
const KEEP_TOKEN_MS = 60_000
/** The oldest entry is evicted first. */
const KEEP_MOST = 2000

/** The name of the sessions, which is in the audit logs of AWS and of the clusters. */
const SESSION = 'keyplane'

/** Returns the credentials of clusters. One role serves all of them. */
export function createEks(role: string | undefined, sts: Sts): Eks {
  const now = () => sts.now().getTime()
  const tokens = new Map<string, Fetched<string>>()
  const assumed = keepFetched<AwsCredentials>(() => assumeRole(role ?? '', SESSION, sts), { ...KEEP_ROLE, now })

  /**
   * Returns the tokens for a cluster. A token is bound to nothing but the name of its cluster, so no two addresses are sent the same:
   * whoever is at one of them could use it at the other.
   */
  function tokensOf({ name, server, certificateAuthority = '' }: EksCluster): Fetched<string> {
    const key = JSON.stringify([name, server, certificateAuthority])
    const sign = async () => eksBearer(name, sts.region, await assumed.get(), sts.now())
    const kept = tokens.get(key) ?? keepFetched(sign, { freshMs: KEEP_TOKEN_MS, now })
    tokens.set(key, kept)
    const [oldest] = tokens.keys()
    if (tokens.size > KEEP_MOST && oldest !== undefined) tokens.delete(oldest)
    return kept
  }

  return {
    async credentials(label, { name, ...address }, fresh = false) {
      if (!role) throw clusterError('no-role', label, 'it has none')
      const kept = tokensOf({ name, ...address })
      // What fails here fails again below.
      if (fresh) await assumed.refresh().catch(() => undefined)
      const token = await (fresh ? kept.refresh() : kept.get()).catch((error) => {
        throw clusterError('no-role', label, '', error)
      })
      return { ...address, token }
    },
  }
}
