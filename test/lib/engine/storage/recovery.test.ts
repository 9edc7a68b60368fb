/** Tests reads and writes over items (in memory) in the states that crashes, TTL and time leave behind. */
import { beforeEach, describe, expect, test } from 'vitest'
import type { ListRequest, Storage, Stored, Table } from '../../../../lib/engine/storage/interface.ts'
import { type Item, type Items, ItemsFault } from '../../../../lib/engine/storage/items.ts'
import { deletedOf, type ItemKey, revisionKey, rowsOf, slotKey, sortKey } from '../../../../lib/engine/storage/keys.ts'
import { storageOver } from '../../../../lib/engine/storage/protocol/storage.ts'
import { getCompanion } from '../../../../lib/engine/storage/readcompanions.ts'
import { unhurried } from '../../../support/deadlines.ts'
import { callsOf, type Operation } from '../../../support/itemcalls.ts'
import { createMemoryItems } from '../../../support/memoryitems.ts'
import { create, remove, set, widgets as shape, widget } from './fixtures.ts'

const hour = 3_600_000
let items: Items
let storage: Storage
let widgets: Table
let count = 0
/** The total sleep in ms: time passes only by sleeping. */
let waited: number
let shift: number

/** Runs in every sleep. */
let during: () => Promise<unknown>

beforeEach(() => {
  during = async () => {}
  widgets = { ...shape, resource: `recovery${count++}` }
  waited = 0
  shift = 0
  const began = Date.now()
  const now = () => began + waited + shift
  items = createMemoryItems(now)
  storage = storageOver(items, { ...slept, now })
})

/** A clock that advances only by sleeping. */
const slept = {
  elapsed: () => waited,
  random: () => 0.5,
  async sleep(ms: number) {
    waited += ms
    await during()
  },
}

const slot = (rev: number) => slotKey(widgets.resource, rev)
const drop = (key: ItemKey) => items.transact([{ type: 'delete', key }], Number.POSITIVE_INFINITY)
const put = (item: Item | undefined) => items.transact(item ? [{ type: 'put', item }] : [], Number.POSITIVE_INFINITY)
const read = (key: ItemKey) => items.get(key)
/** A writer that took a revision and crashed. */
const abandon = () => items.allocate(revisionKey(widgets.resource), Date.now())
async function revision(): Promise<Record<'n' | 'settled' | 'at' | 'floor', number>> {
  const { n, settled, at, floor } = (await read(revisionKey(widgets.resource))) ?? ({} as Item)
  return { n: Number(n), settled: Number(settled), at: Number(at), floor: Number(floor) }
}
const assign = (attribute: string, value: number) =>
  items.transact(
    [{ type: 'set', key: revisionKey(widgets.resource), attributes: { [attribute]: value } }],
    Number.POSITIVE_INFINITY,
  )
const names = async (request = {}) => (await storage.list(widgets, request)).items.map(({ key }) => key)

const real = { now: Date.now, elapsed: () => performance.now(), random: Math.random, sleep: async () => {} }

