/**
 * Creates the API objects of the demo virtual cluster: VirtualClusterInstance p-demo/demo, owned by user alice, and the access
 * key of the cluster itself, as docs/clusters.md describes.
 */
import { createApiClient } from './apiclient.ts'
import { ensureObject } from './ensureobject.ts'

export const DEMO = { namespace: 'p-demo', name: 'demo', owner: 'alice', project: 'demo' } as const

export interface DemoOptions {
  /** URL of the API group and version. */
  api: string
  /** PEM of the authority of that server. */
  authority: string
  /** Access key of a user in the group system:masters. */
  accessKey: string
  cluster: { url: string; certificateAuthority: string }
  /** Access key for the cluster's reviews. Every start generates a new one, since it is stored nowhere else. */
  clusterKey: string
}

/** Creates or updates both and returns the uid of the instance. */
export async function ensureDemo({ api, authority, accessKey, cluster, clusterKey }: DemoOptions): Promise<string> {
  const client = createApiClient(authority, accessKey)
  const { uid } = await ensureObject(client, `${api}/namespaces/${DEMO.namespace}/virtualclusterinstances`, {
    kind: 'VirtualClusterInstance',
    name: DEMO.name,
    spec: (current) => ({
      ...current,
      displayName: 'Demo',
      owner: { user: DEMO.owner },
      accessPoint: { ingress: { enabled: true, host: new URL(cluster.url).host } },
      certificateAuthorityData: Buffer.from(cluster.certificateAuthority).toString('base64'),
    }),
  })
  await ensureObject(client, `${api}/ownedaccesskeys`, {
    kind: 'OwnedAccessKey',
    name: `vcluster-${DEMO.name}`,
    spec: () => ({
      displayName: 'The demo virtual cluster, for its reviews',
      user: `vcluster-${DEMO.name}`,
      key: clusterKey,
      scope: { roles: [{ role: 'vcluster', virtualClusters: [`${DEMO.project}/${DEMO.name}`] }] },
    }),
  })
  return uid
}
