/**
 * Returns how a cluster of Amazon EKS is reached, without a stored credential: its address from EKS, and a bearer token of the role of
 * the deployment, which an access entry of the cluster names.
 */
import type { AwsCredentials } from '../../outbound/awssignature.ts'
import { type Fetched, keepFetched } from '../../outbound/fetched.ts'
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

/** The credentials of a role are valid for an hour. A token that they sign is accepted for 15 minutes. */
const KEEP_ROLE_MS = 40 * 60_000
/** As for secrets: an administrator may have moved the cluster. */
const KEEP_ADDRESS_MS = 5 * 60_000
/** The oldest entry is evicted first. */
const KEEP_MOST = 2000

/** The name of the sessions, which is in the audit logs of AWS and of the clusters. */
const SESSION = 'keyplane'

/** Returns the credentials of clusters. One role serves all of them. Without its ARN, the settings list no clusters. */
export function createEks(arn: string | undefined, aws: Aws): Eks {
  const now = () => aws.now().getTime()
  const addresses = new Map<string, Fetched<EksAddress>>()
  const role = keepFetched<AwsCredentials>(() => assumeRole(arn ?? '', SESSION, aws), { freshMs: KEEP_ROLE_MS, now })

  function addressOf(cluster: EksCluster): Fetched<EksAddress> {
    const key = eksReference(cluster)
    const address =
      addresses.get(key) ?? keepFetched(() => describeCluster(cluster, aws), { freshMs: KEEP_ADDRESS_MS, now })
    addresses.set(key, address)
    const [oldest] = addresses.keys()
    if (addresses.size > KEEP_MOST && oldest !== undefined) addresses.delete(oldest)
    return address
  }

  return {
    async credentials(label, cluster, fresh = false) {
      if (!arn) throw clusterError('credentials', label, 'the setting eks-cluster-arns names no cluster')
      const ask = fresh ? 'refresh' : 'get'
      const [address, credentials] = await Promise.all([
        addressOf(cluster)
          [ask]()
          .catch((error) => {
            if (error instanceof NotDescribed) throw clusterError('credentials', label, error.message, error)
            throw clusterError('undescribed', label, '', error)
          }),
        role[ask]().catch((error) => {
          throw clusterError('no-role', label, '', error)
        }),
      ])
      return { ...address, token: eksBearer(cluster.name, cluster.region, credentials, aws.now()) }
    },
  }
}
