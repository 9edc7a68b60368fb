/** The demo virtual cluster as an object of the API: VirtualClusterInstance p-demo/demo, owned by user alice. */
import { createApiClient } from './apiclient.ts'
import { StartupError } from './startuperror.ts'

export const DEMO = { namespace: 'p-demo', name: 'demo', owner: 'alice' } as const

export interface DemoOptions {
  /** Of the group and version. */
  api: string
  /** PEM of the authority of that server. */
  authority: string
  /** Of group system:masters. */
  accessKey: string
  cluster: { url: string; certificateAuthority: string }
}

/** Makes the instance, or brings where it is reached up to date. Its uid. */
export async function ensureDemo({ api, authority, accessKey, cluster }: DemoOptions): Promise<string> {
  const client = createApiClient(authority, accessKey)
  const collection = `${api}/namespaces/${DEMO.namespace}/virtualclusterinstances`
  const spec = {
    displayName: 'Demo',
    owner: { user: DEMO.owner },
    accessPoint: { ingress: { enabled: true, host: new URL(cluster.url).host } },
    certificateAuthorityData: Buffer.from(cluster.certificateAuthority).toString('base64'),
  }
  const created = await client.send('POST', collection, {
    apiVersion: 'management.platform/v1',
    kind: 'VirtualClusterInstance',
    metadata: { name: DEMO.name },
    spec,
  })
  if (created.status === 201) return uidOf(created.body)
  const url = `${collection}/${DEMO.name}`
  const read = await client.send('GET', url)
  const current = read.body as { spec?: object } | undefined
  if (created.status !== 409 || read.status !== 200 || !current) throw failed(created.body)
  const wanted = { ...current, spec: { ...current.spec, ...spec } }
  const updated = await client.send('PUT', url, wanted)
  if (updated.status !== 200) throw failed(updated.body)
  return uidOf(updated.body)
}

const uidOf = (object: unknown): string => (object as { metadata: { uid: string } }).metadata.uid

const failed = (status: unknown): StartupError =>
  new StartupError(`The demo virtual cluster cannot be made: ${(status as { message?: string } | undefined)?.message}.`)