describe('a gap', () => {
  test('below a filled slot is voided by a list after patience', async () => {
    await abandon()
    await create(storage, 'a', {}, widgets)
    expect(await storage.list(widgets, {})).toMatchObject({ rv: 3, items: [{ key: 'a' }] })
    expect(waited).toBeGreaterThanOrEqual(500)
    expect(waited).toBeLessThan(600)
    expect(await read(slot(2))).toMatchObject({ type: 'VOID' })
    waited = 0
    await storage.list(widgets, {})
    expect(waited).toBe(0)
  })

  test('is waited for with one read at a time, however many slots follow it', async () => {
    await abandon()
    for (let index = 0; index < 150; index++) await create(storage, `a${index}`, {}, widgets)
    const calls: Operation[] = []
    const counted = callsOf(items, (operation, call) => {
      calls.push(operation)
      return call()
    })
    const reader = storageOver(counted, { ...slept, now: Date.now })
    expect(await reader.list(widgets, {})).toMatchObject({ rv: 152 })
    // The revision, the rows, the three buckets of the log, 25 polls in 500 ms, and the void.
    expect(calls.filter((one) => one !== 'batchGet')).toEqual(['get', ...Array(4).fill('query'), 'write'])
    expect(calls.filter((one) => one === 'batchGet')).toHaveLength(25)
  })

  test('above every filled slot is ignored', async () => {
    await create(storage, 'a', {}, widgets)
    await abandon()
    expect(await storage.list(widgets, {})).toMatchObject({ rv: 2 })
    expect(await storage.changes(widgets, 2)).toEqual({ changes: [], rv: 2 })
    expect([await storage.revision(widgets), waited, await read(slot(3))]).toEqual([2, 0, undefined])
  })

  test('up to a requested revision is closed', async () => {
    await create(storage, 'a', {}, widgets)
    await abandon()
    expect(await storage.list(widgets, { notOlderThan: 3 })).toMatchObject({ rv: 3 })
    await abandon()
    expect(await storage.list(widgets, { at: 4 })).toMatchObject({ rv: 4, items: [{ key: 'a' }] })
  })

  test('is skipped by a watch after patience; earlier changes are delivered at once', async () => {
    await create(storage, 'a', {}, widgets)
    await abandon()
    await create(storage, 'b', {}, widgets)
    expect(await storage.changes(widgets, 1)).toMatchObject({ rv: 2, changes: [{ key: 'a' }] })
    waited += 499
    expect(await storage.changes(widgets, 2)).toEqual({ rv: 2, changes: [] })
    waited += 1
    expect(await storage.changes(widgets, 2)).toMatchObject({ rv: 4, changes: [{ key: 'b' }] })
  })

  test('that a reader voids makes the late commit retry', async () => {
    const late = storageOver(items, real)
    let isFirst = true
    const { rv } = await late.update(
      { ...widgets, partitions: () => [] },
      'late',
      async () => ({ type: 'put', object: widget('late'), internal: {}, companions: [] }),
      { ...unhurried, isNew: true },
    )
    expect(rv).toBe(2)
    // Again, but a reader voids the slot between the revision and the transaction.
    const paused = storageOver(
      {
        ...items,
        async transact(...args) {
          if (isFirst) {
            isFirst = false
            await create(storage, 'quick', {}, widgets)
            await storage.list(widgets, {})
          }
          return items.transact(...args)
        },
      },
      real,
    )
    expect((await create(paused, 'slow', {}, widgets)).rv).toBe(5)
    expect((await storage.changes(widgets, 1)).changes.map(({ rv: at, key }) => [at, key])).toEqual([
      [2, 'late'],
      [4, 'quick'],
      [5, 'slow'],
    ])
  })
})

