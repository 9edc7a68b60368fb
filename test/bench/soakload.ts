/** Callers who write, read, list and watch as fast as they are answered, and remember what they were told. */
import https from 'node:https'
import { type Answer, type Call, request } from '../support/server.ts'
import { accessKey } from './access.ts'
import type { Served } from './processes.ts'

export const path = '/apis/management.platform/v1/ownedaccesskeys'

/** What a caller knows of one of its objects. */
interface Known {
  /** The last description that was acknowledged; undefined once it is deleted. */
  mark: string | undefined
  /** What it may be besides: writes whose outcome is not known. */
  maybe: (string | undefined)[]
}

export interface Load {
  call(path: string, call?: Call): Promise<Answer>
  /** One caller, until `hasTime` says no; each has objects of its own. */
  caller(number: number, hasTime: () => boolean): Promise<void>
  /** Milliseconds of answered requests since the last call, by operation. */
  times(): Map<string, number[]>
  /** Answers that were no success, by `operation status`. */
  refused: Map<string, number>
  /** What is not as it was acknowledged. */
  judge(found: ReadonlyMap<string, unknown>): string[]
  close(): void
}

/** Objects of one caller: at more it deletes, at fewer it creates. */
const owned = 20

export function load({ base, certificateAuthority, token }: Served): Load {
  const agent = new https.Agent({ ca: certificateAuthority, keepAlive: true, maxFreeSockets: Number.POSITIVE_INFINITY })
  const known = new Map<string, Known>()
  const refused = new Map<string, number>()
  let times = new Map<string, number[]>()
  let writes = 0
  const call = (at: string, sent: Call = {}): Promise<Answer> => request(agent, `${base}${at}`, { token, ...sent })

  /** Whether it was done: undefined where that is not known. */
  async function ask(operation: string, at: string, sent: Call = {}): Promise<boolean | undefined> {
    const began = performance.now()
    const status = await call(at, sent).then(
      (answer) => answer.status,
      () => 0,
    )
    times.set(operation, [...(times.get(operation) ?? []), performance.now() - began])
    if (status >= 200 && status < 300) return true
    const said = `${operation} ${status || 'cut'}`
    refused.set(said, (refused.get(said) ?? 0) + 1)
    return status === 0 || status === 500 || status === 502 || status === 504 ? undefined : false
  }

  async function write(name: string, mark: string | undefined, asked: Promise<boolean | undefined>): Promise<void> {
    const before = known.get(name) ?? { mark: undefined, maybe: [] }
    const done = await asked
    if (done) known.set(name, { mark, maybe: [] })
    else if (done === undefined) known.set(name, { ...before, maybe: [...before.maybe, mark] })
  }

  return {
    call,
    refused,
    async caller(number, hasTime) {
      const own: string[] = []
      for (let turn = 0; hasTime(); turn++) {
        const chance = Math.random()
        const name = own[Math.floor(Math.random() * own.length)]
        if (name === undefined || (chance < 0.4 && own.length < owned)) {
          const made = `soak-${number}-${turn}`
          const { spec, ...rest } = accessKey(made)
          const body = { ...rest, spec: { ...spec, description: made } }
          await write(made, made, ask('create', path, { method: 'POST', body }))
          if (known.has(made)) own.push(made)
        } else if (chance < 0.55) {
          const mark = `${name} ${++writes}`
          const body = JSON.stringify({ spec: { description: mark } })
          const headers = { 'content-type': 'application/merge-patch+json' }
          await write(name, mark, ask('patch', `${path}/${name}`, { method: 'PATCH', body, headers }))
        } else if (chance < 0.7 && own.length > owned / 2) {
          own.splice(own.indexOf(name), 1)
          await write(name, undefined, ask('delete', `${path}/${name}`, { method: 'DELETE' }))
        } else if (chance < 0.75) await ask('list of 100', `${path}?limit=100`)
        else await ask('get', `${path}/${name}`)
      }
    },
    times() {
      const taken = times
      times = new Map()
      return taken
    },
    judge: (found) =>
      [...known].flatMap(([name, { mark, maybe }]) =>
        [mark, ...maybe].includes(found.get(name) as string | undefined)
          ? []
          : [`${name} is ${found.get(name)}, acknowledged was ${mark}, perhaps ${maybe}`],
      ),
    close: () => agent.destroy(),
  }
}
