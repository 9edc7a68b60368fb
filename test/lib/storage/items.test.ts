/** Tests the contract of the item operations, over the driver of the suite. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  type Advance,
  type Condition,
  type Item,
  type Items,
  ItemsFault,
  type ItemValue,
  type ItemWrite,
} from '../../../lib/storage/items.ts'
import { isDynamoDB, openStore, type TestStore } from '../../support/store.ts'

let store: TestStore
let items: Items
let count = 0
/** Each test has partitions of its own. */
let pk: string

const always = Number.POSITIVE_INFINITY

beforeAll(async () => {
  store = await openStore()
  items = store.items()
})
afterAll(() => store.close())
beforeEach(() => {
  pk = `p${count++}`
})

const at = (sk: string) => ({ pk, sk })
const put = (sk: string, attributes: Record<string, ItemValue> = {}) =>
  items.transact([{ type: 'put', item: { ...at(sk), ...attributes } }], always)
const transact = (...writes: ItemWrite[]) => items.transact(writes, always)
const keys = (found: readonly Item[]) => found.map(({ sk }) => sk)
const text = (bytes: number) => 'x'.repeat(bytes)

test('an item is read as it was written', async () => {
  const values: Record<string, ItemValue> = {
    text: 'é\u{10ffff}\u0000"\\\n',
    empty: '',
    yes: true,
    nothing: null,
    small: -1.5e-7,
    integer: Number.MAX_SAFE_INTEGER,
    exact: 9223372036854775807n,
    safe: 5n,
    bytes: new Uint8Array([0, 1, 254, 255]),
    list: [1, [], 'a', { B: 'QUJD', N: '1' }],
    map: { inner: { bytes: new Uint8Array([7]), big: -9007199254740993n }, none: {} },
    M: { S: 'x' },
  }
  const bytes = { ...at('bytes'), one: { bytes: new Uint8Array([1]) } }
  const plain = { ...at('plain'), list: ['a', { deep: [null] }], n: 1 }
  await transact(
    { type: 'put', item: { ...at('all'), ...values } },
    { type: 'put', item: plain },
    { type: 'put', item: bytes },
  )
  expect(await items.get(at('all'))).toEqual({ ...at('all'), ...values, safe: 5 })
  expect(await items.get(at('plain'))).toEqual(plain)
  expect(await items.get(at('bytes'))).toEqual(bytes)
  expect(await items.getRecent(at('plain'))).toEqual(plain)
  expect(await items.get(at('absent'))).toBeUndefined()
})

test('a batch has the items that exist, whole or in part', async () => {
  const all = Array.from({ length: 130 }, (_, index) => at(String(index)))
  await transact(...all.slice(0, 100).map((key): ItemWrite => ({ type: 'put', item: { ...key, a: 1, b: 2 } })))
  const found = await items.batchGet(all)
  expect(keys(found).sort()).toEqual(keys(all.slice(0, 100) as Item[]).sort())
  expect(found[0]).toMatchObject({ a: 1, b: 2 })
  expect(await items.batchGet([at('7'), at('200')], ['sk', 'b', 'none'])).toEqual([{ sk: '7', b: 2 }])
})

