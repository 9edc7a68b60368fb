/** Compares lists at every revision of random histories with a model: a reader who lost access does not see the past. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ListRequest, Table } from '../../../../lib/engine/storage/interface.ts'
import { runs } from '../../../support/effort.ts'
import { type Happened, mayRead, newestStates, perform, statesAt, step, tableOf } from '../../../support/history.ts'
import { callsOf, type Operation } from '../../../support/itemcalls.ts'
import { createMemoryItems } from '../../../support/memoryitems.ts'
import { storageIn } from '../../../support/store.ts'

let calls: Operation[] = []
const storage = storageIn(
  callsOf(createMemoryItems(Date.now), (operation, call) => {
    calls.push(operation)
    return call()
  }),
)
let tables = 0

const histories = fc.array(step, { minLength: 1, maxLength: 14 })

async function createHistory(steps: Parameters<typeof perform>[2][]): Promise<{ table: Table; history: Happened[] }> {
  const table = tableOf(`rights${tables++}`)
  const history: Happened[] = []
  for (const one of steps) await perform(storage, table, one, history)
  return { table, history }
}

/** Reads all pages of a list in sequence. */
async function listAllPages(table: Table, request: ListRequest): Promise<[name: string, rv: number][]> {
  const found: [string, number][] = []
  let next: ListRequest | undefined = request
  while (next) {
    const page = await storage.list(table, next)
    found.push(...page.items.map((one): [string, number] => [one.key, one.read().rv]))
    next = page.next === undefined ? undefined : { ...request, after: page.next, at: page.rv }
  }
  return found
}

// threat: users-2, users-3
test('a list of an old revision shows only objects that the reader may see then and now', async () => {
  await fc.assert(
    fc.asyncProperty(histories, fc.constantFrom(undefined, 1), async (steps, limit) => {
      const { table, history } = await createHistory(steps)
      const newest = newestStates(history)
      for (const at of [1, ...history.map(({ rv }) => rv)]) {
        const visible = [...statesAt(history, at).values()].filter(
          ({ uid, readers }) => readers.includes('alice') && newest.get(uid)?.readers.includes('alice'),
        )
        const rows = (some: typeof visible) => some.map(({ name, rv }) => [name, rv]).sort()
        const expected = rows(visible)
        const shared = rows(visible.filter(({ readers }) => readers.includes('bob')))
        const request = { at, filter: mayRead('alice'), ...(limit && { limit }) }
        const key = history[0]?.name ?? ''
        const all = [request, { ...request, partitions: ['alice'] }, { ...request, key }]
        // An object that has left the partition of bob since is still visible.
        const selected = [{}, { partitions: ['alice', 'bob'] }].map((one) => ({ ...request, ...one, within: ['bob'] }))
        const found = await Promise.all([...all, ...selected].map((one) => listAllPages(table, one)))
        expect(found).toEqual([expected, expected, expected.filter(([name]) => name === key), shared, shared])
      }
    }),
    runs(100),
  )
})

test('latest returns the newest state of an object, or the last one before its deletion', async () => {
  await fc.assert(
    fc.asyncProperty(histories, async (steps) => {
      const { table, history } = await createHistory(steps)
      const newest = newestStates(history)
      for (const { changes } of [await storage.changes(table, 1)]) {
        for (const { type, stored } of changes) {
          if (type === 'DELETED') continue
          const { rv, object } = await storage.latest(table, stored)
          expect([object.metadata.uid, rv]).toEqual([
            stored.object.metadata.uid,
            newest.get(stored.object.metadata.uid ?? '')?.rv,
          ])
        }
      }
    }),
    runs(100),
  )
})

// A list of the present costs nothing extra.
test('a filter costs a list at the newest revision no extra reads', async () => {
  const table = tableOf(`rights${tables++}`)
  const history: Happened[] = []
  for (const name of ['a', 'b', 'c']) {
    await perform(storage, table, { op: 'put', name, readers: ['alice'], label: 'x' }, history)
    await perform(storage, table, { op: 'put', name, readers: ['bob'], label: 'x' }, history)
  }
  const callsFor = async (request: ListRequest) => {
    calls = []
    await storage.list(table, request)
    return calls
  }
  const plain = await callsFor({})
  expect([await callsFor({ filter: mayRead('alice') }), plain.length > 0]).toEqual([plain, true])
})
