/** Compares the events of random histories, live and resumed, with a model of what a watcher knows and may see. */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventsOf, type WatchEvent } from '../../../../../lib/engine/endpoints/watches/watchevents.ts'
import type { ChangeBatch, Storage, Stored, Table } from '../../../../../lib/engine/storage/interface.ts'
import { runs } from '../../../../support/effort.ts'
import {
  type Happened,
  mayRead,
  newestStates,
  perform,
  type State,
  type Step,
  statesAt,
  step,
  tableOf,
} from '../../../../support/history.ts'
import { openStore, storageIn, type TestStore } from '../../../../support/store.ts'

let store: TestStore
let storage: Storage
let tables = 0

beforeAll(async () => {
  store = await openStore()
  storage = storageIn(store.items())
})
afterAll(() => store.close())

const selects = ({ object }: Stored): boolean => object.metadata.labels?.label === 'x'
const shows = ({ label, readers }: State): boolean => label === 'x' && readers.includes('alice')

const watcherOf = (table: Table) =>
  eventsOf({
    selects,
    may: mayRead('alice'),
    latest: (stored) => storage.latest(table, stored),
    shown: async ({ object }) => object,
  })

/** Returns the start of a batch, as if the batch had been too long. */
function cut(batch: ChangeBatch, length: number): ChangeBatch {
  const changes = batch.changes.slice(0, length)
  return changes.length === batch.changes.length ? batch : { changes, rv: changes.at(-1)?.rv ?? batch.rv, more: true }
}

/** Returns what a client knows after each event. Throws when an event contradicts what the client knew. */
function take(known: Map<string, number>, { type, object: { metadata } }: WatchEvent): void {
  const { uid = '', resourceVersion } = metadata
  expect([type, known.has(uid)]).toEqual([type, type !== 'ADDED'])
  if (type === 'DELETED') known.delete(uid)
  else known.set(uid, Number(resourceVersion))
}

const visibleAt = (history: readonly Happened[], rv: number): Map<string, number> =>
  new Map([...statesAt(history, rv).values()].filter(shows).map(({ uid, rv }) => [uid, rv]))

/** A step of the history, or a poll of the watch with a limit of changes. */
const moment: fc.Arbitrary<Step | { op: 'poll'; length: number }> = fc.oneof(
  { weight: 3, arbitrary: step },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('poll' as const), length: fc.integer({ min: 1, max: 3 }) }) },
)

// threat: users-3
test('every watcher ends with the objects that they may see, and learns of no others', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 8 }),
      fc.array(moment, { maxLength: 14 }),
      fc.nat(),
      async (before, after, from) => {
        const table = tableOf(`watched${tables++}`)
        const history: Happened[] = []
        for (const one of before) await perform(storage, table, one, history)
        // Starts at any revision that a list may have returned.
        const start = [1, ...history.map(({ rv }) => rv)][from % (history.length + 1)] ?? 1
        const known = visibleAt(history, start)
        const watcher = watcherOf(table)
        const present = new Set<number>()
        let rv = start
        const poll = async (length: number) => {
          const batch = cut(await storage.changes(table, rv), length)
          const newest = newestStates(history)
          for await (const event of watcher(batch)) {
            take(known, event)
            const { uid = '', annotations } = event.object.metadata
            const written = Number(annotations?.write)
            if (event.object.spec === undefined) continue
            // An event may contain an object that is visible now, or that was visible when the watch had last caught up.
            const isAllowed =
              newest.get(uid)?.readers.includes('alice') || (event.type === 'DELETED' && present.has(written))
            expect([event, isAllowed]).toEqual([event, true])
          }
          rv = batch.rv
          if (!batch.more) {
            present.clear()
            for (const one of statesAt(history, rv).values()) present.add(history.findIndex(({ rv }) => rv === one.rv))
          }
        }
        for (const one of after) await (one.op === 'poll' ? poll(one.length) : perform(storage, table, one, history))
        while (rv < (history.at(-1)?.rv ?? 1)) await poll(2)
        expect(known).toEqual(visibleAt(history, rv))
      },
    ),
    runs(60),
  )
})

describe('a watcher who loses access', () => {
  const put = (readers: string[], label = 'x'): Step => ({ op: 'put', name: 'a', readers, label })

  async function watchSteps(steps: Step[], isLive: boolean): Promise<WatchEvent[]> {
    const table = tableOf(`watched${tables++}`)
    const history: Happened[] = []
    const watcher = watcherOf(table)
    const events: WatchEvent[] = []
    let rv = 1
    const poll = async () => {
      const batch = await storage.changes(table, rv)
      for await (const event of watcher(batch)) events.push(event)
      rv = batch.rv
    }
    for (const one of steps) {
      await perform(storage, table, one, history)
      if (isLive) await poll()
    }
    await poll()
    return events
  }

  test('during the watch gets a DELETED event with the last visible content', async () => {
    const events = await watchSteps([put(['alice']), put(['bob'])], true)
    expect(events.map(({ type, object }) => [type, object.metadata.resourceVersion, object.spec])).toEqual([
      ['ADDED', '2', { readers: ['alice'] }],
      ['DELETED', '3', { readers: ['alice'] }],
    ])
  })

  test('gets no events for objects that came and went since', async () => {
    expect(await watchSteps([put(['alice']), put(['alice']), put(['bob'])], false)).toEqual([])
    expect(await watchSteps([put(['alice']), put(['bob']), { op: 'delete', name: 'a' }], false)).toEqual([])
  })

  test('gets a DELETED event with only the name of an object that they know', async () => {
    const table = tableOf(`watched${tables++}`)
    const history: Happened[] = []
    for (const one of [put(['alice']), put(['alice']), put([]), put([])]) await perform(storage, table, one, history)
    const events = await Array.fromAsync(watcherOf(table)(await storage.changes(table, 2)))
    expect(events).toEqual([
      {
        type: 'DELETED',
        object: {
          apiVersion: 'v1',
          kind: 'Widget',
          metadata: { name: 'a', uid: expect.any(String), resourceVersion: '4' },
        },
      },
    ])
  })

  test('gets the events of an object that stayed visible until its deletion', async () => {
    const events = await watchSteps([put(['alice']), { op: 'delete', name: 'a' }, put(['bob'])], false)
    expect(events.map(({ type, object }) => [type, object.metadata.resourceVersion])).toEqual([
      ['ADDED', '2'],
      ['DELETED', '3'],
    ])
  })
})
