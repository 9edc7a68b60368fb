/** Sends revocations of access keys to a server, and reads what they did. */
import { apiVersion, keys, management } from './objects.ts'
import type { Answer } from './request.ts'
import type { MadeKey, TestServer } from './server.ts'

export const revocations = `${management}/accesskeyrevocations`

export interface Asking {
  token?: string
  dryRun?: boolean
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
    make: (name, spec, metadata, token) => server().makeKey(spec, { ...metadata, name }, token),
    patch: (name, body, token) => server().patch(`${keys}/${name}`, body, token),
    get,
    isDisabled: async (name) => (await get(name)).spec.disabled === true,
    use: async (token) => (await server().post(`${management}/selves`, {}, token)).status,
  }
}

export const namesOf = ({ json }: Answer): string[] => json.status.keys.map(({ name }: { name: string }) => name)

export const causesOf = ({ json }: Answer): string[] =>
  (json.details?.causes ?? []).map(({ field, message }: { field: string; message: string }) => `${field}: ${message}`)
