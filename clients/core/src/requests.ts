/** The requests of credentials that several clients send. */
import type { ExecApi } from './plugin.ts'

export const GROUP_VERSION = 'management.platform/v1'

/** Returns the media type of an ExecCredential. */
export const execType = (version: ExecApi = 'v1'): string =>
  `application/json;as=ExecCredential;g=client.authentication.k8s.io;v=${version}`

/** Asks for an ExecCredential. A server that does not know this form answers with the object itself. */
export const EXEC_CREDENTIAL = `${execType()},application/json`

/** A create: its path below that of the group version, and its body. */
export interface Create {
  path: string
  body: { apiVersion: string; kind: string; spec: Record<string, unknown> }
}

const create = (path: string, kind: string, spec: Record<string, unknown>): Create => ({
  path,
  body: { apiVersion: GROUP_VERSION, kind, spec },
})

/** Returns the request of a token for a connected cluster. */
export const clusterToken = (cluster: string, seconds: number): Create =>
  create('directclusterendpointtokens', 'DirectClusterEndpointToken', {
    ttl: seconds,
    scope: { clusters: [{ cluster }] },
  })

/** Returns the request of a kube config of a connected cluster, whose object has the address. */
export const clusterKubeConfig = (cluster: string, seconds: number): Create =>
  create(`clusters/${encodeURIComponent(cluster)}/kubeconfig`, 'ClusterKubeConfig', { ttl: seconds })

/** Returns the request of a kube config of a virtual cluster. */
export const kubeConfig = (namespace: string, name: string, spec: Record<string, unknown>): Create =>
  create(
    `namespaces/${encodeURIComponent(namespace)}/virtualclusterinstances/${encodeURIComponent(name)}/kubeconfig`,
    'VirtualClusterInstanceKubeConfig',
    spec,
  )
