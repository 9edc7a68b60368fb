/** Tests the contract of the storage port, over the driver of the suite. */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../../lib/engine/meta/types.ts'
import { StorageError } from '../../../../lib/engine/storage/errors.ts'
import type {
  Companion,
  CompanionItem,
  ListRequest,
  Storage,
  Stored,
  Table,
  Touch,
} from '../../../../lib/engine/storage/interface.ts'
import { type FaultKind, ItemsFault, type TransactOutcome } from '../../../../lib/engine/storage/items.ts'
import { activityOf } from '../../../../lib/engine/storage/keys.ts'
import { storageOver } from '../../../../lib/engine/storage/protocol/storage.ts'
import { getCompanion } from '../../../../lib/engine/storage/readcompanions.ts'
import { unhurried } from '../../../support/deadlines.ts'
import { callsOf } from '../../../support/itemcalls.ts'
import { openStore, storageIn, type TestStore } from '../../../support/store.ts'
import {
  create,
  creating,
  deleting,
  Refused,
  remove,
  set,
  setting,
  widgets as shape,
  used,
  widget,
} from './fixtures.ts'

let store: TestStore
let storage: Storage
let widgets: Table
let count = 0

beforeAll(async () => {
  store = await openStore()
  storage = storageIn(store.items())
})
afterAll(() => store.close())
beforeEach(() => {
  widgets = { ...shape, resource: `widgets${count++}` }
})

const names = async (request: Parameters<Storage['list']>[1] = {}) =>
  (await storage.list(widgets, request)).items.map(({ key }) => key)

/** Writes an object of this name, with companions. */
const putWith = (name: string, companions: readonly Companion[]) =>
  storage.update(widgets, name, () => ({ type: 'put', object: widget(name), internal: {}, companions }), unhurried)

/** Creates an object of this name, with companions. */
const createWith = (name: string, ...companions: Companion[]) =>
  storage.update(widgets, name, () => ({ type: 'put', object: widget(name), internal: {}, companions }), {
    ...unhurried,
    isNew: true,
  })

describe('one object', () => {
  test('an empty table is at revision 1, and the first write gets 2', async () => {
    expect([await storage.list(widgets, {}), await storage.revision(widgets)]).toEqual([{ rv: 1, items: [] }, 1])
    const { rv, after, before } = await create(storage, 'a', { size: 1 }, widgets)
    expect([rv, before, after?.object.metadata.resourceVersion]).toEqual([2, undefined, '2'])
    expect([await storage.get(widgets, 'a'), await storage.revision(widgets)]).toEqual([after, 2])
  })

  test('get returns exactly what was stored, including integers beyond 2^53 and internal data', async () => {
    const object = widget('a', {
      big: 9223372036854775807n,
      text: 'é\u{10ffff}\n',
      list: [],
      constructor: {},
      none: null,
    })
    const internal = { chain: [{ role: 'x' }], big: -9007199254740993n }
    await storage.update(widgets, 'a', () => ({ type: 'put', object, internal }), { ...unhurried, isNew: true })
    const found = await storage.get(widgets, 'a')
    expect(found).toEqual({
      key: 'a',
      rv: 2,
      object: { ...object, metadata: { ...object.metadata, resourceVersion: '2' } },
      internal,
    })
    expect((await storage.changes(widgets, 1)).changes[0]?.stored).toEqual(found)
  })

  test('update returns the states before and after; an error of the mutation is passed on and uses no revision', async () => {
    await create(storage, 'a', { size: 1 }, widgets)
    const { before, after, rv } = await set(storage, 'a', { size: 2 }, widgets)
    expect([before?.object.spec, after?.object.spec, rv]).toEqual([{ size: 1 }, { size: 2 }, 3])
    await expect(create(storage, 'a', {}, widgets)).rejects.toThrow(Refused)
    await expect(set(storage, 'b', {}, widgets)).rejects.toThrow(Refused)
    expect((await storage.get(widgets, 'a'))?.rv).toBe(3)
  })

  test('`none` writes nothing', async () => {
    await create(storage, 'a', {}, widgets)
    const { rv, before, after } = await storage.update(widgets, 'a', () => ({ type: 'none' }), unhurried)
    expect([rv, before?.rv, after?.rv]).toEqual([2, 2, 2])
    expect(await storage.update(widgets, 'b', () => ({ type: 'none' }), unhurried)).toEqual({ rv: 0 })
    expect(await storage.update(widgets, 'b', () => ({ type: 'delete' }), unhurried)).toEqual({ rv: 0 })
    expect(await storage.revision(widgets)).toBe(2)
  })

  test('a deleted name can be created again', async () => {
    await create(storage, 'a', { size: 1 }, widgets)
    const deleted = await remove(storage, 'a', widgets)
    expect([deleted.rv, deleted.before?.rv, deleted.after]).toEqual([3, 2, undefined])
    expect([await storage.get(widgets, 'a'), await names()]).toEqual([undefined, []])
    await expect(remove(storage, 'a', widgets)).rejects.toThrow(Refused)
    expect((await create(storage, 'a', { size: 2 }, widgets)).rv).toBe(4)
  })

  test('keys that cannot be stored are absent', async () => {
    for (const key of ['', 'x'.repeat(5000), 'a#b', '/', 'a/b/c', '__proto__', '%23']) {
      expect(await storage.get(widgets, key)).toBeUndefined()
    }
    await expect(create(storage, 'x'.repeat(5000), {}, widgets)).rejects.toMatchObject({ code: 'TooLarge' })
  })

  test('two keys never share an item', async () => {
    const keys = ['a#b', 'a/b', 'a%23b', 'a%b', 'a%25b']
    for (const key of keys)
      await storage.update(widgets, key, () => ({ type: 'put', object: widget('w', { key }), internal: {} }), {
        ...unhurried,
        isNew: true,
      })
    for (const key of keys) expect(await storage.get(widgets, key)).toMatchObject({ key, object: { spec: { key } } })
    expect((await names()).sort()).toEqual([...keys].sort())
  })

  test('large objects are stored; an object over the limit is refused and uses no revision', async () => {
    const noise = (bytes: number) =>
      Array.from({ length: bytes }, (_, i) => String.fromCharCode(33 + ((i * i + (i >> 3)) % 90))).join('')
    const text = noise(300_000)
    await create(storage, 'a', { text }, widgets)
    await set(storage, 'a', { text, more: 1 }, widgets)
    expect((await storage.get(widgets, 'a'))?.object.spec).toEqual({ text, more: 1 })
    const { changes } = await storage.changes(widgets, 2)
    expect(changes[0]?.previous?.object.spec).toEqual({ text })
    const incompressible = Array.from({ length: 500_000 }, () =>
      String.fromCharCode(33 + Math.floor(Math.random() * 90)),
    ).join('')
    await expect(create(storage, 'b', { text: incompressible }, widgets)).rejects.toMatchObject({ code: 'TooLarge' })
    expect(await storage.revision(widgets)).toBe(3)
  })

  // threat: gateway-13
  test('an object over the limit before compression is refused, written at once or little by little', async () => {
    const blank = 'x'.repeat(700_000)
    await expect(create(storage, 'a', { text: blank + blank + blank }, widgets)).rejects.toMatchObject({
      code: 'TooLarge',
    })
    await create(storage, 'b', { text: blank }, widgets)
    await set(storage, 'b', { text: blank, more: blank }, widgets)
    await expect(set(storage, 'b', { text: blank, more: blank, most: blank }, widgets)).rejects.toMatchObject({
      code: 'TooLarge',
    })
    expect((await storage.get(widgets, 'b'))?.object.spec).toEqual({ text: blank, more: blank })
  })
})

