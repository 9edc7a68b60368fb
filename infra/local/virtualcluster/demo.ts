/**
 * Creates the API objects of the demo virtual cluster: VirtualClusterInstance p-demo/demo, owned by user alice, and the access
 * key of the cluster itself, as docs/clusters.md describes.
 */

import { StartupError } from '../host/startuperror.ts'
import { type ApiClient, createApiClient } from './apiclient.ts'

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
  const { uid } = await ensure(client, `${api}/namespaces/${DEMO.namespace}/virtualclusterinstances`, {
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
  await ensure(client, `${api}/ownedaccesskeys`, {
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

interface Wanted {
  kind: string
  name: string
  /** Derives the object from the existing one, if any. */
  spec(current: object): object
}

interface Answered {
  metadata: { uid: string }
  spec?: object
}

async function ensure(client: ApiClient, collection: string, { kind, name, spec }: Wanted): Promise<{ uid: string }> {
  const made = { apiVersion: 'management.platform/v1', kind, metadata: { name }, spec: spec({}) }
  const created = await client.send('POST', collection, made)
  if (created.status === 201) return (created.body as Answered).metadata
  const url = `${collection}/${name}`
  const read = await client.send('GET', url)
  if (created.status !== 409 || read.status !== 200) throw failed(created.body)
  const current = read.body as Answered
  const updated = await client.send('PUT', url, { ...current, spec: spec(current.spec ?? {}) })
  if (updated.status !== 200) throw failed(updated.body)
  return (updated.body as Answered).metadata
}

const failed = (status: unknown): StartupError =>
  new StartupError(
    `The demo virtual cluster cannot be created: ${(status as { message?: string } | undefined)?.message}.`,
  )