describe('a query', () => {
  const sorts = ['1', '10', '2', 'a', 'a#b', 'aé', 'b', '\uffff', '\u{10000}']

  beforeEach(async () => {
    await transact(...sorts.map((sk): ItemWrite => ({ type: 'put', item: { ...at(sk), n: 1 } })))
    await items.transact([{ type: 'put', item: { pk: `${pk}-`, sk: '1' } }], always)
  })

  test.each([
    ['has all items of the partition, by the bytes of their sort keys', {}, sorts],
    ['from one sort key to another one', { from: '10', to: 'a' }, ['10', '2', 'a']],
    ['with a prefix', { prefix: 'a' }, ['a', 'a#b', 'aé']],
    ['with a prefix of the last characters', { prefix: '\u{10000}' }, ['\u{10000}']],
    ['after a sort key', { after: '2' }, sorts.slice(3)],
    ['after a sort key that does not exist', { after: '3' }, sorts.slice(3)],
    ['after a sort key, with a prefix', { prefix: 'a', after: 'a' }, ['a#b', 'aé']],
    ['of what does not exist', { prefix: 'c' }, []],
  ])('%s', async (_, query, expected) => {
    expect(await items.query({ pk, ...query })).toEqual({
      items: expected.map((sk) => ({ ...at(sk), n: 1 })),
      more: false,
    })
  })

  test('ends at its limit, and says whether more follow', async () => {
    const { items: found, more } = await items.query({ pk, limit: 2 })
    expect([keys(found), more]).toEqual([sorts.slice(0, 2), true])
    expect((await items.query({ pk, after: 'aé', limit: 100 })).more).toBe(false)
  })

  test('reads the attributes that it names', async () => {
    expect(await items.query({ pk, prefix: 'b', attributes: ['sk', 'none'] })).toEqual({
      items: [{ sk: 'b' }],
      more: false,
    })
  })

  test('ends a page at 1 MB, whatever it reads of the items', async () => {
    for (const sk of ['c1', 'c2', 'c3', 'c4']) await put(sk, { text: text(350_000) })
    const first = await items.query({ pk, prefix: 'c', attributes: ['sk'] })
    expect([first.more, first.items.length >= 2, first.items.length <= 3]).toEqual([true, true, true])
    const rest = await items.query({ pk, prefix: 'c', after: first.items.at(-1)?.sk ?? '' })
    expect(keys([...first.items, ...rest.items])).toEqual(['c1', 'c2', 'c3', 'c4'])
  })
})

describe('the index', () => {
  const query = (range: { from?: number; to: number }) => ({
    index: 'expiry',
    partition: { attribute: 'expiryIndex', value: pk },
    sort: { attribute: 'expiry', ...range },
  })

  test('has the items with both attributes, by number, and some of their attributes', async () => {
    await put('c', { expiryIndex: pk, expiry: 1.5, name: 'n', uid: 'u', other: 1 })
    await put('b', { expiryIndex: pk, expiry: -3 })
    await put('a', { expiryIndex: pk, expiry: 20 })
    await put('d', { expiryIndex: pk })
    await put('e', { expiry: 1 })
    await put('f', { expiryIndex: 'other', expiry: 1 })
    const { items: found, more } = await items.queryIndex(query({ to: 20 }))
    expect([keys(found), more]).toEqual([['b', 'c', 'a'], false])
    expect(found[1]).toEqual({ ...at('c'), expiryIndex: pk, expiry: 1.5, name: 'n', uid: 'u' })
    expect(keys((await items.queryIndex(query({ from: 1.5, to: 19 }))).items)).toEqual(['c'])
  })

  test('follows changes of items', async () => {
    await put('a', { expiryIndex: pk, expiry: 1 })
    await transact({ type: 'set', key: at('a'), attributes: { expiry: 5 } })
    expect(keys((await items.queryIndex(query({ from: 5, to: 5 }))).items)).toEqual(['a'])
    await transact({ type: 'set', key: at('a'), attributes: {}, remove: ['expiryIndex'] })
    expect((await items.queryIndex(query({ to: 9 }))).items).toEqual([])
  })

  test('is read page by page, also where numbers are equal', async () => {
    const sorts = ['a', 'b', 'c', 'd', 'e']
    for (const sk of sorts) await put(sk, { expiryIndex: pk, expiry: sk < 'c' ? 1 : 2 })
    const found: Item[] = []
    for (let after: Item | undefined; ; ) {
      const position = after && { after: { pk, sk: after.sk, at: Number(after.expiry) } }
      const page = await items.queryIndex({ ...query({ to: 2 }), limit: 2, ...position })
      found.push(...page.items)
      after = page.items.at(-1)
      if (!page.more) break
    }
    expect(keys(found).sort()).toEqual(sorts)
    expect(found.map(({ expiry }) => expiry)).toEqual([1, 1, 2, 2, 2])
  })
})