describe('companions', () => {
  const put = (sk: string) =>
    ({ op: 'put', pk: `c#${widgets.resource}`, sk, attributes: { owner: 'x' }, ifAbsent: true }) as const

  test('are written with the object, or nothing is written', async () => {
    const pk = `c#${widgets.resource}`
    await createWith('a', put('1'), put('2'))
    expect(await getCompanion(storage, { pk, sk: '1' })).toEqual({ pk, sk: '1', attributes: { owner: 'x' } })
    await expect(createWith('b', put('3'), put('2'))).rejects.toMatchObject({ code: 'CompanionExists' })
    expect(await storage.get(widgets, 'b')).toBeUndefined()
    expect(
      await storage.getCompanions([
        { pk, sk: '3' },
        { pk, sk: '2' },
        { pk, sk: '2' },
      ]),
    ).toMatchObject([undefined, { sk: '2' }, { sk: '2' }])
    // The slot of the refused write is void, so no reader waits for it.
    expect([await storage.revision(widgets), (await storage.changes(widgets, 2)).changes]).toEqual([3, []])
  })

  test('can check that an item is absent, and write nothing', async () => {
    const pk = `c#${widgets.resource}`
    const absent = (sk: string) => ({ op: 'absent', pk, sk }) as const
    await createWith('a', put('1'), absent('2'))
    expect(await getCompanion(storage, { pk, sk: '2' })).toBeUndefined()
    await expect(createWith('b', put('3'), absent('1'))).rejects.toMatchObject({
      code: 'CompanionExists',
    })
    expect([await storage.get(widgets, 'b'), await getCompanion(storage, { pk, sk: '3' })]).toEqual([
      undefined,
      undefined,
    ])
  })

  test('can check that an item is unchanged, and write nothing', async () => {
    const pk = `c#${widgets.resource}`
    const key = { pk, sk: '1' }
    const requireUnchanged = (attributes: JsonObject, ...lacks: string[]) =>
      ({ op: 'unchanged', ...key, attributes, lacks }) as const
    await createWith('a', { op: 'put', ...key, attributes: { generation: 2, deleted: false, lastActivity: 7 } })
    await createWith('b', requireUnchanged({ generation: 2, deleted: false }, 'other'))
    await createWith('c', requireUnchanged({}), put('2'))
    expect((await getCompanion(storage, { pk, sk: '1' }))?.attributes).toEqual({
      generation: 2,
      deleted: false,
      lastActivity: 7,
    })
    const refused = { code: 'CompanionChanged' }
    await expect(createWith('d', put('3'), requireUnchanged({ generation: 1 }))).rejects.toMatchObject(refused)
    await expect(createWith('d', put('3'), requireUnchanged({ missing: 1 }))).rejects.toMatchObject(refused)
    await expect(createWith('d', put('3'), requireUnchanged({}, 'deleted'))).rejects.toMatchObject(refused)
    await expect(createWith('d', put('3'), { ...requireUnchanged({}), sk: '9' })).rejects.toMatchObject(refused)
    expect(await storage.get(widgets, 'd')).toBeUndefined()
    expect(
      await storage.getCompanions([
        { pk, sk: '3' },
        { pk, sk: '9' },
      ]),
    ).toEqual([undefined, undefined])
  })

  describe('with a condition', () => {
    const at = () => ({ pk: `when#${widgets.resource}`, sk: '1' })
    const read = async () => (await getCompanion(storage, { pk: at().pk, sk: '1' }))?.attributes
    const keep = (attributes: JsonObject) => storage.writeCompanion({ ...at(), attributes }, unhurried)
    /** Writes with the companions of each run of the mutation. Returns the number of runs. */
    const write = async (make: (run: number) => Companion[]) => {
      let runs = 0
      await storage.update(
        widgets,
        'a',
        () => ({ type: 'put', object: widget('a', { runs: ++runs }), internal: {}, companions: make(runs) }),
        unhurried,
      )
      return runs
    }

    test.each([
      ['put', () => ({ op: 'put', ...at(), attributes: { now: 1 } }) as const, { now: 1 }],
      ['set', () => ({ op: 'set', ...at(), attributes: { now: 1 }, remove: ['old'] }) as const, { rev: 2, now: 1 }],
      ['delete', () => ({ op: 'delete', ...at() }) as const, undefined],
    ])('on a %s, run the mutation again until it holds', async (_, change, written) => {
      await keep({ rev: 2, old: true })
      const when = (run: number) =>
        [{ attributes: { rev: 1 } }, { lacks: ['old'] }, { attributes: { rev: 2 }, lacks: ['other'] }][run - 1] ?? {}
      expect([await write((run) => [{ ...change(), when: when(run) }]), await read()]).toEqual([3, written])
      expect((await storage.get(widgets, 'a'))?.object.spec).toEqual({ runs: 3 })
    })

    test('require that the item exists', async () => {
      const conditional = { op: 'put', ...at(), attributes: { now: 1 }, when: {} } as const
      const { when: _, ...plain } = conditional
      expect(await write((run) => [run < 3 ? conditional : plain])).toBe(3)
    })

    test('are a race also if another companion refuses the write', async () => {
      await keep({ rev: 2 })
      const existing: Companion = { op: 'absent', ...at() }
      const changed: Companion = { op: 'unchanged', pk: at().pk, sk: '2', attributes: {} }
      const when = (rev: number): Companion => ({
        op: 'set',
        pk: at().pk,
        sk: '3',
        attributes: { by: 'set' },
        when: { attributes: { rev } },
      })
      await storage.writeCompanion({ pk: at().pk, sk: '3', attributes: { rev: 2 } }, unhurried)
      expect(await write((run) => (run === 1 ? [existing, changed, when(1)] : [when(2)]))).toBe(2)
      await expect(write(() => [existing, when(2)])).rejects.toMatchObject({ code: 'CompanionExists' })
      await expect(write(() => [when(2), changed])).rejects.toMatchObject({ code: 'CompanionChanged' })
    })

    test('let many writers count without losing one', async () => {
      await keep({ count: 0 })
      /** Tries again like a client that is told so. A slow machine may leave a writer without a turn. */
      const insist = async (write: () => Promise<unknown>): Promise<unknown> => {
        try {
          return await write()
        } catch (error) {
          if (!(error instanceof StorageError && error.code === 'Busy')) throw error
          return insist(write)
        }
      }
      await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          insist(() =>
            storage.update(
              widgets,
              `w${index}`,
              async () => {
                const was = Number((await read())?.count)
                const set = {
                  op: 'set',
                  ...at(),
                  attributes: { count: was + 1 },
                  when: { attributes: { count: was } },
                } as const
                return { type: 'put', object: widget(`w${index}`), internal: {}, companions: [set] }
              },
              { ...unhurried, isNew: true },
            ),
          ),
        ),
      )
      expect(await read()).toEqual({ count: 8 })
    })
  })

  test('are created once, by one of many writers', async () => {
    const at = { pk: `created#${widgets.resource}`, sk: '#' }
    const made = await Promise.all(
      Array.from({ length: 9 }, (_, by) =>
        storage.writeCompanion({ ...at, attributes: { by }, when: 'absent' }, unhurried),
      ),
    )
    expect(made.filter(Boolean)).toHaveLength(1)
    expect((await getCompanion(storage, at))?.attributes).toEqual({ by: made.findIndex(Boolean) })
    const late = storage.writeCompanion({ ...at, sk: 'late', attributes: {}, when: 'absent' }, { deadline: () => 0 })
    await expect(late).rejects.toMatchObject({ code: 'TooLate' })
    expect(await getCompanion(storage, { pk: at.pk, sk: 'late' })).toBeUndefined()
  })

  test('are found in an index by a range of numbers', async () => {
    const value = `range#${widgets.resource}`
    for (const expiry of [1, 2, 3, 4]) {
      const attributes = { expiryIndex: value, expiry }
      await storage.writeCompanion({ pk: value, sk: String(expiry), attributes }, unhurried)
    }
    const found = async (range: { from?: number; to: number }) => {
      const index = { index: 'expiry', partition: { attribute: 'expiryIndex', value } }
      const { items } = await storage.queryCompanions({ ...index, sort: { attribute: 'expiry', ...range } })
      return items.map(({ sk }) => sk)
    }
    expect(await found({ to: 3 })).toEqual(['1', '2', '3'])
    expect(await found({ from: 2, to: 3 })).toEqual(['2', '3'])
    expect(await found({ from: 4, to: 9 })).toEqual(['4'])
    expect(await found({ from: 3, to: 2 })).toEqual([])
  })

  test('an existing object is reported before an existing companion', async () => {
    const createOnce = (c: unknown) => {
      if (c) throw new Refused('exists')
      return { type: 'put', object: widget('a'), internal: {}, companions: [put('1')] } as const
    }
    await storage.update(widgets, 'a', createOnce, { ...unhurried, isNew: true })
    await expect(storage.update(widgets, 'a', createOnce, { ...unhurried, isNew: true })).rejects.toThrow(Refused)
  })

  test('set keeps other attributes, and delete removes the item', async () => {
    const pk = `c#${widgets.resource}`
    const change = (...companions: Companion[]) => putWith('a', companions)
    await change({ op: 'put', pk, sk: '1', attributes: { hash: 'h', old: 1, lastActivity: 7 } })
    await change(
      { op: 'set', pk, sk: '1', attributes: { hash: 'i' }, remove: ['old', 'never'] },
      { op: 'set', pk, sk: '2', attributes: { made: true } },
    )
    expect(await getCompanion(storage, { pk, sk: '1' })).toEqual({
      pk,
      sk: '1',
      attributes: { hash: 'i', lastActivity: 7 },
    })
    expect(await getCompanion(storage, { pk, sk: '2' })).toEqual({ pk, sk: '2', attributes: { made: true } })
    await change({ op: 'delete', pk, sk: '1' })
    expect(await getCompanion(storage, { pk, sk: '1' })).toBeUndefined()
  })

  test('are read by partition, in pages', async () => {
    const pk = `expiry#${widgets.resource}`
    const companions = ['c', 'a', 'b'].map((sk) => ({ op: 'put', pk, sk, attributes: {} }) as const)
    await putWith('a', companions)
    const first = await storage.queryCompanions(pk, { limit: 2 })
    expect([first.items.map(({ sk }) => sk), first.next]).toEqual([['a', 'b'], 'b'])
    expect((await storage.queryCompanions(pk, { after: 'b' })).items.map(({ sk }) => sk)).toEqual(['c'])
    expect(await storage.queryCompanions('none')).toEqual({ items: [] })
  })

  describe('swapped', () => {
    const at = () => ({ pk: `swap#${widgets.resource}`, sk: '#' })
    const read = () => getCompanion(storage, { pk: at().pk, sk: '#' })
    const swap = async (before: CompanionItem | undefined, attributes: JsonObject) =>
      (await storage.writeCompanion({ ...at(), attributes, when: { is: before } }, unhurried)) !== undefined

    test('are written if they are absent, or still as they were read', async () => {
      expect([await swap(undefined, { text: 'a' }), await swap(undefined, { text: 'b' })]).toEqual([true, false])
      const first = await read()
      expect(first).toMatchObject({ ...at(), attributes: { text: 'a' } })
      expect(await swap(first, { text: 'b', other: [1, { deep: true }] })).toBe(true)
      expect(await swap(first, { text: 'c' })).toBe(false)
      expect((await read())?.attributes).toMatchObject({ text: 'b', other: [1, { deep: true }] })
    })

    test('differ from an item that was written again with the same attributes, or deleted', async () => {
      await swap(undefined, { text: 'a' })
      const first = await read()
      await swap(first, { text: 'a' })
      expect(await swap(first, { text: 'b' })).toBe(false)
      const second = await read()
      await storage.writeCompanion({ ...at(), attributes: null }, unhurried)
      expect([await swap(second, { text: 'b' }), await read()]).toEqual([false, undefined])
    })

    test('are returned as they are read', async () => {
      const written = await storage.writeCompanion(
        { ...at(), attributes: { text: 'a' }, when: { is: undefined } },
        unhurried,
      )
      expect(written).toEqual(await read())
      expect(await swap(written, { text: 'b' })).toBe(true)
    })

    test('may replace an item that was written without a swap, once', async () => {
      await storage.writeCompanion({ ...at(), attributes: { text: 'a' } }, unhurried)
      const kept = await read()
      expect(await Promise.all([swap(kept, { text: 'b' }), swap(kept, { text: 'b' })])).toHaveLength(2)
      expect([await swap(kept, { text: 'c' }), (await read())?.attributes.text]).toEqual([false, 'b'])
    })

    test('are written by one of many writers', async () => {
      const won = await Promise.all(Array.from({ length: 20 }, (_, index) => swap(undefined, { index })))
      expect(won.filter(Boolean)).toHaveLength(1)
      expect((await read())?.attributes.index).toBe(won.indexOf(true))
    })

    test('are not written after the deadline', async () => {
      const late = storage.writeCompanion({ ...at(), attributes: {}, when: { is: undefined } }, { deadline: () => 0 })
      await expect(late).rejects.toMatchObject({ code: 'TooLate' })
      expect(await read()).toBeUndefined()
    })
  })

  test('are refused if there are too many, and use no revision', async () => {
    const companions = Array.from({ length: 99 }, (_, i) => ({ op: 'delete', pk: 'x', sk: String(i) }) as const)
    await expect(createWith('a', ...companions)).rejects.toMatchObject({ code: 'TooManyCompanions' })
    expect(await storage.revision(widgets)).toBe(1)
  })
})

