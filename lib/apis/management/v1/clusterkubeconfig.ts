/** Defines ClusterKubeConfig, the kubeconfig of a connected cluster. */
import { KINDS } from '../../../kinds/kinds.ts'
import { accountCluster } from '../../../kubeconfig/accountcluster.ts'
import { connectedCluster } from '../../../kubeconfig/connectedcluster.ts'
import { clusterTarget } from '../../../kubeconfig/serviceaccounts/target.ts'
import { type FromSchema, int64, object, string } from '../../../meta/schema/schema.ts'
import type { VirtualKind } from '../../../registry/kind.ts'
import { Cluster } from './cluster.ts'
import { kubeConfigOf } from './kubeconfigs.ts'
import type { Services } from './services.ts'

const spec = object('The requested kubeconfig.', {
  ttl: int64(
    'Time to live of the token in seconds. 0 or absent means the default of one day. A token of a service account is valid for at least 600 seconds.',
    { minimum: 0 },
  ),
  server: string('https URL to write to the kubeconfig instead of the one of the cluster.'),
})

export const ClusterKubeConfig: VirtualKind<Services> = kubeConfigOf(Cluster, {
  ...KINDS.ClusterKubeConfig,
  description:
    'The kubeconfig of a connected cluster, with the token that a DirectClusterEndpointToken for this cluster has, or with a token of a service account of the cluster. The server returns it once and does not store it.',
  noun: 'cluster',
  spec,
  async parent(cluster, request, { user, now, dryRun, deadline }, { tokens, serviceAccounts }) {
    const wanted = (request.spec ?? {}) as FromSchema<typeof spec>
    const asked = { cluster, spec: wanted, user, now, dryRun, deadline }
    const target = clusterTarget(cluster)
    return target
      ? accountCluster(asked, target, { ...serviceAccounts, maxSeconds: tokens.settings.maxSeconds })
      : connectedCluster(asked, tokens)
  },
})