describe('a condition', () => {
  const live = { rv: 5, owner: 'x', gates: ['a'] }
  const gone = { rv: 5, gone: true }
  const cases: [string, Condition, { live: boolean; gone: boolean; missing: boolean }][] = [
    ['absent', { type: 'absent' }, { live: false, gone: false, missing: true }],
    ['unchanged', { type: 'unchanged', rv: 5 }, { live: true, gone: false, missing: false }],
    ['unchanged, at another revision', { type: 'unchanged', rv: 4 }, { live: false, gone: false, missing: false }],
    ['vacant', { type: 'vacant', rev: 6 }, { live: false, gone: true, missing: true }],
    ['vacant, before the tombstone', { type: 'vacant', rev: 5 }, { live: false, gone: false, missing: true }],
    ['has nothing', { type: 'has', attributes: {}, lacks: [] }, { live: true, gone: true, missing: false }],
    [
      'has attributes',
      { type: 'has', attributes: { owner: 'x', gates: ['a'] }, lacks: [] },
      { live: true, gone: false, missing: false },
    ],
    [
      'has another value',
      { type: 'has', attributes: { gates: ['b'] }, lacks: [] },
      { live: false, gone: false, missing: false },
    ],
    ['lacks attributes', { type: 'has', attributes: {}, lacks: ['gone'] }, { live: true, gone: false, missing: false }],
  ]

  test.each(cases)('%s', async (_, when, expected) => {
    await put('live', live)
    await put('gone', gone)
    const made: ((key: { pk: string; sk: string }) => ItemWrite)[] = [
      (key) => ({ type: 'check', key, when }),
      (key) => ({ type: 'set', key, attributes: { new: 1 }, when }),
      (key) => ({ type: 'put', item: { ...key, ...live }, when }),
      (key) => ({ type: 'delete', key, when }),
    ]
    for (const [sk, holds] of Object.entries(expected)) {
      for (const make of made) {
        const before = await items.get(at(sk))
        const outcome = await transact(make(at(sk)))
        expect([sk, outcome]).toEqual([sk, holds ? { done: true } : { done: false, refused: [0], conflicts: [] }])
        if (!holds) expect(await items.get(at(sk))).toEqual(before)
        await transact(before ? { type: 'put', item: before } : { type: 'delete', key: at(sk) })
      }
    }
  })
})

describe('a transaction', () => {
  test('sets and removes attributes, keeps the others, and creates a missing item', async () => {
    await put('a', { keep: 1, change: 1, drop: 1 })
    await transact(
      { type: 'set', key: at('a'), attributes: { change: 2 }, remove: ['drop', 'none'] },
      { type: 'set', key: at('b'), attributes: { made: true } },
    )
    expect(await items.get(at('a'))).toEqual({ ...at('a'), keep: 1, change: 2 })
    expect(await items.get(at('b'))).toEqual({ ...at('b'), made: true })
  })

  test('writes all or nothing, and names each write that was refused', async () => {
    await put('a', { n: 1 })
    const absent = { type: 'absent' } as const
    const outcome = await transact(
      { type: 'put', item: { ...at('b'), n: 1 }, when: absent },
      { type: 'put', item: at('a'), when: absent },
      { type: 'delete', key: at('c') },
      { type: 'check', key: at('d'), when: { type: 'has', attributes: {}, lacks: [] } },
    )
    expect(outcome).toEqual({ done: false, refused: [1, 3], conflicts: [] })
    expect([await items.get(at('a')), await items.get(at('b'))]).toEqual([{ ...at('a'), n: 1 }, undefined])
  })

  test('of a hundred writes has each of them', async () => {
    const writes = Array.from({ length: 100 }, (_, index): ItemWrite => ({ type: 'put', item: at(String(index)) }))
    expect(await transact(...writes)).toEqual({ done: true })
    expect((await items.query({ pk })).items.length).toBe(100)
  })

  describe('advances a number', () => {
    const advance = (change: Partial<Advance>) =>
      transact({ type: 'advance', key: at('a'), change: { attribute: 'used', value: 5, ...change } })
    const refused = { done: false, refused: [0], conflicts: [] }

    test('never back', async () => {
      expect(await advance({ exists: true })).toEqual(refused)
      expect(await advance({ also: { note: 'first' } })).toEqual({ done: true })
      for (const value of [5, 4]) expect(await advance({ value, also: { note: 'second' } })).toEqual(refused)
      expect(await items.get(at('a'))).toEqual({ ...at('a'), used: 5, note: 'first' })
      expect(await advance({ value: 6, exists: true })).toEqual({ done: true })
    })

    test('if attributes are the same', async () => {
      await put('a', { version: 1, list: ['x'] })
      for (const same of [{ version: 2 }, { version: undefined }, { none: 1 }, { list: ['y'] }]) {
        expect(await advance({ same })).toEqual(refused)
      }
      expect(await advance({ same: { version: 1, none: undefined, list: ['x'] } })).toEqual({ done: true })
    })

    test('from the beginning for another owner', async () => {
      const owner = (value: string) => ({ attribute: 'uid', value })
      expect(await advance({ owner: owner('one') })).toEqual({ done: true })
      expect(await advance({ value: 3, owner: owner('one') })).toEqual(refused)
      expect(await advance({ value: 3, owner: owner('two') })).toEqual({ done: true })
      expect(await items.get(at('a'))).toEqual({ ...at('a'), used: 3, uid: 'two' })
    })
  })
})

