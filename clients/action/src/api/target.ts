/** Says what the kube config of a step is for. */

export type Target =
  | { type: 'virtualCluster'; project: string; name: string }
  | {
      type: 'cluster'
      name: string
      /** How clients reach it. Absent: as the object of the cluster says. */
      address?: Address
    }
  /** The management API itself. */
  | { type: 'management' }

export interface Address {
  /** The URL of the kube-apiserver. */
  server: string
  /** PEM. */
  certificateAuthority?: string
}

/** Returns the target in words. */
export function describe(target: Target): string {
  if (target.type === 'virtualCluster') return `virtual cluster ${target.project}/${target.name}`
  return target.type === 'cluster' ? `cluster ${target.name}` : 'the management API'
}
