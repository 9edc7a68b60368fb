/**
 * Returns how a cluster of Amazon EKS is reached, without a stored credential: its address from EKS, and a bearer token of the role of
 * the deployment, which an access entry of the cluster names.
 */
import type { AwsCredentials } from '../../engine/outbound/awssignature.ts'
import { type Fetched, keepFetched } from '../../engine/outbound/fetched.ts'
import type { Credentials } from '../cluster/credentials.ts'
import { clusterError } from '../cluster/failure.ts'
import { assumeRole } from './assumerole.ts'
import type { Aws } from './awsservice.ts'
import { eksBearer } from './bearer.ts'
import { describeCluster, type EksAddress, NotDescribed } from './describecluster.ts'
import { type EksCluster, eksReference } from './reference.ts'

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
/** As for secrets: an administrator may have moved the cluster, or taken away the right to describe it. */
const KEEP_ADDRESS = { freshMs: 5 * 60_000, staleMs: 15 * 60_000, retryMs: RETRY_MS }
/** The cluster asks AWS about each token that is new to it. AWS answers for 15 minutes. */
const KEEP_TOKEN_MS = 60_000
/** The oldest entry is evicted first. */
const KEEP_MOST = 2000

/** The name of the sessions, which is in the audit logs of AWS and of the clusters. */
const SESSION = 'keyplane'

/** What is kept of a cluster. */
interface Kept {
  address: Fetched<EksAddress>
  credentials: Fetched<Credentials>
}

/** Returns the credentials of clusters. One role serves all of them. Without its ARN, the settings list no clusters. */
export function createEks(arn: string | undefined, aws: Aws): Eks {
  const now = () => aws.now().getTime()
  const clusters = new Map<string, Kept>()
  const role = keepFetched<AwsCredentials>(() => assumeRole(arn ?? '', SESSION, aws), { ...KEEP_ROLE, now })

  function keep(label: string, cluster: EksCluster): Kept {
    const address = keepFetched(() => describeCluster(cluster, aws), { ...KEEP_ADDRESS, now })
    const compose = async (): Promise<Credentials> => {
      const [where, credentials] = await Promise.all([
        address.get().catch((error) => {
          if (error instanceof NotDescribed) throw clusterError('credentials', label, error.message, error)
          throw clusterError('undescribed', label, '', error)
        }),
        role.get().catch((error) => {
          throw clusterError('no-role', label, '', error)
        }),
      ])
      return { ...where, token: eksBearer(cluster.name, cluster.region, credentials, aws.now()) }
    }
    return { address, credentials: keepFetched(compose, { freshMs: KEEP_TOKEN_MS, now }) }
  }

  function keptOf(label: string, cluster: EksCluster): Kept {
    // With the label, which is in messages: two objects may name one cluster.
    const key = `${label} ${eksReference(cluster)}`
    const kept = clusters.get(key) ?? keep(label, cluster)
    clusters.set(key, kept)
    const [oldest] = clusters.keys()
    if (clusters.size > KEEP_MOST && oldest !== undefined) clusters.delete(oldest)
    return kept
  }

  return {
    async credentials(label, cluster, fresh = false) {
      if (!arn) throw clusterError('credentials', label, 'the setting eks-cluster-arns names no cluster')
      const { address, credentials } = keptOf(label, cluster)
      if (!fresh) return credentials.get()
      // What fails here fails again below, with its sentence.
      await Promise.allSettled([address.refresh(), role.refresh()])
      return credentials.refresh()
    },
  }
}