describe('an expired log', () => {
  beforeEach(async () => {
    await create(storage, 'a', { v: 1 }, widgets)
    await set(storage, 'a', { v: 2 }, widgets)
    await create(storage, 'b', {}, widgets)
    await set(storage, 'a', { v: 3 }, widgets)
    await storage.sweep(widgets)
  })

  test('answers a watch 410 for a missing settled slot, never treating it as a gap', async () => {
    await drop(slot(4))
    await expect(storage.changes(widgets, 2)).rejects.toMatchObject({ code: 'Expired' })
    expect(await storage.changes(widgets, 4)).toMatchObject({ rv: 5 })
    expect(await read(slot(4))).toBeUndefined()
  })

  test('treats an expired slot as missing before TTL removes it', async () => {
    await put({ ...(await read(slot(4))), ...slot(4), expires: Math.floor(Date.now() / 1000) - 1 })
    await expect(storage.changes(widgets, 3)).rejects.toMatchObject({ code: 'Expired' })
    await expect(names({ at: 3 })).rejects.toMatchObject({ code: 'Expired' })
  })

  test('answers a list of an old revision 410 without the slot after it', async () => {
    expect(await names({ at: 3 })).toEqual(['a'])
    await drop(slot(4))
    await expect(names({ at: 3 })).rejects.toMatchObject({ code: 'Expired' })
    expect(await names({ at: 4 })).toEqual(['a', 'b'])
  })

  test('keeps the tombstones of all later deletions as long as that slot', async () => {
    await remove(storage, 'b', widgets)
    await storage.sweep(widgets)
    expect(await names({ at: 5 })).toEqual(['a', 'b'])
    await drop(slot(6))
    await drop({ pk: rowsOf(widgets.resource), sk: 'b' })
    await expect(names({ at: 5 })).rejects.toMatchObject({ code: 'Expired' })
  })

  test('answers a list of an old revision 410 without the log of later changes', async () => {
    await drop(slot(5))
    await expect(names({ at: 3 })).rejects.toMatchObject({ code: 'Expired' })
  })

  test('answers a list 410 beyond 10,000 revisions back, though its objects have not changed since', async () => {
    await storage.sweep(widgets)
    await assign('n', 10_005)
    expect(await names({ at: 5 })).toEqual(['a', 'b'])
    await assign('n', 10_006)
    await expect(names({ at: 5 })).rejects.toMatchObject({ code: 'Expired' })
  })

  test('answers 410 for a recreated name with a missing slot in between, and voids no settled slot', async () => {
    await remove(storage, 'a', widgets)
    await create(storage, 'c', {}, widgets)
    await create(storage, 'a', { v: 4 }, widgets)
    await storage.sweep(widgets)
    const { items } = await storage.list(widgets, { at: 4 })
    expect(items.map((one) => [one.key, one.read().object.spec?.v])).toEqual([
      ['a', 2],
      ['b', undefined],
    ])
    await drop(slot(6))
    await expect(names({ at: 4 })).rejects.toMatchObject({ code: 'Expired' })
    expect(await read(slot(6))).toBeUndefined()
  })

  test('raises the floor when nothing was settled for hours', async () => {
    await create(storage, 'c', {}, widgets)
    await assign('at', Date.now() - 7 * hour)
    await expect(storage.changes(widgets, 5)).rejects.toMatchObject({ code: 'Expired', current: 6 })
    expect(await revision()).toMatchObject({ n: 6, settled: 6, floor: 6 })
    expect(await storage.changes(widgets, 6)).toEqual({ changes: [], rv: 6 })
    await expect(names({ at: 5 })).rejects.toMatchObject({ code: 'Expired' })
    expect(await names({ notOlderThan: 5 })).toEqual(['a', 'b', 'c'])
    expect(await names()).toEqual(['a', 'b', 'c'])
  })
})

describe('tombstones', () => {
  test('make a create with an older revision take a newer one', async () => {
    const gone = {
      pk: rowsOf(widgets.resource),
      sk: sortKey('a'),
      rv: 3,
      gone: true,
      expires: Math.floor(Date.now() / 1000) + 1000,
    }
    await put(gone)
    expect((await create(storage, 'a', {}, widgets)).rv).toBe(4)
    expect((await storage.changes(widgets, 1)).changes.map(({ type, rv }) => [type, rv])).toEqual([['ADDED', 4]])
  })

  test('have an expiry and no data of the object', async () => {
    await create(storage, 'a', { secret: 'x', in: ['p'] }, widgets)
    await remove(storage, 'a', widgets)
    for (const pk of [rowsOf(widgets.resource), rowsOf(widgets.resource, 'p')]) {
      const { expires, ...row } = (await read({ pk, sk: 'a' })) ?? ({} as Item)
      expect(row).toEqual({ pk, sk: 'a', rv: 3, gone: true })
      expect(expires).toBeCloseTo(Date.now() / 1000 + 48 * 3600, -2)
    }
  })

  test('may be gone before their slot is settled', async () => {
    await create(storage, 'a', {}, widgets)
    await remove(storage, 'a', widgets)
    await drop({ pk: rowsOf(widgets.resource), sk: 'a' })
    await storage.sweep(widgets)
    expect(await revision()).toMatchObject({ settled: 3 })
  })
})

