/** Says what the kube config of a step is for. */

export type Target =
  | { type: 'virtualCluster'; project: string; name: string }
  | {
      type: 'cluster'
      name: string
      /** The URL of its kube-apiserver. */
      server: string
      /** PEM. */
      certificateAuthority?: string
    }
  /** The management API itself. */
  | { type: 'management' }

/** Returns the target in words. */
export function describe(target: Target): string {
  if (target.type === 'virtualCluster') return `virtual cluster ${target.project}/${target.name}`
  return target.type === 'cluster' ? `cluster ${target.name}` : 'the management API'
}
