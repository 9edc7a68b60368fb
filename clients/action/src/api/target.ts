/** Says what the kube config of a step is for. */
import type { Network } from '../../../../lib/clusters/cluster/network.ts'
import { clusterAudience, virtualClusterAudience } from '../../../core/src/exchange.ts'

export type Target =
  | { type: 'virtualCluster'; project: string; name: string }
  | {
      type: 'cluster'
      name: string
      /** Further clusters, of the same exchange. */
      others?: readonly string[]
      /** How clients reach it. Absent: as the object of the cluster says. */
      address?: Address
    }
  /** The management API itself. */
  | { type: 'management' }

export type ClusterTarget = Exclude<Target, { type: 'management' }>

export interface Address extends Network {
  /** The URL of the kube-apiserver. */
  server: string
  /** PEM. */
  certificateAuthority?: string
}

/** Returns the names of the connected clusters of a target. */
export const namesOf = ({ name, others = [] }: Extract<Target, { type: 'cluster' }>): readonly string[] => [
  name,
  ...others,
]

/** Returns the audiences of an exchange. An access key, with which a client talks to the management API, has none. */
export function audiencesOf(target: Target | undefined): string[] {
  if (target?.type === 'virtualCluster') return [virtualClusterAudience(target.project, target.name)]
  return target?.type === 'cluster' ? namesOf(target).map(clusterAudience) : []
}

/** Returns the target in words. */
export function describe(target: Target): string {
  if (target.type === 'virtualCluster') return `virtual cluster ${target.project}/${target.name}`
  if (target.type === 'management') return 'the management API'
  const names = namesOf(target)
  return `${names.length > 1 ? 'clusters' : 'cluster'} ${names.join(', ')}`
}