describe('a partly visible transaction', () => {
  test('is shown by a list from its slot, and settling waits for its row', async () => {
    await create(storage, 'a', { v: 1 }, widgets)
    const row = await read({ pk: rowsOf(widgets.resource), sk: 'a' })
    await set(storage, 'a', { v: 2 }, widgets)
    await create(storage, 'b', {}, widgets)
    const later = await read({ pk: rowsOf(widgets.resource), sk: 'a' })
    await put(row)
    await drop({ pk: rowsOf(widgets.resource), sk: 'b' })
    const { items, rv } = await storage.list(widgets, {})
    expect([rv, items.map((one) => [one.key, one.read().object.spec?.v])]).toEqual([
      4,
      [
        ['a', 2],
        ['b', undefined],
      ],
    ])
    await storage.sweep(widgets)
    expect(await revision()).toMatchObject({ settled: 1 })
    await put(later)
    await storage.sweep(widgets)
    expect(await revision()).toMatchObject({ settled: 1 })
  })

  test('makes a caller who has seen the newer state wait for the row', async () => {
    await create(storage, 'a', { v: 1 }, widgets)
    const row = await read({ pk: rowsOf(widgets.resource), sk: 'a' })
    await set(storage, 'a', { v: 2 }, widgets)
    const later = await read({ pk: rowsOf(widgets.resource), sk: 'a' })
    await put(row)
    expect((await storage.get(widgets, 'a'))?.rv).toBe(2)
    const seen: (number | undefined)[] = []
    during = () => put(later)
    const reading = storage.update(
      widgets,
      'a',
      (current) => {
        seen.push(current?.rv)
        return { type: 'none' }
      },
      { ...unhurried, notOlderThan: 3 },
    )
    await reading
    expect(seen).toEqual([3])
    expect(waited).toBeGreaterThan(0)
    waited = 0
    expect([(await storage.get(widgets, 'a', { notOlderThan: 900 }))?.rv, waited]).toEqual([3, 0])
  })
})

test('a watch that is far behind gets its changes in several batches', async () => {
  await create(storage, 'a', {}, widgets)
  await assign('n', 559)
  const voids = Array.from({ length: 557 }, (_, i) => ({ ...slot(3 + i), type: 'VOID' }))
  await Promise.all(voids.map(put))
  await create(storage, 'b', {}, widgets)
  expect(await storage.changes(widgets, 1)).toMatchObject({ rv: 513, more: true, changes: [{ key: 'a' }] })
  const last = await storage.changes(widgets, 513)
  expect([last.rv, last.more, last.changes.map(({ key }) => key)]).toEqual([560, undefined, ['b']])
})

test('a batch of changes ends at its size limit', async () => {
  await create(storage, 'a', {}, widgets)
  await assign('n', 200)
  // Two states of one object, nearly as large as allowed, with invalid deflated data: decoding them would fail.
  const large = { rv: 1, object: new Uint8Array(190_000), internal: '{}', partitions: [] }
  const slots = Array.from({ length: 198 }, (_, i) => ({
    ...slot(3 + i),
    ...(i < 80 ? { ...large, type: 'MODIFIED', key: 'a', prev: large } : { type: 'VOID' }),
  }))
  for (const one of slots) await put(one)
  const first = await storage.changes(widgets, 2)
  expect([first.rv, first.more, first.changes.length]).toEqual([63, true, 61])
  expect(() => first.changes[0]?.stored).toThrow('invalid')
  const second = await storage.changes(widgets, 63)
  expect([second.rv, second.more, second.changes.length]).toEqual([200, undefined, 19])
})

test('a watch passes a range of gaps longer than one batch', async () => {
  await create(storage, 'a', {}, widgets)
  await assign('n', 559)
  await create(storage, 'b', {}, widgets)
  const seen: string[] = []
  for (let rv = 1; rv < 560; waited += 500) {
    const batch = await storage.changes(widgets, rv)
    seen.push(...batch.changes.map(({ key }) => key))
    rv = batch.rv
  }
  expect(seen).toEqual(['a', 'b'])
})

