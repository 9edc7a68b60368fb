/** Rotates access keys, and moves the times of their values back, for tests that need no real time. */
import { credentialItemKey } from '../../lib/keys/credential/credential.ts'
import { endless } from './deadlines.ts'
import { keys, management } from './objects.ts'
import type { Answer, Call } from './request.ts'
import type { TestServer } from './server.ts'

export interface Rotating {
  /** Rotates the key `name` with the spec, by default as the administrator. */
  rotate(name: string, spec?: object, call?: Call & { metadata?: object; query?: string }): Promise<Answer>
  /** Uses a value, and returns the code and the message of the response. */
  use(value: string): Promise<[number, string | undefined]>
  /** Moves a time of the credential of a value back, as if the seconds had passed since. */
  age(value: string, attribute: 'firstUsed' | 'until', seconds: number): Promise<void>
  /** Returns the values of the key, as its status shows them. */
  values(
    name: string,
  ): Promise<{ state: string; hint?: string; made?: string; lastActivity?: string; until?: string }[]>
}

/** Returns the helpers for a server. */
export function rotatingOn(server: () => TestServer): Rotating {
  const call: TestServer['call'] = (path, options) => server().call(path, options)
  return {
    rotate: (name, spec = {}, { metadata, query = '', ...options } = {}) =>
      call(`${keys}/${name}/rotate${query}`, {
        method: 'POST',
        body: { spec, ...(metadata && { metadata }) },
        ...options,
      }),
    async use(token) {
      const { status, json } = await call(`${management}/selves`, { method: 'POST', body: {}, token })
      return [status, status < 300 ? undefined : json.message]
    },
    async age(value, attribute, seconds) {
      const { parts, store } = server()
      const [hash] = await parts.hashes(value)
      if (!hash) throw new Error('there is no pepper')
      const key = credentialItemKey(hash)
      const before = (await store.items().get(key))?.[attribute]
      if (typeof before !== 'number') throw new Error(`the credential has no ${attribute}`)
      await store.items().transact([{ type: 'set', key, attributes: { [attribute]: before - seconds } }], endless())
    },
    values: async (name) => (await call(`${keys}/${name}`)).json.status.values,
  }
}
