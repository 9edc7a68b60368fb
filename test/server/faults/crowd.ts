/** Runs many concurrent writers on shared and own access keys, and records their answers. */
import type { KubeObject } from '../../../lib/engine/meta/types.ts'
import type { Answer } from '../../support/request.ts'
import type { TestServer } from '../../support/server.ts'

export const path = '/apis/management.platform/v1/ownedaccesskeys'

/** One write request and its outcome. */
export interface Wrote {
  verb: 'create' | 'update' | 'patch' | 'delete'
  /** The `spec.displayName` that it wrote, or the UID that it tried to delete. */
  mark: string
  /** The highest revision in any answer before it was sent. */
  after: number
  answer: Answer
}

/** The known outcome: done, refused or unknown. */
export type Outcome = 'done' | 'refused' | 'unknown'

export function outcomeOf({ answer: { status, headers } }: Wrote): Outcome {
  if (status < 300) return 'done'
  const isUnknown = status === 504 || status === 500 || (status === 503 && !headers['retry-after'])
  return isUnknown ? 'unknown' : 'refused'
}

export interface Crowd {
  wrote: Wrote[]
  /** The highest revision in any answer. */
  newest(): number
  /** Runs one writer for this many writes, and then for up to four times as many while `isShort`. */
  writer(number: number, turns: number, isShort: () => boolean): Promise<void>
}

/** `random` in [0, 1). */
export function gather(server: TestServer, random: () => number, shared: readonly string[]): Crowd {
  const wrote: Wrote[] = []
  let newest = 0

  async function send(verb: Wrote['verb'], mark: string, at: string, sent: Parameters<TestServer['call']>[1]) {
    const after = newest
    const answer = await server.call(at, sent)
    wrote.push({ verb, mark, after, answer })
    newest = Math.max(newest, Number(answer.json?.metadata?.resourceVersion ?? 0))
    return answer
  }

  const create = (mark: string, metadata: object) =>
    send('create', mark, path, {
      method: 'POST',
      body: {
        apiVersion: 'management.platform/v1',
        kind: 'OwnedAccessKey',
        metadata,
        spec: { user: 'ci', displayName: mark },
      },
    })
  const patch = (mark: string, name: string) =>
    send('patch', mark, `${path}/${name}`, {
      method: 'PATCH',
      body: JSON.stringify({ spec: { displayName: mark } }),
      headers: { 'content-type': 'application/merge-patch+json' },
    })
  /** Like clients, it writes the object back with the revision that it read. */
  async function update(mark: string, name: string): Promise<void> {
    const { status, json } = await server.call(`${path}/${name}`)
    if (status !== 200) return
    const body = { ...json, spec: { ...json.spec, displayName: mark } }
    await send('update', mark, `${path}/${name}`, { method: 'PUT', body })
  }
  const remove = ({ metadata: { name, uid = '' } }: KubeObject) =>
    send('delete', uid, `${path}/${name}`, { method: 'DELETE', body: { preconditions: { uid } } })

  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T

  return {
    wrote,
    newest: () => newest,
    async writer(number, turns, isShort) {
      const own: KubeObject[] = []
      for (let turn = 0; turn < turns || (turn < 5 * turns && isShort()); turn++) {
        const mark = `${number}-${turn}`
        const name = random() < 0.5 && own.length > 0 ? String(pick(own).metadata.name) : pick(shared)
        const chance = random()
        if (chance < 0.3) {
          const { status, json } = await create(mark, { generateName: `own-${number}-` })
          if (status === 201) own.push(json)
        } else if (chance < 0.4) await create(mark, { name: pick(shared) })
        else if (chance < 0.6) await patch(mark, name)
        else if (chance < 0.75) await update(mark, name)
        else if (chance < 0.9 && own.length > 0)
          await remove(own.splice(Math.floor(random() * own.length), 1)[0] as KubeObject)
        else {
          const { status, json } = await server.call(`${path}/${pick(shared)}`)
          if (status === 200) await remove(json)
        }
      }
    },
  }
}
