/** Removes the Secrets to which tokens of service accounts are bound. */
import type { Bound } from '../authentication/boundsecrets.ts'
import { clusterError, isFailure } from './cluster/failure.ts'
import { type SecretServices, storedCredentials } from './clustersecret.ts'
import { removeSecret } from './serviceaccounts/boundtoken.ts'
import { clusterIn } from './serviceaccounts/target.ts'
import type { VirtualClusterServices } from './virtualcluster.ts'

export interface AccountServices
  extends Pick<VirtualClusterServices, 'connect' | 'deadline'>,
    Pick<SecretServices, 'secrets'> {
  /** `keyplane/STAGE/clusters/`, the only prefix that IAM allows for connected clusters. */
  secretPrefix: string
}

/** How long a cluster may take to remove a Secret. */
const REMOVAL_MS = 5000

/**
 * Removes a Secret. Rejects with a ClusterError unless its cluster confirms that. The address in the credentials may be another one by
 * now: that the Secret is not there means nothing then.
 */
export async function removeBoundSecret(bound: Bound, placeKey: string, services: AccountServices): Promise<void> {
  const label = clusterIn(placeKey)
  const { secretRef: reference, server: fallbackServer } = bound
  const { secretPrefix: prefix } = services
  const attempt = async (fresh: boolean): Promise<void> => {
    const where = { cluster: label, prefix, reference, field: 'the credentials', fallbackServer }
    const credentials = await storedCredentials(where, services.secrets, fresh)
    const client = services.connect(label, credentials, { keepsConnections: true })
    const outcome = await removeSecret(bound, { client, signal: services.deadline(REMOVAL_MS) })
    if (outcome === 'missing' && credentials.server !== bound.server)
      throw clusterError('credentials', label, 'their address has changed, and the cluster there has no such Secret')
  }
  await attempt(false).catch((error) => {
    if (!isFailure(error, 'unauthorized', 'credentials')) throw error
    return attempt(true)
  })
}
