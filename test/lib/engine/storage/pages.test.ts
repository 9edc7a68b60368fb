/**
 * Tests where the pages of a list end and what they say follows: the same before the store has settled, after it has, and once its
 * tombstones are cleared. An oracle pages through what was written.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ListRequest, Storage, Stored, Table } from '../../../../lib/engine/storage/interface.ts'
import { type Items, sizeOf } from '../../../../lib/engine/storage/items.ts'
import { rowsOf, sortKey } from '../../../../lib/engine/storage/keys.ts'
import { played, seed } from '../../../support/effort.ts'
import { isDynamoDB, openStore, storageIn, type TestStore } from '../../../support/store.ts'
import { randomFrom } from './adversary/simulation.ts'
import { loadEdited } from './adversary/subject.ts'
import { create, remove, set, widgets as shape } from './fixtures.ts'

let store: TestStore
let items: Items
/** What the clock of the store is ahead of that of this machine, in ms. */
let ahead = 0
let count = 0

beforeAll(async () => {
  store = await openStore()
  items = store.items()
})
afterAll(() => store.close())

const newTable = (): Table => ({
  ...shape,
  resource: `paged${count++}`,
  names: ({ object }) => [`of:${object.spec?.of}`],
})

/** Pages end early, so that few objects fill one. */
const pageBytes = 2_000

async function openStorage(): Promise<Storage> {
  const edits = [{ file: 'protocol/constants.ts', from: 'pageBytes = 8 * 1024 * 1024', to: `pageBytes = ${pageBytes}` }]
  const { storageOver } = await loadEdited(edits)
  const clocks = { now: () => Date.now() + ahead, elapsed: () => performance.now() }
  return storageOver(items, { ...clocks, random: Math.random, sleep: async () => {} })
}

/** An object of the oracle, and the bytes of its row. */
interface Row {
  stored: Stored
  size: number
  /** The newest state, or the one in which it was deleted: it decides who sees the object in the past, too. */
  last: { stored: Stored }
}

interface Page {
  keys: string[]
  next: string | undefined
  /** How many objects follow. */
  following: number
}

/** Returns the page that the rule demands of the objects in the range of a request, sorted. */
function expectedPage(rows: readonly Row[], { limit, matches, filter, after }: ListRequest): Page {
  const visible = rows.filter(({ stored, last }) => !filter || (filter(stored) && filter(last.stored)))
  const page: Page = { keys: [], next: undefined, following: 0 }
  let [last, bytes] = ['', 0]
  const start = after === undefined ? 0 : visible.findIndex(({ stored }) => sortKey(stored.key) > sortKey(after))
  for (const [index, { stored, size }] of visible.entries()) {
    if (start === -1 || index < start) continue
    if (last !== '' && (page.keys.length === limit || bytes >= pageBytes)) {
      return { ...page, next: last, following: visible.length - index }
    }
    last = stored.key
    bytes += size
    if (matches?.(stored) ?? true) page.keys.push(stored.key)
  }
  return page
}

const listIn = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [])

/** The most objects whose number a page reports. */
const counted = 16

