/** Runs the publisher of events over a world in memory, and collects what it publishes and keeps. */

import type { Storage } from '../../../../lib/engine/storage/interface.ts'
import { decodeKeyInternal, encodeKeyInternal, type KeyInternal } from '../../../../lib/keys/credential/keyinternal.ts'
import { type Signal, signalItem } from '../../../../lib/keys/credential/signals.ts'
import { type KeyEvent, kindOf } from '../../../../lib/keys/events/event.ts'
import type { Lifecycle } from '../../../../lib/keys/events/lifecycle.ts'
import { type Run, runLifecycle } from '../../../../lib/keys/events/run.ts'
import { historyPartition, shownEntries } from '../../../../lib/keys/history/items.ts'
import { keysThrough } from '../../../../lib/server/keysthrough.ts'
import { endless, unhurried } from '../../../support/deadlines.ts'
import type { World } from '../../engine/controllers/world.ts'

export interface Publisher {
  events: KeyEvent[]
  lost: [since: number, to: number][]
  /** Runs once, optionally over another storage or with other parts. */
  run(parts?: Partial<Lifecycle>): Promise<Run>
  /** Runs, and returns the new events as `kind name` with some of their data. */
  news(...members: string[]): Promise<unknown[]>
}

export function publisherOf(world: World, limits = {}): Publisher {
  const events: KeyEvent[] = []
  const lost: [number, number][] = []
  let shown = 0
  const publisher: Publisher = {
    events,
    lost,
    run: (parts = {}) =>
      runLifecycle({
        store: world.over(parts.storage ?? world.storage).keys,
        keysThrough: keysThrough(world.storage, () => true),
        storage: world.storage,
        limits,
        maxIdleSeconds: 0,
        isNew: false,
        recordSources: true,
        now: world.now,
        hasTime: () => true,
        deadline: endless,
        source: 'https://issuer.example.com',
        publish: async (all) => void events.push(...all),
        wake: async () => undefined,
        lost: (since, to) => void lost.push([since, to]),
        ...parts,
      }),
    async news(...members) {
      await publisher.run()
      const found = events.slice(shown)
      shown = events.length
      return found.map((event) => [
        `${kindOf(event)} ${event.data.name}`,
        ...members.map((member) => event.data[member]),
      ])
    },
  }
  return publisher
}

/** Returns the history of a key by its uid, the newest first. */
export const historyOf = async ({ storage }: Pick<World, 'storage'>, uid = '') =>
  shownEntries((await storage.queryCompanions(historyPartition(uid))).items)

/** Makes a key that another one made. */
export async function makeWith(world: World, maker: string, name: string) {
  const { storage, keys } = world
  const made = await world.make(name)
  const current = await storage.get(keys.kind.table, name)
  const makers = [(await world.find(maker))?.metadata.uid ?? maker]
  await world.delete(name)
  await storage.update(
    keys.kind.table,
    name,
    () => ({
      type: 'put',
      object: { ...made, metadata: { ...made.metadata, uid: `made-${made.metadata.uid}` } },
      internal: encodeKeyInternal({ ...decodeKeyInternal(current?.internal ?? {}), makers, maker }),
    }),
    { ...unhurried, isNew: true },
  )
}

/** Changes the internal part of a key, as rotations do. */
export const changeInternal = (
  { storage, keys }: Pick<World, 'keys'> & { storage: Storage },
  name: string,
  edit: (internal: KeyInternal) => KeyInternal,
) =>
  storage.update(
    keys.kind.table,
    name,
    (current) => {
      if (!current) throw new Error(`there is no ${name}`)
      return {
        type: 'put',
        object: current.object,
        internal: encodeKeyInternal(edit(decodeKeyInternal(current.internal))),
      }
    },
    unhurried,
  )

export const hash = (name: string) => ({ version: '1', hash: name.padEnd(43, 'x') })

/** Stores a signal about a key. */
export async function signal(
  { storage, find }: World,
  kind: Signal['kind'],
  name: string,
  facts: Partial<Signal> & { at: number },
): Promise<void> {
  const uid = (await find(name))?.metadata.uid ?? ''
  const item = signalItem({ kind, name, uid, ...facts }, hash(`${name}${facts.value ?? ''}`))
  await storage.writeCompanion({ ...item, when: 'absent' }, unhurried)
}
