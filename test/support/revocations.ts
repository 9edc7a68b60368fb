/** Sends revocations of access keys to a server, and reads what they did. */
import { accessKey, apiVersion, keys, management } from './objects.ts'
import type { Answer } from './request.ts'
import type { TestServer } from './server.ts'

export const revocations = `${management}/accesskeyrevocations`

export interface Asking {
  token?: string
  dryRun?: boolean
}

export interface MadeKey {
  name: string
  uid: string
  token: string
}

export interface Revoking {
  /** Sends a body as it is. */
  send(body: unknown, asking?: Asking & { query?: string }): Promise<Answer>
  revoke(spec: object, asking?: Asking): Promise<Answer>
  /** Creates a key as the administrator, or with a key. */
  make(name: string, spec?: object, metadata?: object, token?: string): Promise<MadeKey>
  patch(name: string, body: object, token?: string): Promise<Answer>
  // biome-ignore lint/suspicious/noExplicitAny: tests look into objects of every shape.
  get(name: string, token?: string): Promise<any>
  isDisabled(name: string): Promise<boolean>
  /** Returns the code of a request with a key. */
  use(token: string): Promise<number>
}

const as = (token: string | undefined) => (token === undefined ? {} : { token })

export function revokingOn(server: () => TestServer): Revoking {
  const { call }: Pick<TestServer, 'call'> = { call: (path, call) => server().call(path, call) }
  const send: Revoking['send'] = (body, { token, dryRun, query = dryRun ? '?dryRun=All' : '' } = {}) =>
    call(revocations + query, { method: 'POST', body, ...as(token) })
  const get: Revoking['get'] = async (name, token) => (await call(`${keys}/${name}`, as(token))).json
  return {
    send,
    revoke: (spec, asking) => send({ apiVersion, kind: 'AccessKeyRevocation', spec }, asking),
    async make(name, spec = {}, metadata = {}, token) {
      const body = accessKey(name, spec, metadata)
      const { status, json, text } = await call(keys, { method: 'POST', body, ...as(token) })
      if (status !== 201) throw new Error(`${status}: ${text}`)
      return { name, uid: json.metadata.uid, token: json.spec.key }
    },
    patch: (name, body, token) =>
      call(`${keys}/${name}`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/merge-patch+json' },
        body,
        ...as(token),
      }),
    get,
    isDisabled: async (name) => (await get(name)).spec.disabled === true,
    use: async (token) => (await call(`${management}/selves`, { method: 'POST', body: {}, token })).status,
  }
}

export const namesOf = ({ json }: Answer): string[] => json.status.keys.map(({ name }: { name: string }) => name)

export const causesOf = ({ json }: Answer): string[] =>
  (json.details?.causes ?? []).map(({ field, message }: { field: string; message: string }) => `${field}: ${message}`)

/** Returns the audit record of a request. */
export function recordOf(server: TestServer, { headers }: Answer): Record<string, unknown> {
  const records = server.log.map((line) => JSON.parse(line))
  return records.find(({ message, requestId }) => message === 'audit' && requestId === headers['audit-id'])
}