test('writers settle every few revisions', async () => {
  for (let i = 0; i < 84; i++) await create(storage, `k${i}`, { in: i % 3 ? ['p'] : [] }, widgets)
  const { n, settled, at } = await revision()
  expect(n).toBe(85)
  expect(settled).toBeGreaterThan(30)
  expect(at).toBeLessThanOrEqual(Date.now())
  expect((await names()).length).toBe(84)
})

describe('a sweep during writes', () => {
  /** A storage that runs something else before it reads several items. */
  const interruptReads = (before: () => Promise<unknown>): Storage =>
    storageOver(
      {
        ...items,
        async batchGet(...args) {
          await before()
          return items.batchGet(...args)
        },
      },
      { ...real, now: () => Date.now() + shift },
    )

  test('records its progress, so that lists work for longer than the stale limit', async () => {
    let written = 0
    const outrun = async () => {
      const { n: seen } = await revision()
      for (let settled = 0; settled <= seen; settled = (await revision()).settled) {
        await create(storage, `k${written++}`, {}, widgets)
      }
      await create(storage, `k${written++}`, {}, widgets)
    }
    await create(storage, 'first', {}, widgets)
    const sweeper = interruptReads(outrun)
    for (let hours = 0; hours < 14; hours += 3) {
      shift = hours * hour
      await sweeper.sweep(widgets)
      const { at, floor } = await revision()
      expect(Math.abs(at - Date.now() - shift)).toBeLessThan(60_000)
      expect(floor).toBe(1)
      expect((await names()).length).toBe(written + 1)
    }
  })

  test('raises the floor when nothing was settled for hours', async () => {
    for (let i = 0; i < 4; i++) await create(storage, `k${i}`, {}, widgets)
    await assign('at', Date.now() - 7 * hour)
    await interruptReads(() => assign('settled', 9)).sweep(widgets)
    const { settled, floor, at } = await revision()
    expect([settled, floor]).toEqual([9, 5])
    expect(Date.now() - at).toBeLessThan(60_000)
  })

  test('keeps what another sweep has recorded in the meantime', async () => {
    for (let i = 0; i < 4; i++) await create(storage, `k${i}`, {}, widgets)
    const noted = Date.now() - hour
    await assign('at', Date.now() - 7 * hour)
    await interruptReads(() => assign('at', noted)).sweep(widgets)
    expect(await revision()).toMatchObject({ at: noted, floor: 1 })
  })
})

test('a list finds what a selector matches after more than a thousand objects that it does not match', async () => {
  const name = (index: number) => `n${String(index).padStart(4, '0')}`
  const last = [1050, 1051, 1052].map(name)
  for (let index = 0; index < 1050; index++) await create(storage, name(index), { app: 'a' }, widgets)
  for (const key of last) await create(storage, key, { app: 'b' }, widgets)
  await storage.sweep(widgets)
  const found: string[][] = []
  for (let after: string | undefined; found.length < 10; ) {
    const matches = ({ object }: Stored) => object.spec?.app === 'b'
    const request = { limit: 2, text: '"app":"b"', matches, ...(after !== undefined && { after }) }
    const page = await storage.list(widgets, request)
    found.push(page.items.map(({ key }) => key))
    after = page.next
    if (after === undefined) break
  }
  expect(found).toEqual([last.slice(0, 2), last.slice(2)])
})

