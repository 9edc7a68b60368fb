/** Makes keys for specs, as the administrator. */
import type { StartedServer } from '../../support/startedserver.ts'

export interface MadeKey {
  name: string
  value: string
}

const KEYS = '/apis/management.platform/v1/ownedaccesskeys'

/** Creates a key of alice, unless the spec says otherwise, and returns its value too. */
export async function makeKey(
  server: StartedServer,
  name: string,
  spec: object = {},
  labels: Record<string, string> = {},
): Promise<MadeKey> {
  const { status, text, json } = await server.call(KEYS, {
    method: 'POST',
    body: {
      apiVersion: 'management.platform/v1',
      kind: 'OwnedAccessKey',
      metadata: { generateName: `${name}-`, labels },
      spec: { user: 'alice', ...spec },
    },
  })
  if (status !== 201) throw new Error(`${status} for ${name}: ${text}`)
  return { name: json.metadata.name, value: json.spec.key }
}

export async function changeKey(server: StartedServer, name: string, spec: object): Promise<void> {
  const headers = { 'content-type': 'application/merge-patch+json' }
  const { status, text } = await server.call(`${KEYS}/${name}`, { method: 'PATCH', body: { spec }, headers })
  if (status !== 200) throw new Error(`${status} for ${name}: ${text}`)
}

export async function deleteKey(server: StartedServer, name: string): Promise<void> {
  const { status, text } = await server.call(`${KEYS}/${name}`, { method: 'DELETE' })
  if (status !== 200) throw new Error(`${status} for ${name}: ${text}`)
}