test('names are those of the counted objects in an index partition after objects enter and leave it', async () => {
  const counted: Table = { ...widgets, counted: ({ object }) => object.spec?.uncounted !== true }
  const names = async (partition: string, most?: number) =>
    (await storage.names(counted, { counted: partition }, most)).map(({ key }) => key)
  const numbers = async () =>
    (await Promise.all(['jo', 'al', 'x'.repeat(3000)].map((one) => names(one, 100)))).map(({ length }) => length)
  for (const name of ['a', 'b', 'c']) await create(storage, name, { in: ['jo'] }, counted)
  expect(await numbers()).toEqual([3, 0, 0])
  await set(storage, 'a', { in: ['jo', 'al'] }, counted)
  await set(storage, 'b', { in: ['al'], more: 1 }, counted)
  await set(storage, 'b', { in: ['al'], more: 2 }, counted)
  expect(await numbers()).toEqual([2, 2, 0])
  await remove(storage, 'a', counted)
  await remove(storage, 'b', counted)
  await create(storage, 'b', { in: ['al'] }, counted)
  expect(await numbers()).toEqual([1, 1, 0])
  for (let more = 0; more < 5; more++) await create(storage, `d${more}`, { in: ['jo'] }, counted)
  expect([await names('jo', 3), await names('al')]).toEqual([['c', 'd0', 'd1'], ['b']])
  expect((await storage.list(counted, { partitions: ['jo'] })).items).toHaveLength(6)
  await create(storage, 'e', { in: ['jo'], uncounted: true }, counted)
  expect([(await storage.list(counted, { partitions: ['jo'] })).items.length, await numbers()]).toEqual([7, [6, 1, 0]])
  await set(storage, 'e', { in: ['al'], uncounted: true }, counted)
  await remove(storage, 'e', counted)
  expect(await numbers()).toEqual([6, 1, 0])
})