describe('the pages of a list are the same whatever has settled', () => {
  // The emulator takes a hundred times as long.
  test.each(Array.from({ length: isDynamoDB ? 1 : played(80) }, (_, index) => seed + index))('seed %i', async (one) => {
    const random = randomFrom(one)
    const below = (most: number) => Math.floor(random() * most)
    const pick = <T>(from: readonly T[]): T => from[below(from.length)] as T
    const storage = await openStorage()
    const table = newTable()

    const states = new Map<string, Row>()
    /** The objects at each revision, sorted. */
    const history = new Map<number, Row[]>()
    const spec = () => ({ app: pick(['a', 'b']), of: pick(['x', 'y']), in: pick([['p'], ['q'], ['p', 'q'], []]) })
    const names = Array.from({ length: pick([6, 40]) }, (_, index) => `${pick(['n', 'n-1', 'm'])}/k${index % 30}`)
    // More writes would settle the first ones.
    for (let write = 0; write < 60; write++) {
      const key = pick(names)
      const before = states.get(key)
      const more = { fill: 'é'.repeat(pick([0, 0, 0, 100, 400])) }
      // What names an object belongs to does not change.
      const fixed = before && { of: before.stored.object.spec?.of as string }
      const result =
        before === undefined
          ? await create(storage, key, { ...spec(), ...more }, table)
          : random() < 0.5
            ? await remove(storage, key, table)
            : await set(storage, key, { ...spec(), ...more, ...fixed }, table)
      const row = await items.get({ pk: rowsOf(table.resource), sk: sortKey(key) })
      if (result.after && row) {
        const last = before?.last ?? { stored: result.after }
        last.stored = result.after
        states.set(key, { stored: result.after, size: sizeOf(row), last })
      } else states.delete(key)
      const order = ([key]: [string, Row], [other]: [string, Row]) => (sortKey(key) < sortKey(other) ? -1 : 1)
      history.set(
        result.rv,
        [...states].sort(order).map(([, state]) => state),
      )
    }
    const newest = Math.max(...history.keys())

    const selected = (app: string) => ({
      matches: ({ object }: Stored) => object.spec?.app === app,
      text: `"app":"${app}"`,
    })
    const visible = ({ object }: Stored) => listIn(object.spec?.in).includes('p')
    const requests = Array.from({ length: isDynamoDB ? 12 : 60 }, (): ListRequest => {
      const named = random() < 0.2 ? pick(['x', 'y']) : undefined
      return {
        ...(random() < 0.85 && { limit: 1 + below(4) * below(4) }),
        ...(random() < 0.5 && selected(pick(['a', 'b', 'c']))),
        ...(named === undefined && random() < 0.3 && { filter: visible }),
        ...(random() < 0.3 && { namespace: pick(['n', 'n-1', 'm']) }),
        ...(random() < 0.3 && { at: pick([...history.keys()]) }),
        ...(named !== undefined && { named: `of:${named}` }),
        ...(named === undefined && random() < 0.3 && { [pick(['within', 'partitions'])]: pick([['p'], ['p', 'q']]) }),
      }
    })
    /** The size of a row counts its own partition, which a list of partitions reads. */
    function rangeOf({ at = newest, namespace, named, within, partitions }: ListRequest): Row[] {
      const read = within ?? partitions
      return (history.get(at) ?? []).flatMap(({ stored, size, last }) => {
        const copy = read?.find((partition) => listIn(stored.object.spec?.in).includes(partition))
        if (read && copy === undefined) return []
        if (namespace !== undefined && !stored.key.startsWith(`${namespace}/`)) return []
        if (named !== undefined && `of:${stored.object.spec?.of}` !== named) return []
        const longer = rowsOf(table.resource, copy).length - rowsOf(table.resource).length
        return [{ stored, size: size + longer, last }]
      })
    }
    async function check(state: string): Promise<void> {
      for (const asked of requests) {
        const rows = rangeOf(asked)
        for (let request = asked; ; ) {
          const page = await storage.list(table, request)
          const expected = expectedPage(rows, request)
          const isCounted = request.limit && !request.matches && !request.filter && !request.named && page.next
          const isKnown = isCounted && expected.following <= counted && (!isDynamoDB || page.remaining !== undefined)
          const { keys, next } = expected
          const wanted = { keys, next, remaining: isKnown ? expected.following : undefined }
          const found = { keys: page.items.map(({ key }) => key), next: page.next, remaining: page.remaining }
          // Equal pages are not compared member by member: there are thousands.
          if (JSON.stringify(found) !== JSON.stringify(wanted)) expect({ state, request, ...found }).toEqual(wanted)
          if (page.next === undefined) break
          request = { ...request, after: page.next, at: page.rv }
        }
      }
    }
    await check('nothing settled')
    await storage.sweep(table)
    await check('settled')
    for (let sweeps = 0; sweeps < 2; sweeps++) {
      ahead += 46_000
      await storage.sweep(table)
    }
    await check('cleared')
  })
})

describe('a page that reads more than a query returns', () => {
  test('counts what it does not decode, and says where it ended', async () => {
    const storage = storageIn(items)
    const table = newTable()
    const names = Array.from({ length: 1104 }, (_, index) => `k${1000 + index}`)
    for (let at = 0; at < names.length; at += 64) {
      const some = names.slice(at, at + 64)
      await Promise.all(some.map((key) => create(storage, key, { app: key < 'k2101' ? 'b' : 'a' }, table)))
    }
    const request = { limit: 2, matches: ({ object }: Stored) => object.spec?.app === 'a', text: '"app":"a"' }
    for (const settle of [async () => {}, () => storage.sweep(table)]) {
      await settle()
      const first = await storage.list(table, request)
      expect([first.items.map(({ key }) => key), first.next]).toEqual([['k2101', 'k2102'], 'k2102'])
      const rest = await storage.list(table, { ...request, after: 'k2102', at: first.rv })
      expect([rest.items.map(({ key }) => key), rest.next]).toEqual([['k2103'], undefined])
    }
  })
})
