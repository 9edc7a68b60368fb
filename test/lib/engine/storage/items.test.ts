/** Tests the contract of the item operations, over the driver of the suite. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  type Condition,
  type Item,
  type Items,
  ItemsFault,
  type ItemValue,
  type ItemWrite,
  type SingleWrite,
  sizeOf,
} from '../../../../lib/engine/storage/items.ts'
import { has, isAbsent, isLive, isTombstone, isVacant } from '../../../../lib/engine/storage/records.ts'
import { isDynamoDB, openStore, type TestStore } from '../../../support/store.ts'

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
  expect(await items.get(at('plain'), true)).toEqual(plain)
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

  test('may leave out tombstones that are unneeded and outline other items, and reads everything else page by page', async () => {
    const gone = (rv: number) => ({ rv, gone: true, expires: 9e9 })
    const rows: Record<string, Omit<Item, 'pk' | 'sk'>> = {
      d1: { rv: 3, object: '{"a":"b"}' },
      d2: { rv: 4, object: '{"a":"c\\n"}' },
      d3: gone(5),
      d4: { rv: 5, object: new Uint8Array([1]) },
      d5: { rv: 6, object: '{"a":"c"}' },
      d6: gone(6),
      d7: gone(1),
    }
    for (const [sk, row] of Object.entries(rows)) await put(sk, row)
    const read = async (text: string | undefined, limit: number): Promise<string[]> => {
      const found: string[] = []
      for (let after: string | undefined; ; after = found.at(-1)) {
        const query = { pk, prefix: 'd', limit, unneeded: { upTo: 5, text }, ...(after && { after }) }
        const page = await items.query(query)
        found.push(...keys(page.items))
        if (!page.more) return found
      }
    }
    for (const limit of [1, 2, 100]) {
      expect(await read('"a":"b"', limit)).toEqual(expect.arrayContaining(['d1', 'd4', 'd5', 'd6']))
      expect(await read('c\\n', limit)).toEqual(expect.arrayContaining(['d2', 'd4', 'd5', 'd6']))
      expect(await read(undefined, limit)).toEqual(expect.arrayContaining(['d1', 'd2', 'd4', 'd5', 'd6']))
    }
    if (isDynamoDB) return
    const { items: found, more } = await items.query({
      pk,
      prefix: 'd',
      limit: 2,
      unneeded: { upTo: 5, text: '"a":"b"' },
    })
    const outline = { ...at('d2'), rv: 4, outlined: sizeOf({ ...at('d2'), ...rows.d2 }) }
    expect([found, more]).toEqual([[{ ...at('d1'), ...rows.d1 }, outline, { ...at('d4'), ...rows.d4 }], true])
    // A page has the newer tombstones up to its last item, and all of them at the end. None counts towards the limit.
    expect(keys((await items.query({ pk, prefix: 'd', limit: 1, unneeded: { upTo: 0 } })).items)).toEqual(['d1'])
    expect(keys((await items.query({ pk, prefix: 'd', limit: 3, unneeded: { upTo: 0 } })).items)).toEqual([
      'd1',
      'd2',
      'd3',
      'd4',
    ])
    expect(keys((await items.query({ pk, prefix: 'd', after: 'd2', limit: 2, unneeded: { upTo: 5 } })).items)).toEqual([
      'd4',
      'd5',
      'd6',
    ])
  })

  test('says where a page is over that met unneeded items only', async () => {
    const total = items.limits.queryItems + 50
    const name = (index: number) => `e${String(index).padStart(4, '0')}`
    const rows = Array.from({ length: total + 3 }, (_, index) => ({
      ...at(name(index)),
      rv: 3,
      object: index < total ? '{"a":"b"}' : '{"a":"c"}',
    }))
    for (let index = 0; index < rows.length; index += 25)
      await Promise.all(rows.slice(index, index + 25).map((item) => items.write({ type: 'put', item }, always)))
    const pages: Item[][] = []
    for (let after: string | undefined; ; after = pages.at(-1)?.at(-1)?.sk) {
      const query = { pk, prefix: 'e', limit: 500, unneeded: { upTo: 5, text: '"a":"c"' }, ...(after && { after }) }
      const page = await items.query(query)
      pages.push(page.items)
      if (!page.more || pages.length > 10) break
    }
    expect(keys(pages.flat())).toEqual(rows.map(({ sk }) => sk))
    const whole = pages.flat().filter((item) => item.object === '{"a":"c"}')
    expect(keys(whole)).toEqual([name(total), name(total + 1), name(total + 2)])
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
    const { items: found, more } = await items.query(query({ to: 20 }))
    expect([keys(found), more]).toEqual([['b', 'c', 'a'], false])
    expect(found[1]).toEqual({ ...at('c'), expiryIndex: pk, expiry: 1.5, name: 'n', uid: 'u' })
    expect(keys((await items.query(query({ from: 1.5, to: 19 }))).items)).toEqual(['c'])
  })

  test('follows changes of items', async () => {
    await put('a', { expiryIndex: pk, expiry: 1 })
    await transact({ type: 'set', key: at('a'), attributes: { expiry: 5 } })
    expect(keys((await items.query(query({ from: 5, to: 5 }))).items)).toEqual(['a'])
    await transact({ type: 'set', key: at('a'), attributes: {}, remove: ['expiryIndex'] })
    expect((await items.query(query({ to: 9 }))).items).toEqual([])
  })

  test('is read page by page, also where numbers are equal', async () => {
    const sorts = ['a', 'b', 'c', 'd', 'e']
    for (const sk of sorts) await put(sk, { expiryIndex: pk, expiry: sk < 'c' ? 1 : 2 })
    const found: Item[] = []
    for (let after: Item | undefined; ; ) {
      const position = after && { after: { pk, sk: after.sk, at: Number(after.expiry) } }
      const page = await items.query({ ...query({ to: 2 }), limit: 2, ...position })
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
  type Holds = { live: boolean; gone: boolean; missing: boolean }
  const holds = (names: string): Holds => ({
    live: names.includes('live'),
    gone: names.includes('gone'),
    missing: names.includes('missing'),
  })
  const cases: [string, ItemWrite['when'], string][] = [
    ['no item', isAbsent, 'missing'],
    ['any item', has({}), 'live, gone'],
    ['a live row', isLive(5), 'live'],
    ['a live row, at another revision', isLive(4), ''],
    ['no row or an older tombstone', isVacant(6), 'gone, missing'],
    ['no row or an older tombstone, before the tombstone', isVacant(5), 'missing'],
    ['a tombstone', isTombstone(5), 'gone'],
    ['a tombstone of another revision', isTombstone(4), ''],
    ['attributes', has({ owner: 'x', gates: ['a'] }), 'live'],
    ['another value', has({ gates: ['b'] }), ''],
    ['an attribute without its like', has({}, ['gone']), 'live'],
    ['an undefined attribute', has({ owner: undefined }), 'gone'],
    ['absent', { owner: 'absent' }, 'gone, missing'],
    ['present', { owner: 'present' }, 'live'],
    ['is', { owner: { is: 'x' } }, 'live'],
    ['is, of another type', { rv: { is: '5' } }, ''],
    ['not', { owner: { not: 'y' } }, 'live, gone, missing'],
    ['not, of a list', { gates: { not: ['a'] } }, 'gone, missing'],
    ['below', { rv: { below: 6 } }, 'live, gone, missing'],
    ['below, where it is as high', { rv: { below: 5 } }, 'missing'],
    ['from', { rv: { from: 5 } }, 'live, gone'],
    ['from, where it is lower', { rv: { from: 6 } }, ''],
    ['two tests, one of which fails', { rv: { is: 5 }, owner: { is: 'y' } }, ''],
    [
      'one of two conditions',
      [{ owner: { is: 'y' } }, { rv: { from: 9 }, gone: 'present' }, { gone: 'present' }],
      'gone',
    ],
  ]

  test.each(cases)('%s', async (_, when, names) => {
    await put('live', live)
    await put('gone', gone)
    const made: ((key: { pk: string; sk: string }) => SingleWrite)[] = [
      (key) => ({ type: 'set', key, attributes: { new: 1 }, when }),
      (key) => ({ type: 'put', item: { ...key, ...live }, when }),
      (key) => ({ type: 'delete', key, when }),
    ]
    for (const [sk, isMet] of Object.entries(holds(names))) {
      const before = await items.get(at(sk))
      const refused = { done: false, refused: [0], conflicts: [] }
      if (!Array.isArray(when))
        expect(await transact({ type: 'check', key: at(sk), when: when as Condition })).toEqual(
          isMet ? { done: true } : refused,
        )
      for (const make of made) {
        for (const alone of [true, false]) {
          const outcome = alone ? await items.write(make(at(sk)), always) : await transact(make(at(sk)))
          const refusal = alone ? { done: false, there: before } : refused
          expect([sk, outcome]).toEqual([sk, isMet ? { done: true } : refusal])
          if (!isMet) expect(await items.get(at(sk))).toEqual(before)
          await transact(before ? { type: 'put', item: before } : { type: 'delete', key: at(sk) })
        }
      }
    }
  })
})

describe('a write by itself', () => {
  test('sets and removes attributes, replaces an item, and removes it', async () => {
    await items.write({ type: 'put', item: { ...at('a'), keep: 1, drop: 1 } }, always)
    await items.write({ type: 'set', key: at('a'), attributes: { n: 2 }, remove: ['drop'] }, always)
    expect(await items.get(at('a'))).toEqual({ ...at('a'), keep: 1, n: 2 })
    await items.write({ type: 'put', item: { ...at('a'), b: 2 } }, always)
    expect(await items.get(at('a'))).toEqual({ ...at('a'), b: 2 })
    for (const _ of ['present', 'absent'])
      expect(await items.write({ type: 'delete', key: at('a') }, always)).toEqual({ done: true })
    expect(await items.get(at('a'))).toBeUndefined()
  })

  test('of an absent item has one winner, whom the others see', async () => {
    const writers = Array.from({ length: 20 }, (_, by) => ({ ...at('slot'), by }))
    const found = await Promise.all(writers.map((item) => items.write({ type: 'put', item, when: isAbsent }, always)))
    const winner = writers[found.findIndex(({ done }) => done)]
    expect(found.filter(({ done }) => !done)).toEqual(
      Array.from({ length: 19 }, () => ({ done: false, there: winner })),
    )
    expect(await items.get(at('slot'))).toEqual(winner)
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
    const absent = isAbsent
    const outcome = await transact(
      { type: 'put', item: { ...at('b'), n: 1 }, when: absent },
      { type: 'put', item: at('a'), when: absent },
      { type: 'delete', key: at('c') },
      { type: 'check', key: at('d'), when: has({}) },
    )
    expect(outcome).toEqual({ done: false, refused: [1, 3], conflicts: [] })
    expect([await items.get(at('a')), await items.get(at('b'))]).toEqual([{ ...at('a'), n: 1 }, undefined])
  })

  test('of a hundred writes has each of them', async () => {
    const writes = Array.from({ length: 100 }, (_, index): ItemWrite => ({ type: 'put', item: at(String(index)) }))
    expect(await transact(...writes)).toEqual({ done: true })
    expect((await items.query({ pk })).items.length).toBe(100)
  })
})

describe('the revision item', () => {
  const key = () => at('#revision')

  test('is created at 1, and gives every writer another revision', async () => {
    const taken = await Promise.all(Array.from({ length: 40 }, () => items.allocate(key(), 7)))
    expect(taken.map(({ n }) => Number(n)).sort((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, i) => i + 2))
    expect(await items.get(key())).toEqual({
      ...key(),
      ...{ n: 41, settled: 1, floor: 1, at: 7, cleared: 1, marked: 1, markedAt: 0 },
    })
  })
})

test('nothing is written after its deadline', async () => {
  const late = store.items(() => 1001)
  const item = at('late')
  await expect(late.write({ type: 'put', item }, 1000)).rejects.toMatchObject({ kind: 'unanswered' })
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
    [
      'an item of more than 400 KB, put alone',
      () => items.write({ type: 'put', item: { ...at('a'), text: text(400 * 1024) } }, always),
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
      () => transact({ type: 'put', item: at('a') }, { type: 'check', key: at('a'), when: isAbsent }),
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
    expect(await items.write({ type: 'put', item: { ...largest, t: text(rest - 64) } }, always)).toEqual({ done: true })
    expect(await items.write({ type: 'put', item: { ...largest, sk: 'other', t: text(rest + 900) } }, always)).toEqual({
      done: true,
    })
  })
})