describe('lists', () => {
  test('are empty for keys and partitions that cannot exist', async () => {
    await create(storage, 'a', {}, widgets)
    const long = 'x'.repeat(3000)
    const strange = [
      { namespace: long },
      { namePrefix: long },
      { after: long },
      { partitions: [long] },
      { within: [long] },
    ]
    for (const request of [...strange, { partitions: [] }]) {
      expect(await names(request)).toEqual([])
      expect(await storage.list({ ...widgets, activity: true }, request)).toMatchObject({ rv: 2, items: [] })
    }
    await expect(create(storage, 'b', { in: [long] }, widgets)).rejects.toMatchObject({ code: 'TooLarge' })
  })

  test('are sorted by namespace, then name; a list of one namespace contains only that one', async () => {
    const keys = ['a/x', 'a/y-1', 'a/y', 'a-b/x', 'a0/x', 'b/x', 'a/y.z']
    for (const key of keys) await create(storage, key, {}, widgets)
    expect(await names()).toEqual(['a/x', 'a/y', 'a/y-1', 'a/y.z', 'a-b/x', 'a0/x', 'b/x'])
    expect(await names({ namespace: 'a' })).toEqual(['a/x', 'a/y', 'a/y-1', 'a/y.z'])
    expect(await names({ namespace: 'a', limit: 2, after: 'a/x' })).toEqual(['a/y', 'a/y-1'])
    expect(await names({ namespace: '' })).toEqual([])
    expect(await names({ namespace: 'a', after: 'a' })).toEqual(['a/x', 'a/y', 'a/y-1', 'a/y.z'])
    expect(await names({ namespace: 'a', after: 'a-b/x' })).toEqual([])
    expect(await names({ namespace: 'a-b', after: 'a/x' })).toEqual(['a-b/x'])
  })

  test('of names with a prefix contain only those, in pages and in one namespace too', async () => {
    const keys = ['ci', 'ci-1', 'ci-2', 'ci.a', 'cia', 'd', 'b']
    for (const key of [...keys, 'ci/x', 'n/ci-1', 'n/d']) await create(storage, key, { in: ['p'] }, widgets)
    expect(await names({ namePrefix: 'ci-' })).toEqual(['ci-1', 'ci-2'])
    expect(await names({ namePrefix: 'ci-2', partitions: ['p'] })).toEqual(['ci-2'])
    expect(await names({ namePrefix: 'ci', namespace: 'n' })).toEqual(['n/ci-1'])
    expect(await names({ namePrefix: 'd', key: 'ci' })).toEqual([])
    expect(await names({ namePrefix: 'c', key: 'ci' })).toEqual(['ci'])
    const { next, remaining, rv } = await storage.list(widgets, { namePrefix: 'ci-', limit: 1 })
    expect([next, remaining]).toEqual(['ci-1', 1])
    await remove(storage, 'ci-2', widgets)
    expect(await names({ namePrefix: 'ci-', limit: 1, after: 'ci-1', at: rv })).toEqual(['ci-2'])
    for (const [after, found] of [
      ['b', ['ci-1']],
      ['ci-1', []],
      ['d', []],
    ] as const) {
      expect(await names({ namePrefix: 'ci-', after })).toEqual(found)
    }
  })

  // threat: users-2
  test('of selected index partitions never contain more than the visible ones', async () => {
    for (const one of ['x', 'y', 'z']) await create(storage, one, { in: [one] }, widgets)
    expect(await names({ within: ['x', 'y'] })).toEqual(['x', 'y'])
    expect(await names({ partitions: ['y', 'z'], within: ['x', 'y'] })).toEqual(['y'])
    expect(await names({ partitions: ['y'], within: ['x'] })).toEqual([])
    expect(await names({ within: ['x'], key: 'x' })).toEqual(['x'])
    expect(await names({ within: ['y'], key: 'x' })).toEqual([])
  })

  // threat: events-6
  test('of an index partition of names are those of its objects, also of one that is written and of one that is gone', async () => {
    const named: Table = { ...widgets, names: ({ object }) => [`of:${object.spec?.of}`] }
    const found = async (request: ListRequest) => {
      const matches = ({ object }: Stored) => request.named === undefined || request.named === `of:${object.spec?.of}`
      return (await storage.list(named, { matches, ...request })).items.map(({ key }) => key)
    }
    for (const one of ['x', 'z', 'y-1']) await create(storage, one, { of: 'a', in: [one] }, named)
    await create(storage, 'y', { of: 'b', in: ['y'] }, named)
    await set(storage, 'z', { of: 'a', in: ['z'], size: 1 }, named)
    expect(await found({ named: 'of:a' })).toEqual(['x', 'y-1', 'z'])
    expect(await found({ named: 'of:a', namePrefix: 'y' })).toEqual(['y-1'])
    expect([await found({ named: 'of:a', key: 'x' }), await found({ named: 'of:none' })]).toEqual([['x'], []])
    // It is not read for a client that sees only some objects.
    const any = { named: 'of:a', matches: () => true }
    expect(await found({ ...any, partitions: ['y'] })).toEqual(['y'])
    expect(await found({ ...any, within: ['y'] })).toEqual(['y'])
    expect(await found({ ...any, filter: ({ key }) => key === 'y' })).toEqual(['y'])
    const entries = [
      { key: 'x', rv: 2 },
      { key: 'y-1', rv: 4 },
      { key: 'z', rv: 3 },
    ]
    expect(await storage.names(named, { named: 'of:a' })).toEqual(entries)
    for (const most of [1, 2, 4])
      expect(await storage.names(named, { named: 'of:a' }, most)).toEqual(entries.slice(0, most))
    await expect(create(storage, 'long', { of: 'x'.repeat(3000) }, named)).rejects.toMatchObject({ code: 'TooLarge' })
    const { rv } = await storage.list(named, {})
    await remove(storage, 'x', named)
    await create(storage, 'x', { of: 'b' }, named)
    expect(await found({ named: 'of:a' })).toEqual(['y-1', 'z'])
    expect(await found({ named: 'of:b' })).toEqual(['x', 'y'])
    expect(await found({ named: 'of:a', at: rv })).toEqual(['x', 'y-1', 'z'])
    for (const none of ['of:none', 'x'.repeat(3000)]) expect(await storage.names(named, { named: none })).toEqual([])
  })

  const sizes = [1, 2, 3, 5, 6, 7]
  test.each([...sizes.map((limit) => ({ limit })), ...sizes.map((limit) => ({ limit, named: 'all' }))])(
    'pages keep the revision of the first page: %j',
    async (range) => {
      const keys = ['a', 'b', 'c', 'd', 'e', 'f']
      widgets = { ...widgets, names: () => ['all'] }
      for (const key of keys) await create(storage, key, { of: key }, widgets)
      const seen: string[] = []
      let page = await storage.list(widgets, range)
      const { rv } = page
      for (let round = 0; ; round++) {
        expect(page.rv).toBe(rv)
        expect(page.items.length).toBeGreaterThan(0)
        for (const { key, read } of page.items) {
          expect(read().object.spec).toEqual({ of: key })
          seen.push(key)
        }
        if (page.next === undefined) break
        // After and before the page: changed, deleted, recreated, added.
        await set(storage, 'f', { of: 'later', round }, widgets)
        if (round === 0) {
          await remove(storage, 'e', widgets)
          await remove(storage, 'd', widgets)
          await create(storage, 'd', { of: 'later' }, widgets)
          await create(storage, 'cc', {}, widgets)
        }
        page = await storage.list(widgets, { ...range, after: page.next, at: rv })
      }
      expect(seen).toEqual(keys)
    },
  )

  test('of one key return only that object, at the revision of the list', async () => {
    for (const key of ['a/x', 'a/x-1', 'a-b/x', 'b/x']) await create(storage, key, { v: 1, in: ['p'] }, widgets)
    await set(storage, 'a/x', { v: 2, in: ['q'] }, widgets)
    await remove(storage, 'b/x', widgets)
    const listKey = async (request: Omit<ListRequest, 'key'>, key = 'a/x') => {
      const { items, rv, next } = await storage.list(widgets, { ...request, key })
      expect(next).toBeUndefined()
      return [rv, ...items.map((one) => `${one.key} ${one.read().object.spec?.v}`)]
    }
    for (const settle of [async () => {}, () => storage.sweep(widgets)]) {
      await settle()
      for (const limit of [{}, { limit: 1 }, { limit: 10 }]) expect(await listKey(limit)).toEqual([7, 'a/x 2'])
      expect(await listKey({ at: 5 })).toEqual([5, 'a/x 1'])
      expect(await listKey({ at: 1 })).toEqual([1])
      expect(await listKey({ at: 6 }, 'b/x')).toEqual([6, 'b/x 1'])
      expect(await listKey({}, 'b/x')).toEqual([7])
      expect(await listKey({ partitions: ['p'] })).toEqual([7])
      expect(await listKey({ partitions: ['p', 'q'] })).toEqual([7, 'a/x 2'])
      expect(await listKey({ partitions: ['p'], at: 5 })).toEqual([5, 'a/x 1'])
      expect(await listKey({ namespace: 'a' })).toEqual([7, 'a/x 2'])
      expect(await listKey({ namespace: 'a-b' })).toEqual([7])
      expect(await listKey({ after: 'a' })).toEqual([7, 'a/x 2'])
      expect(await listKey({ after: 'a/x' })).toEqual([7])
      expect(await listKey({ matches: () => false })).toEqual([7])
      for (const nothing of ['', 'a', 'a/', 'x'.repeat(3000)]) expect(await listKey({}, nothing)).toEqual([7])
    }
  })

  test('a page reports the remaining objects if the list ends soon', async () => {
    for (const key of ['a/x', 'a/y', 'a/z', 'b/x', 'b/y']) await create(storage, key, {}, widgets)
    await remove(storage, 'a/y', widgets)
    expect(await storage.list(widgets, { limit: 1 })).toMatchObject({ next: 'a/x', remaining: 3 })
    expect(await storage.list(widgets, { limit: 2, after: 'a/x' })).toMatchObject({ next: 'b/x', remaining: 1 })
    expect(await storage.list(widgets, { limit: 1, namespace: 'a' })).toMatchObject({ next: 'a/x', remaining: 1 })
    expect(await storage.list(widgets, { limit: 4 })).not.toHaveProperty('remaining')
    expect(await storage.list(widgets, { limit: 2 ** 63 })).not.toHaveProperty('next')
    for (const judge of ['filter', 'matches']) {
      expect(await storage.list(widgets, { limit: 1, [judge]: () => true })).not.toHaveProperty('remaining')
    }
    for (let i = 0; i < 30; i++) await create(storage, `c/${i}`, {}, widgets)
    expect(await storage.list(widgets, { limit: 1, after: 'b/y' })).not.toHaveProperty('remaining')
    expect(await storage.list(widgets, { limit: 15, after: 'b/y' })).toMatchObject({ remaining: 15 })
  })

  // No list holds many large objects at once.
  // threat: gateway-12
  test('a page ends at its size limit', async () => {
    const keys = Array.from({ length: 50 }, (_, i) => `k${10 + i}`)
    // Random data does not deflate; the object is nearly as large as allowed.
    const text = randomBytes(180_000).toString('base64')
    for (const key of keys) await create(storage, key, { text }, widgets)
    await storage.sweep(widgets)
    for (const request of [{ limit: 50 }, {}]) {
      const seen: string[] = []
      const pages: number[] = []
      for (let start = {}; ; ) {
        const { rv, items, next } = await storage.list(widgets, { ...request, ...start })
        pages.push(items.length)
        seen.push(...items.map(({ key }) => key))
        if (next === undefined) break
        start = { after: next, at: rv }
      }
      expect(seen).toEqual(keys)
      expect(pages.length).toBeGreaterThan(1)
    }
    // A selector that matches nothing also ends pages, but no token names an object that the client may not see.
    const matches = () => false
    const { rv, items, next = '' } = await storage.list(widgets, { limit: 50, matches })
    expect([items, keys.includes(next), next < 'k59']).toEqual([[], true, true])
    const last = await storage.list(widgets, { limit: 50, matches, after: next, at: rv })
    expect([last.items, last.next]).toEqual([[], undefined])
    const few = await storage.list(widgets, { limit: 50, matches, filter: ({ key }) => key === 'k10' || key === 'k59' })
    expect([few.items, few.next]).toEqual([[], undefined])
    // Hidden objects end the pages of a caller that shows no token, so that no page reads on to the end of a large kind.
    const hidden = { limit: 50, filter: ({ key }: { key: string }) => key === 'k59', keepsNext: true } as const
    const start = await storage.list(widgets, hidden)
    expect([start.items, keys.includes(start.next ?? '')]).toEqual([[], true])
    const rest = await storage.list(widgets, { ...hidden, after: start.next ?? '', at: start.rv })
    expect([rest.items.map(({ key }) => key), rest.next]).toEqual([['k59'], undefined])
  })

  test.each(['filter', 'matches'])('%s does not shorten a page while more objects match', async (judge) => {
    for (let i = 0; i < 30; i++) await create(storage, `k${10 + i}`, { even: i % 2 === 0 }, widgets)
    const isEven = ({ object }: { object: { spec?: object } }) => (object.spec as { even: boolean }).even
    const first = await storage.list(widgets, { limit: 10, [judge]: isEven })
    expect([first.items.length, first.next]).toEqual([10, 'k28'])
    const second = await storage.list(widgets, { limit: 10, [judge]: isEven, after: 'k28', at: first.rv })
    expect([second.items.length, second.next]).toEqual([5, undefined])
  })

  test('a page with a selector reads more rows at a time the fewer match', async () => {
    const keys = Array.from({ length: 210 }, (_, i) => `k${100 + i}`)
    for (const key of keys) await create(storage, key, {}, widgets)
    await storage.sweep(widgets)
    let queries = 0
    const counting = callsOf(store.items(), (operation, call) => {
      if (operation === 'query') queries++
      return call()
    })
    const queriesOf = async (request: ListRequest): Promise<[found: number, queries: number]> => {
      queries = 0
      const { items } = await storageIn(counting).list(widgets, request)
      return [items.length, queries]
    }
    expect(await queriesOf({ limit: 1, matches: () => false })).toEqual([0, 5]) // 2, 50, 52, 104 and 2 rows
    expect(await queriesOf({ limit: 20, matches: ({ key }) => key.endsWith('0') })).toEqual([20, 3]) // 21, 126 and 59 rows
  })

  test('a page says that objects follow, matching or not, but never reveals objects that the filter hides', async () => {
    for (const key of ['a', 'b', 'c', 'd']) await create(storage, key, {}, widgets)
    const upTo = (last: string) => (one: { key: string }) => one.key <= last
    const next = async (request: object) => (await storage.list(widgets, { limit: 2, ...request })).next
    expect([await next({ matches: upTo('b') }), await next({ filter: upTo('b') })]).toEqual(['b', undefined])
    expect(await next({ filter: upTo('c'), matches: upTo('b') })).toBe('b')
    expect(await next({ filter: upTo('b'), matches: upTo('c') })).toBeUndefined()
    expect(await next({ matches: upTo('a') })).toBeUndefined()
    await remove(storage, 'c', widgets)
    await remove(storage, 'd', widgets)
    expect(await next({ matches: upTo('b') })).toBeUndefined()
  })

  test('get requires that the revision exists, not that the object exists or has changed since', async () => {
    await create(storage, 'a', {}, widgets)
    await create(storage, 'b', {}, widgets)
    expect(await storage.get(widgets, 'a', { reached: 3 })).toMatchObject({ rv: 2 })
    expect(await storage.get(widgets, 'c', { reached: 3 })).toBeUndefined()
    for (const key of ['a', 'c', 'k'.repeat(2000)]) {
      const tooNew = { code: 'TooNew', message: '4', current: 3 }
      await expect(storage.get(widgets, key, { reached: 4 })).rejects.toMatchObject(tooNew)
    }
  })

  test('an old revision shows the old state, and a future one is refused', async () => {
    await create(storage, 'a', { v: 1 }, widgets)
    await set(storage, 'a', { v: 2 }, widgets)
    await create(storage, 'b', {}, widgets)
    await remove(storage, 'a', widgets)
    await create(storage, 'a', { v: 3 }, widgets)
    const at = async (rv: number) =>
      (await storage.list(widgets, { at: rv })).items.map((one) => [one.key, one.read().object.spec?.v])
    expect(await at(1)).toEqual([])
    expect(await at(2)).toEqual([['a', 1]])
    expect(await at(3)).toEqual([['a', 2]])
    expect(await at(4)).toEqual([
      ['a', 2],
      ['b', undefined],
    ])
    expect(await at(5)).toEqual([['b', undefined]])
    expect(await at(6)).toEqual([
      ['a', 3],
      ['b', undefined],
    ])
    await expect(at(7)).rejects.toMatchObject({ code: 'TooNew', message: '7', current: 6 })
    await expect(at(0)).rejects.toMatchObject({ code: 'Expired' })
    await expect(storage.list(widgets, { notOlderThan: 7 })).rejects.toMatchObject({ code: 'TooNew' })
    expect((await storage.list(widgets, { notOlderThan: 3 })).rv).toBe(6)
  })

  test('of index partitions return each member at the revision once', async () => {
    await create(storage, 'a', { in: ['x'] }, widgets)
    await create(storage, 'b', { in: ['x', 'y'] }, widgets)
    await create(storage, 'c', { in: ['y'] }, widgets)
    await create(storage, 'd', {}, widgets)
    const { rv } = await storage.list(widgets, {})
    const namesIn = (partitions: string[], at?: number) => names({ partitions, ...(at && { at }) })
    expect(await namesIn(['x'])).toEqual(['a', 'b'])
    expect(await namesIn(['x', 'y', 'x'])).toEqual(['a', 'b', 'c'])
    expect(await namesIn([])).toEqual([])
    await set(storage, 'a', { in: ['y'] }, widgets)
    await set(storage, 'a', { in: ['y'], more: 1 }, widgets)
    await set(storage, 'd', { in: ['x'] }, widgets)
    await remove(storage, 'b', widgets)
    await storage.sweep(widgets)
    expect(await namesIn(['x'])).toEqual(['d'])
    expect(await namesIn(['y'])).toEqual(['a', 'c'])
    expect(await namesIn(['x'], rv)).toEqual(['a', 'b'])
    expect(await namesIn(['y'], rv)).toEqual(['b', 'c'])
    expect(await namesIn(['y', 'x'], rv)).toEqual(['a', 'b', 'c'])
    expect((await storage.list(widgets, { partitions: ['x', 'y'], limit: 2 })).next).toBe('c')
    expect(await names({ partitions: ['x', 'y'], limit: 1, after: 'c' })).toEqual(['d'])
  })
})

