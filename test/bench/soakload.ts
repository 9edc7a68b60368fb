/** Runs callers that write, read, list and watch as fast as possible and record the answers. */
import https from 'node:https'
import { type Answer, type Call, request } from '../support/request.ts'
import { accessKey } from './access.ts'
import type { Served } from './processes.ts'

export const path = '/apis/management.platform/v1/ownedaccesskeys'

/** The knowledge of a caller about one of its objects. */
interface Known {
  /** The last acknowledged description; undefined after a deletion. */
  mark: string | undefined
  /** Other possible descriptions, from writes with an unknown outcome. */
  maybe: (string | undefined)[]
}

export interface Load {
  call(path: string, call?: Call): Promise<Answer>
  /** Runs one caller with its own objects until `hasTime` returns false. */
  caller(number: number, hasTime: () => boolean): Promise<void>
  /** Returns the milliseconds of answered requests since the last call, by operation. */
  times(): Map<string, number[]>
  /** Failed answers, by `operation status`. */
  refused: Map<string, number>
  /** Deviations from acknowledged writes. */
  judge(found: ReadonlyMap<string, unknown>): string[]
  close(): void
}

/** Objects per caller: with more it deletes, with fewer it creates. */
const owned = 20

export function load({ base, certificateAuthority, token }: Served): Load {
  const agent = new https.Agent({ ca: certificateAuthority, keepAlive: true, maxFreeSockets: Number.POSITIVE_INFINITY })
  const known = new Map<string, Known>()
  const refused = new Map<string, number>()
  let times = new Map<string, number[]>()
  let writes = 0
  const call = (at: string, sent: Call = {}): Promise<Answer> => request(agent, `${base}${at}`, { token, ...sent })

  /** Whether the write succeeded; undefined when unknown. */
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