describe('tombstones', () => {
  const tombstones = async (partition?: string) =>
    (await items.query({ pk: rowsOf(widgets.resource, partition) })).items
      .filter(({ gone }) => gone)
      .map(({ sk }) => sk)
  const sweepAfter = async (ms: number) => {
    shift += ms
    await storage.sweep(widgets)
  }
  /** Deletes `a` after a first sweep, and returns the revision before that. */
  async function deleteOne(): Promise<number> {
    await create(storage, 'a', { in: ['p'] }, widgets)
    const { rv } = await create(storage, 'b', { in: ['p'] }, widgets)
    await remove(storage, 'a', widgets)
    return rv
  }

  test('leave the rows and the index partitions at the first sweep that no page can have begun before', async () => {
    await deleteOne()
    await sweepAfter(0)
    await sweepAfter(44_999)
    expect([await tombstones(), await tombstones('p')]).toEqual([['a'], ['a']])
    await sweepAfter(1)
    expect([await tombstones(), await tombstones('p')]).toEqual([[], []])
    expect(await names()).toEqual(['b'])
  })

  test('of a partition that an object has left leave it, and the object stays', async () => {
    await create(storage, 'a', { in: ['p', 'q'] }, widgets)
    await set(storage, 'a', { in: ['q'] }, widgets)
    expect(await tombstones('p')).toEqual(['a'])
    await sweepAfter(0)
    await sweepAfter(45_000)
    expect(await tombstones('p')).toEqual([])
    expect((await items.query({ pk: deletedOf(widgets.resource) })).items).toEqual([])
    expect([await names({ partitions: ['p'] }), await names({ partitions: ['q'] })]).toEqual([[], ['a']])
  })

  test('that are cleared are missed by no list and no watch at an earlier revision', async () => {
    const at = await deleteOne()
    const [seen] = (await storage.list(widgets, { at })).items
    await sweepAfter(0)
    await sweepAfter(60_000)
    expect(await tombstones()).toEqual([])
    expect(await names({ at })).toEqual(['a', 'b'])
    expect(await names({ at, partitions: ['p'] })).toEqual(['a', 'b'])
    expect(await names({ at, key: 'a' })).toEqual(['a'])
    expect(await names({ at, limit: 1, after: 'a' })).toEqual(['b'])
    // The filter accepts what the object was last, not what it is: nothing.
    expect(await names({ at, filter: () => true })).toEqual(['a', 'b'])
    const last = seen && (await storage.latest(widgets, seen.read()))
    expect(last?.object.metadata.name).toBe('a')
    expect((await storage.changes(widgets, at)).changes.map(({ type, key }) => [type, key])).toEqual([['DELETED', 'a']])
  })

  test('replace no newer one among the deleted objects', async () => {
    await deleteOne()
    await sweepAfter(0)
    const newer = { pk: deletedOf(widgets.resource), sk: 'a', rv: 99, gone: true }
    await put(newer)
    await sweepAfter(45_000)
    expect([await tombstones(), await read(newer)]).toEqual([[], newer])
  })

  test('of a name that was created anew are not those of its new object', async () => {
    const at = await deleteOne()
    await sweepAfter(0)
    await create(storage, 'a', { in: ['p'], is: 'new' }, widgets)
    await sweepAfter(60_000)
    expect(await names()).toEqual(['a', 'b'])
    expect((await storage.list(widgets, { at })).items.map((one) => one.read().object.spec)).toEqual([
      { in: ['p'] },
      { in: ['p'] },
    ])
    await remove(storage, 'a', widgets)
    await sweepAfter(60_000)
    await sweepAfter(60_000)
    const { items: deleted } = await items.query({ pk: deletedOf(widgets.resource) })
    expect(deleted.map(({ sk, rv }) => [sk, rv])).toEqual([['a', (await revision()).n]])
  })

  test('take the names of their objects with them, and leave that of a new object', async () => {
    const named = { ...widgets, names: () => ['all'] }
    const found = async () => (await storage.names(named, { named: 'all' })).map(({ key }) => key)
    for (const key of ['a', 'b', 'c']) await create(storage, key, {}, named)
    const at = await storage.revision(named)
    for (const key of ['a', 'b']) await remove(storage, key, named)
    await set(storage, 'c', { is: 'changed' }, named)
    await sweepAfter(0)
    await create(storage, 'b', {}, named)
    expect(await found()).toEqual(['a', 'b', 'c'])
    await sweepAfter(60_000)
    expect(await found()).toEqual(['b', 'c'])
    const keysOf = async (request: ListRequest) => (await storage.list(named, request)).items.map(({ key }) => key)
    expect([await keysOf({ named: 'all' }), await keysOf({ named: 'all', at })]).toEqual([
      ['b', 'c'],
      ['a', 'b', 'c'],
    ])
  })

  test('are cleared by no reader, and by the next sweep if the store fails meanwhile', async () => {
    await deleteOne()
    await sweepAfter(0)
    shift += 7 * hour
    expect(await names()).toEqual(['b'])
    expect(await tombstones()).toEqual(['a'])
    const failing = storageOver(
      {
        ...items,
        write: (one, deadline) =>
          one.type === 'set' ? items.write(one, deadline) : Promise.reject(new ItemsFault('throttled', undefined)),
      },
      { ...real, elapsed: () => (waited += 1000), now: () => Date.now() + shift },
    )
    await failing.sweep(widgets)
    expect(await tombstones()).toEqual(['a'])
    await sweepAfter(45_000)
    expect(await tombstones()).toEqual([])
  })

  test('may leave the rows below a page that reads for too long, which is refused', async () => {
    await deleteOne()
    const slow = (ms: number) =>
      storageOver(
        {
          ...items,
          query(query) {
            shift += ms
            return items.query(query)
          },
        },
        { ...real, now: () => Date.now() + shift },
      )
    await storage.sweep(widgets)
    expect((await slow(29_000).list(widgets, {})).items.length).toBe(1)
    await expect(slow(31_000).list(widgets, {})).rejects.toMatchObject({ code: 'Unavailable' })
  })
})