describe('the revision item', () => {
  const key = () => at('#revision')
  const confirm = (n: number, was: number, isFloor = false) =>
    items.confirm(key(), { n, was, at: 9, isFloor, also: { cleared: n } })

  test('is created at 1, and gives every writer another revision', async () => {
    const taken = await Promise.all(Array.from({ length: 40 }, () => items.allocate(key(), 7)))
    expect(taken.map(({ n }) => Number(n)).sort((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, i) => i + 2))
    expect(await items.get(key())).toEqual({
      ...key(),
      ...{ n: 41, settled: 1, floor: 1, at: 7, cleared: 1, marked: 1, markedAt: 0 },
    })
  })

  test('settles forward only, and is not created by that', async () => {
    await items.settle(key(), 5)
    expect(await items.get(key())).toBeUndefined()
    await items.allocate(key(), 7)
    await items.settle(key(), 5)
    await items.settle(key(), 4)
    expect(await items.get(key())).toMatchObject({ n: 2, settled: 5 })
  })

  test('is confirmed once, when it has settled', async () => {
    await confirm(1, 7)
    expect(await items.get(key())).toBeUndefined()
    await items.allocate(key(), 7)
    await confirm(2, 7)
    await confirm(1, 6)
    expect(await items.get(key())).toMatchObject({ at: 7, floor: 1 })
    await items.settle(key(), 2)
    await confirm(2, 7, true)
    await confirm(1, 7)
    expect(await items.get(key())).toMatchObject({ at: 9, floor: 2, cleared: 2 })
  })
})

test('a put of an absent item has one winner, whom the others see', async () => {
  const writers = Array.from({ length: 20 }, (_, by) => ({ ...at('slot'), by }))
  const found = await Promise.all(writers.map((item) => items.putIfAbsent(item, always)))
  const winner = writers[found.indexOf(undefined)]
  expect([...new Set(found)].length).toBeGreaterThan(1)
  expect(found.filter((one) => one !== undefined)).toEqual(Array.from({ length: 19 }, () => winner))
  expect(await items.get(at('slot'))).toEqual(winner)
})

test('a put replaces the whole item', async () => {
  await items.put({ ...at('one'), a: 1 }, always)
  await items.put({ ...at('one'), b: 2 }, always)
  expect(await items.get(at('one'))).toEqual({ ...at('one'), b: 2 })
})

test('nothing is written after its deadline', async () => {
  const late = store.items(() => 1001)
  const item = at('late')
  await expect(late.putIfAbsent(item, 1000)).rejects.toMatchObject({ kind: 'unanswered' })
  await expect(late.put(item, 1000)).rejects.toMatchObject({ kind: 'unanswered' })
  await expect(late.transact([{ type: 'put', item }], 1000)).rejects.toMatchObject({ kind: 'unanswered' })
  expect(await late.get(item)).toBeUndefined()
  expect(await late.transact([{ type: 'put', item }], 1001)).toEqual({ done: true })
})