describe('changes', () => {
  test('contain every change after a revision, in order, each with its previous state', async () => {
    await create(storage, 'a', { v: 1 }, widgets)
    await set(storage, 'a', { v: 2 }, widgets)
    await remove(storage, 'a', widgets)
    const { changes, rv } = await storage.changes(widgets, 1)
    expect(rv).toBe(4)
    expect(
      changes.map(({ type, rv: at, key, stored, previous }) => [
        type,
        at,
        key,
        stored.rv,
        stored.object.spec?.v,
        previous?.rv,
      ]),
    ).toEqual([
      ['ADDED', 2, 'a', 2, 1, undefined],
      ['MODIFIED', 3, 'a', 3, 2, 2],
      ['DELETED', 4, 'a', 4, 2, 3],
    ])
    expect(changes.map(({ stored }) => stored.object.metadata.resourceVersion)).toEqual(['2', '3', '4'])
    expect(await storage.changes(widgets, 4)).toEqual({ changes: [], rv: 4 })
    await expect(storage.changes(widgets, 5)).rejects.toMatchObject({ code: 'TooNew' })
  })
})

describe('changes by', () => {
  test('name who made each change, and only those that said so', async () => {
    const by = (user: string) => ({ ...unhurried, by: { user } })
    await storage.update(widgets, 'a', creating('a'), { ...by('jo'), isNew: true })
    await set(storage, 'a', { v: 2 }, widgets)
    await storage.update(widgets, 'a', setting({ v: 3 }), by('al'))
    await storage.update(widgets, 'a', deleting, by('system:sweep'))
    const { changes } = await storage.changes(widgets, 1)
    expect(changes.map(({ type, by }) => [type, by])).toEqual([
      ['ADDED', { user: 'jo' }],
      ['MODIFIED', undefined],
      ['MODIFIED', { user: 'al' }],
      ['DELETED', { user: 'system:sweep' }],
    ])
    expect(changes[1]).not.toHaveProperty('by')
  })
})