describe('a swap whose first answer is lost', () => {
  const item = (text: string) => ({ pk: 'swap', sk: '#', attributes: { text } })

  /** A store whose first transaction is answered by silence, after it was applied or lost; `then` runs next. */
  function silentAtFirst(outcome: 'applied' | 'lost', then: () => Promise<unknown>): Storage {
    let sent = 0
    const transact: Items['transact'] = async (writes, deadline) => {
      if (sent++ > 0) return items.transact(writes, deadline)
      if (outcome === 'applied') await items.transact(writes, deadline)
      await then()
      throw new ItemsFault('unanswered', undefined)
    }
    return storageOver({ ...items, transact }, real)
  }
  async function replace(): Promise<void> {
    const before = await getCompanion(storage, { pk: 'swap', sk: '#' })
    expect(await storage.writeCompanion({ ...item('theirs'), when: { is: before } }, unhurried)).toBeDefined()
  }

  test.each(['applied', 'lost'] as const)('succeeds if the first attempt was %s', async (outcome) => {
    const silent = silentAtFirst(outcome, async () => {})
    const written = await silent.writeCompanion({ ...item('mine'), when: { is: undefined } }, unhurried)
    expect(written).toMatchObject(item('mine'))
    expect(await getCompanion(storage, { pk: 'swap', sk: '#' })).toEqual(written)
  })

  test.each(['applied', 'lost'] as const)('is undecided if it was %s and another swap follows', async (outcome) => {
    const silent = silentAtFirst(outcome, replace)
    await expect(silent.writeCompanion({ ...item('mine'), when: { is: undefined } }, unhurried)).rejects.toMatchObject({
      code: 'Undecided',
    })
    expect((await getCompanion(storage, { pk: 'swap', sk: '#' }))?.attributes.text).toBe('theirs')
  })

  test('is undecided if the deadline passes before the next attempt', async () => {
    let left = 1000
    const silent = silentAtFirst('applied', async () => {
      left = 0
    })
    const swapping = silent.writeCompanion({ ...item('mine'), when: { is: undefined } }, { deadline: () => left })
    await expect(swapping).rejects.toMatchObject({ code: 'Undecided', cause: { code: 'TooLate' } })
  })
})
