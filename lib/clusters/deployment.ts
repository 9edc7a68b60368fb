/** Names deployments in kube configs: kubectl merges files by the names of their entries, and the first of two equal ones counts. */

/** The path of the API below its stage or domain. */
export const BASE_PATH = '/kubernetes/management'

/** Returns the name of a deployment by its URL: its host, and its stage if it has one. */
export function deploymentName(url: string): string {
  const { host, pathname } = new URL(url)
  return host + (pathname.endsWith(BASE_PATH) ? pathname.slice(0, -BASE_PATH.length) : pathname.replace(/\/$/, ''))
}

/** Returns the name of a virtual cluster in kube configs. */
export const instanceEntry = ({ name, namespace }: { name: string; namespace: string }): string =>
  `${name}.${namespace}`

/** Returns the name of a cluster, and of its user and context, in kube configs. Namespaces contain no dot, and names no `@`. */
export const entryNameOf = (cluster: string, url: string): string => `${cluster}@${deploymentName(url)}`