describe('is refused, and changes nothing:', () => {
  const cases: [string, () => Promise<unknown>][] = [
    ['an item of more than 400 KB', () => put('a', { text: text(400 * 1024) })],
    [
      'an item that an update makes too large',
      () => transact({ type: 'set', key: at('big'), attributes: { more: text(60_000) } }),
    ],
    ['an item of more than 400 KB, put alone', () => items.putIfAbsent({ ...at('a'), text: text(400 * 1024) }, always)],
    [
      'an item of more than 400 KB that replaces another',
      () => items.put({ ...at('a'), text: text(400 * 1024) }, always),
    ],
    ['a long partition key', () => transact({ type: 'put', item: { pk: text(2049), sk: 'a' } })],
    ['a long sort key', () => put(text(1025))],
    ['an empty partition key', () => transact({ type: 'put', item: { pk: '', sk: 'a' } })],
    ['an empty sort key', () => put('')],
    ['an index key of another type', () => put('a', { expiryIndex: 1, expiry: 1 })],
    ['an index number of another type', () => put('a', { expiryIndex: 'a', expiry: '1' })],
    ['an empty index key', () => put('a', { expiryIndex: '', expiry: 1 })],
    ['a number that is none', () => put('a', { n: Number.NaN })],
    ['an infinite number', () => put('a', { n: Number.POSITIVE_INFINITY })],
    ['an inexact number', () => put('a', { n: 2 ** 60 })],
    ['a transaction without writes', () => transact()],
    [
      'a transaction of 101 writes',
      () => transact(...Array.from({ length: 101 }, (_, i): ItemWrite => ({ type: 'put', item: at(String(i)) }))),
    ],
    ['two writes of one item', () => transact({ type: 'put', item: at('a') }, { type: 'delete', key: at('a') })],
    [
      'a write and a check of one item',
      () => transact({ type: 'put', item: at('a') }, { type: 'check', key: at('a'), when: { type: 'absent' } }),
    ],
    [
      'a transaction of more than 4 MB',
      () =>
        transact(
          ...Array.from(
            { length: 11 },
            (_, i): ItemWrite => ({ type: 'put', item: { ...at(String(i)), text: text(400_000) } }),
          ),
        ),
    ],
    ['a key twice in a batch', () => items.batchGet([at('a'), at('a')])],
    ['a range that ends before it begins', () => items.query({ pk, from: 'b', to: 'a' })],
    ['a limit of 0', () => items.query({ pk, limit: 0 })],
  ]

  /** The emulator accepts these. DynamoDB does not. */
  const stricter: typeof cases = [
    ['a number of more than 38 digits', () => put('a', { n: 10n ** 38n })],
    ['an update of a key', () => transact({ type: 'set', key: at('a'), attributes: { sk: 'b' } })],
    [
      'an update that sets and removes an attribute',
      () => transact({ type: 'set', key: at('a'), attributes: { n: 1 }, remove: ['n'] }),
    ],
    ['an update without attributes', () => transact({ type: 'set', key: at('big'), attributes: {} })],
  ]

  test.each([...cases, ...(isDynamoDB ? [] : stricter)])('%s', async (_, act) => {
    await put('big', { text: text(370_000) })
    const error = await act().then(
      (answer) => ({ answer }),
      (reason: unknown) => reason,
    )
    expect(error).toBeInstanceOf(Error)
    expect(error).not.toBeInstanceOf(ItemsFault)
    expect(keys((await items.query({ pk })).items)).toEqual(['big'])
    expect((await items.get(at('big')))?.more).toBeUndefined()
  })

  test('not what has the largest sizes', async () => {
    const largest = { pk: `${pk}${text(2048 - pk.length)}`, sk: text(1024) }
    const rest = 400 * 1024 - 2048 - 1024 - 'pkskt'.length
    expect(await items.putIfAbsent({ ...largest, t: text(rest - 64) }, always)).toBeUndefined()
    expect(await items.putIfAbsent({ ...largest, sk: 'other', t: text(rest + 900) }, always)).toBeUndefined()
  })
})