describe('activity', () => {
  const credential = () => ({ pk: `c#${widgets.resource}`, sk: 'hash' })
  /** Writes a use of the object. */
  const touchWith = (at: number, use: Partial<NonNullable<Touch['credential']>>, rest: Partial<Touch> = {}) =>
    storage.touchActivity({
      table: widgets,
      key: 'a',
      uid: 'uid-of-a',
      at,
      credential: { ...credential(), lastActivity: at / 1000, attributes: {}, same: {}, ...use },
      ...rest,
    })
  const touch = (at: number, uid = 'uid-of-a', version?: number) =>
    touchWith(at, { attributes: { seen: at }, same: { name: 'a', version } }, { uid })
  const createUsed = () =>
    storage.update(
      widgets,
      'a',
      () => ({
        type: 'put',
        object: widget('a', { in: ['x'] }),
        internal: {},
        companions: [{ op: 'put', ...credential(), attributes: { name: 'a' } }],
      }),
      { ...unhurried, isNew: true },
    )

  const deleteUsed = () => {
    const companions = [{ op: 'delete', ...credential() }] as const
    return storage.update(widgets, 'a', () => ({ type: 'delete', companions }), unhurried)
  }

  beforeEach(() => {
    widgets = { ...used, resource: `used${count++}` }
  })

  test('only moves forward, for the object and its credential, and changes no version', async () => {
    await createUsed()
    expect((await storage.get(widgets, 'a'))?.activity).toBeUndefined()
    for (const at of [5000, 7000, 6000]) await touch(at)
    expect(await storage.get(widgets, 'a')).toMatchObject({ rv: 2, activity: 7000 })
    expect((await getCompanion(storage, { pk: credential().pk, sk: 'hash' }))?.attributes).toEqual({
      name: 'a',
      lastActivity: 7,
      seen: 7000,
    })
    for (const request of [{}, { limit: 1 }, { partitions: ['x'] }]) {
      expect((await storage.list(widgets, request)).items[0]?.read()).toMatchObject({ activity: 7000 })
    }
    expect((await set(storage, 'a', { in: ['x'] }, widgets)).after).toMatchObject({ rv: 3, activity: 7000 })
    expect(await storage.revision(widgets)).toBe(3)
  })

  describe('notes', () => {
    const note = (at: number, noted: JsonObject, rest: Partial<Touch> = {}) =>
      touchWith(at, { same: { name: 'a' } }, { noted, ...rest })

    test('are kept with the time, and shown with the object', async () => {
      await createUsed()
      expect(await note(5000, { sources: [{ ip: '192.0.2.1' }], other: 1 })).toBe('done')
      expect(await note(6000, { sources: [] })).toBe('done')
      const expected = { activity: 6000, noted: { sources: [], other: 1 } }
      expect(await storage.get(widgets, 'a')).toMatchObject(expected)
      for (const request of [{}, { limit: 1 }, { partitions: ['x'] }]) {
        expect((await storage.list(widgets, request)).items[0]?.read()).toMatchObject(expected)
      }
      expect((await set(storage, 'a', { in: ['x'] }, widgets)).after).toMatchObject(expected)
    })

    test('are shown for the object that they belong to only', async () => {
      await createUsed()
      await note(5000, { sources: [1] }, { uid: 'another' })
      expect(await storage.get(widgets, 'a')).not.toHaveProperty('noted')
    })

    test('need no use of a credential, only an object that is there', async () => {
      const noteAt = (at: number) =>
        storage.touchActivity({ table: widgets, key: 'a', uid: 'uid-of-a', at, noted: { seen: at } })
      expect(await noteAt(4000)).toBe('refused')
      await createUsed()
      expect([await noteAt(6000), await noteAt(5000), await noteAt(6000)]).toEqual(['done', 'refused', 'refused'])
      expect(await storage.get(widgets, 'a')).toMatchObject({ rv: 2, activity: 6000, noted: { seen: 6000 } })
      await deleteUsed()
      expect(await noteAt(7000)).toBe('refused')
      expect(await storage.queryCompanions(activityOf(widgets.resource))).toEqual({ items: [] })
    })

    test('are absent without any', async () => {
      await createUsed()
      await touch(5000)
      expect(await storage.get(widgets, 'a')).not.toHaveProperty('noted')
    })
  })

  test('is refused if the credential has an attribute that it must lack', async () => {
    await createUsed()
    const use = (at: number, ...lacks: string[]) => touchWith(at, { attributes: { ended: true }, lacks })
    expect([await use(5000, 'ended'), await use(6000, 'ended')]).toEqual(['done', 'refused'])
    expect([await use(6000, 'other'), (await storage.get(widgets, 'a'))?.activity]).toEqual(['done', 6000])
  })

  test('puts other items in the same transaction, or none', async () => {
    await createUsed()
    const signal = { pk: `signal#${widgets.resource}`, sk: '1', attributes: { kind: 'rotated' } }
    const use = (at: number, same: JsonObject) => touchWith(at, { same }, { also: [signal] })
    expect(await use(5000, { name: 'other' })).toBe('refused')
    expect([await getCompanion(storage, { pk: signal.pk, sk: '1' }), await use(5000, { name: 'a' })]).toEqual([
      undefined,
      'done',
    ])
    expect(await getCompanion(storage, { pk: signal.pk, sk: '1' })).toEqual(signal)
  })

  test('of a second credential is recorded though the activity of the object is as new', async () => {
    await createUsed()
    const other = { ...credential(), sk: 'other' }
    await storage.writeCompanion({ ...other, attributes: {} }, unhurried)
    await touch(5000)
    const signal = { pk: `signal#${widgets.resource}`, sk: '2', attributes: { seen: 5 } }
    const use = { ...other, lastActivity: 5, attributes: { firstUsed: 5 }, same: {} }
    const second = { table: widgets, key: 'a', uid: 'uid-of-a', at: 5000, credential: use, also: [signal] }
    expect(await storage.touchActivity(second)).toBe('done')
    expect((await getCompanion(storage, { pk: other.pk, sk: 'other' }))?.attributes).toEqual({
      lastActivity: 5,
      firstUsed: 5,
    })
    expect(await getCompanion(storage, { pk: signal.pk, sk: '2' })).toEqual(signal)
    expect(await storage.touchActivity(second)).toBe('refused')
    expect((await storage.get(widgets, 'a'))?.activity).toBe(5000)
  })

  test('is not recorded while another transaction holds the items', async () => {
    const outcomes: TransactOutcome[] = [
      { done: false, refused: [], conflicts: [0] },
      { done: false, refused: [], conflicts: [] },
    ]
    const faults: FaultKind[] = ['conflict', 'unanswered', 'throttled']
    const items = store.items()
    const over = storageOver(items, { now: Date.now, random: Math.random, sleep: async () => {} })
    const credential = { pk: 'c', sk: '#', lastActivity: 1, attributes: {}, same: {} }
    const use = () => over.touchActivity({ table: widgets, key: 'a', uid: 'u', at: 1, credential })
    for (const outcome of outcomes) {
      items.transact = async () => outcome
      expect(await use()).toBe('busy')
    }
    const found = []
    for (const kind of faults) {
      items.transact = () => Promise.reject(new ItemsFault(kind, undefined))
      found.push(await use().catch((error) => error.kind))
    }
    expect(found).toEqual(['busy', 'unanswered', 'throttled'])
  })

  test('is deleted with the object and never shown for another one', async () => {
    await createUsed()
    await touch(5000)
    await deleteUsed()
    await touch(6000)
    expect(await getCompanion(storage, { pk: credential().pk, sk: 'hash' })).toBeUndefined()
    await createUsed()
    expect((await storage.get(widgets, 'a'))?.activity).toBeUndefined()
    await touch(9000, 'uid-of-an-earlier-one')
    expect((await storage.get(widgets, 'a'))?.activity).toBeUndefined()
    expect((await storage.list(widgets, {})).items[0]?.read()).not.toHaveProperty('activity')
  })

  test('is not recorded if the credential has changed since it was read', async () => {
    await createUsed()
    await touch(5000, 'uid-of-a', 1)
    expect((await storage.get(widgets, 'a'))?.activity).toBeUndefined()
    await storage.update(
      widgets,
      'a',
      (current) => ({
        type: 'put',
        object: current?.object ?? widget('a'),
        internal: {},
        companions: [{ op: 'set', ...credential(), attributes: { version: 2, seen: 0 } }],
      }),
      unhurried,
    )
    for (const version of [undefined, 1]) await touch(6000, 'uid-of-a', version)
    expect((await getCompanion(storage, { pk: credential().pk, sk: 'hash' }))?.attributes).toEqual({
      name: 'a',
      version: 2,
      seen: 0,
    })
    await touch(7000, 'uid-of-a', 2)
    expect((await storage.get(widgets, 'a'))?.activity).toBe(7000)
  })

  // threat: use-10
  test('recreates nothing of an object that is deleted in the meantime', async () => {
    await createUsed()
    let calls = 0
    const slow = storageIn(
      callsOf(store.items(), async (_, call) => {
        const result = await call()
        if (calls++ === 0) await deleteUsed()
        return result
      }),
    )
    const use = { ...credential(), lastActivity: 5, attributes: {}, same: {} }
    await slow.touchActivity({ table: widgets, key: 'a', uid: 'uid-of-a', at: 5000, credential: use })
    expect(await storage.queryCompanions(activityOf(widgets.resource))).toEqual({ items: [] })
  })

  test('is shown on every page of a list', async () => {
    const keys = Array.from({ length: 9 }, (_, i) => `k${i}`)
    for (const [i, key] of keys.entries()) {
      await create(storage, key, {}, widgets)
      const one = { pk: `c#${widgets.resource}`, sk: key }
      await putWith(key, [{ op: 'put', ...one, attributes: {} }])
      if (i % 2)
        await storage.touchActivity({
          table: widgets,
          key,
          uid: `uid-of-${key}`,
          at: 1000 + i,
          credential: { ...one, lastActivity: i, attributes: {}, same: {} },
        })
    }
    const seen: (number | undefined)[] = []
    for (let after: string | undefined; ; ) {
      const page = await storage.list(widgets, { limit: 2, ...(after && { after }) })
      seen.push(...page.items.map((one) => one.read().activity))
      after = page.next
      if (!after) break
    }
    expect(seen).toEqual(keys.map((_, i) => (i % 2 ? 1000 + i : undefined)))
  })
})

test('a mutation can refuse a delete', async () => {
  await create(storage, 'a', {}, widgets)
  await expect(
    storage.update(
      widgets,
      'a',
      (current) => {
        deleting(current)
        throw new Refused('precondition')
      },
      unhurried,
    ),
  ).rejects.toThrow('precondition')
  expect(await names()).toEqual(['a'])
})
