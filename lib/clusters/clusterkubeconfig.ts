/** Defines ClusterKubeConfig, the kubeconfig of a connected cluster. */

import { int64, object, string } from '../engine/meta/schema/schema.ts'
import type { VirtualKind } from '../engine/registry/kind.ts'
import { KINDS } from '../kinds.ts'
import { Cluster } from './cluster.ts'
import { kubeConfigOf } from './kubeconfigs.ts'
import type { ClusterServices } from './services.ts'

const spec = object('The requested kubeconfig.', {
  ttl: int64(
    'Time to live of the token in seconds. 0 or absent means the default of one day. A token of a service account is valid for at least 600 seconds.',
    { minimum: 0 },
  ),
  server: string('https URL to write to the kubeconfig instead of the one of the cluster.'),
})

export const ClusterKubeConfig: VirtualKind<ClusterServices> = kubeConfigOf(Cluster, {
  ...KINDS.ClusterKubeConfig,
  description:
    'The kubeconfig of a connected cluster, with the token that a DirectClusterEndpointToken for this cluster has, or with a token of a service account of the cluster. The server returns it once and does not store it.',
  type: 'cluster',
  noun: 'cluster',
  spec,
})
