/** Chooses the parent of a kube config: by what the stored object is, and by who issues the tokens of the cluster. */
import type { NamedPlace } from '../access/scopes/place.ts'
import type { KubeObject } from '../engine/meta/types.ts'
import { accountCluster, accountInstance } from './accountcluster.ts'
import type { IssueServices } from './boundtokens.ts'
import { type ClusterRequest, connectedCluster } from './connectedcluster.ts'
import { toInstance } from './instance.ts'
import type { Parent } from './kubeconfig.ts'
import { clusterTarget, instanceTarget } from './serviceaccounts/target.ts'
import type { IssuerSettings } from './token/issuer.ts'
import type { Signer } from './token/signer.ts'
import { type VirtualClusterRequest, type VirtualClusterServices, virtualCluster } from './virtualcluster.ts'

export interface ParentRequest extends Pick<ClusterRequest, 'user' | 'now' | 'deadline'> {
  type: NamedPlace['type']
  /** The stored Cluster or VirtualClusterInstance. */
  object: KubeObject
  /** The request for the kube config of this type. */
  spec: ClusterRequest['spec'] & VirtualClusterRequest['spec']
}

export interface ParentServices {
  tokens: { settings: IssuerSettings; signer: Signer }
  serviceAccounts: IssueServices
  kubeConfigs: VirtualClusterServices
}

/** Returns the parent, as this request asks for its kube config. Throws what the parents throw. */
export function parentOf({ type, object, ...asked }: ParentRequest, services: ParentServices): Parent {
  const { tokens, serviceAccounts, kubeConfigs } = services
  if (type === 'cluster') {
    const target = clusterTarget(object)
    const request = { ...asked, cluster: object }
    return target
      ? accountCluster(request, target, { ...serviceAccounts, maxSeconds: tokens.settings.maxSeconds })
      : connectedCluster(request, tokens)
  }
  const target = asked.spec.exec ? undefined : instanceTarget(object)
  return target
    ? accountInstance({ ...asked, object }, target, { ...serviceAccounts, limits: kubeConfigs.limits })
    : virtualCluster({ ...asked, instance: toInstance(object) }, kubeConfigs)
}
