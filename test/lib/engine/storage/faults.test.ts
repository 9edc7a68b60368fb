/**
 * Injects the faults that a driver may have into the items of the driver of the suite: no write is lost, and none is applied twice.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { IndexRange, Storage, Table } from '../../../../lib/engine/storage/interface.ts'
import {
  type FaultKind,
  type Items,
  ItemsFault,
  type SingleWrite,
  type TransactOutcome,
} from '../../../../lib/engine/storage/items.ts'
import { deletedOf, rowsOf } from '../../../../lib/engine/storage/keys.ts'
import { type StorageOptions, storageOver } from '../../../../lib/engine/storage/protocol/storage.ts'
import { getCompanion } from '../../../../lib/engine/storage/readcompanions.ts'
import { unhurried } from '../../../support/deadlines.ts'
import { callsOf, type Operation } from '../../../support/itemcalls.ts'
import { openStore, type TestStore } from '../../../support/store.ts'
import { create, creating, remove, set, widgets as shape, used, widget } from './fixtures.ts'

let store: TestStore
let storage: Storage
let widgets: Table
let count = 0
/** The operations sent. */
let calls: Operation[] = []
/** Run before an operation takes effect, and after. What they throw is the answer, and so is what `before` returns. */
let before: (operation: Operation) => TransactOutcome | undefined
let after: (operation: Operation) => void

const nothing = () => undefined

beforeAll(async () => {
  store = await openStore()
})
afterAll(() => store.close())
beforeEach(() => {
  widgets = { ...shape, resource: `faults${count++}` }
  calls = []
  before = nothing
  after = nothing
  storage = storageWith({})
})

/** Returns a storage over items with the faults. */
function storageWith(options: Partial<StorageOptions>, change: (items: Items) => Items = (items) => items): Storage {
  const items = callsOf(store.items(options.now), async (operation, call) => {
    calls.push(operation)
    const answer = before(operation) ?? (await call())
    after(operation)
    return answer
  })
  return storageOver(change(items), { now: Date.now, random: Math.random, sleep: (ms) => delay(ms), ...options })
}

/** Answers the first `times` operations of a name with an error, or with an outcome. */
function failTimes(operation: Operation, answer: () => Error | TransactOutcome, times = 1): typeof before {
  let left = times
  return (sent) => {
    if (sent !== operation || left-- <= 0) return undefined
    const given = answer()
    if (given instanceof Error) throw given
    return given
  }
}

/** A clock that advances only by sleeping, so that giving up takes no real time. */
function sleptTime(begin: number) {
  let time = begin
  const sleep = async (ms: number) => {
    time += ms
  }
  return { time: () => time, sleep }
}

function storageWithSleptTime(): Storage {
  const { time, sleep } = sleptTime(Date.now())
  return storageWith({ now: time, sleep })
}

const fault = (kind: FaultKind) => () => new ItemsFault(kind, undefined)
const [reset, conflict, throttle, full] = [fault('unanswered'), fault('conflict'), fault('throttled'), fault('full')]

/** The outcome of a transaction whose writes at these indexes met another one. */
const cancelled =
  (...conflicts: number[]) =>
  (): TransactOutcome => ({ done: false, refused: [], conflicts })

/** Reads the log and the rows. */
async function history() {
  const { changes } = await storage.changes(widgets, 1)
  return changes.map(({ type, key }) => `${type} ${key}`)
}

describe('calls', () => {
  test('get takes 1, create 2, update and delete 3, a quiet list 2, a poll 1', async () => {
    const countCalls = async (action: () => Promise<unknown>) => {
      calls = []
      await action()
      return calls.length
    }
    expect(await countCalls(() => create(storage, 'a', {}, widgets))).toBe(2)
    expect(await countCalls(() => storage.get(widgets, 'a'))).toBe(1)
    expect(await countCalls(() => set(storage, 'a', {}, widgets))).toBe(3)
    expect(await countCalls(() => storage.update(widgets, 'a', () => ({ type: 'none' }), unhurried))).toBe(1)
    expect(await countCalls(() => remove(storage, 'a', widgets))).toBe(3)
    await storage.sweep(widgets)
    expect(await countCalls(() => storage.list(widgets, {}))).toBe(2)
    expect(await countCalls(() => storage.list(widgets, { limit: 3, partitions: ['p'] }))).toBe(2)
    expect(await countCalls(() => storage.changes(widgets, 4))).toBe(1)
    expect(await countCalls(() => storage.changes(widgets, 3))).toBe(2)
    const keys = ['a', 'c'].map((pk) => ({ pk, sk: '#' }))
    expect(await countCalls(() => storage.getCompanions(keys))).toBe(1)
  })

  test('get with activity takes 1; a list reads rows and activities in one round trip', async () => {
    widgets = { ...used, resource: widgets.resource }
    await create(storage, 'a', {}, widgets)
    calls = []
    await storage.get(widgets, 'a')
    expect(calls).toEqual(['batchGet'])
    await storage.sweep(widgets)
    calls = []
    await storage.list(widgets, {})
    expect(calls).toEqual(['get', 'query', 'query'])
  })
})

describe('a swap of a side item', () => {
  const item = (text: string) => ({ pk: `swap#${widgets.resource}`, sk: '#', attributes: { text } })
  const text = async () => (await getCompanion(storage, { pk: item('').pk, sk: '#' }))?.attributes.text
  const swap = async (to: string) =>
    (await storage.writeCompanion({ ...item(to), when: { is: undefined } }, unhurried)) !== undefined

  test.each([
    ['a conflict', cancelled(0)],
    ['throttling', throttle],
    ['an unanswered request', reset],
  ])('is sent again after %s', async (_, error) => {
    before = failTimes('transact', error)
    expect([await swap('mine'), calls]).toEqual([true, ['transact', 'transact']])
    expect(await text()).toBe('mine')
  })

  test('that was written without an answer is found by its identifier', async () => {
    after = failTimes('transact', reset)
    expect([await swap('mine'), calls]).toEqual([true, ['transact', 'transact', 'get']])
    expect(await text()).toBe('mine')
  })

  test('is refused without a read if every request was answered', async () => {
    await swap('theirs')
    calls = []
    before = failTimes('transact', throttle)
    expect([await swap('mine'), calls]).toEqual([false, ['transact', 'transact']])
  })

  test('is undecided if no request is answered', async () => {
    before = failTimes('transact', reset, 1000)
    await expect(
      storageWithSleptTime().writeCompanion({ ...item('mine'), when: { is: undefined } }, unhurried),
    ).rejects.toMatchObject({
      code: 'Undecided',
    })
  })

  test('wrote nothing if every request was throttled', async () => {
    before = failTimes('transact', throttle, 1000)
    await expect(
      storageWithSleptTime().writeCompanion({ ...item('mine'), when: { is: undefined } }, unhurried),
    ).rejects.toMatchObject({
      code: 'Busy',
    })
    expect(await text()).toBeUndefined()
  })
})

describe('transactions', () => {
  test('a conflict on every second one costs retries, not writes', async () => {
    let sent = 0
    before = (operation) => {
      return operation === 'transact' && sent++ % 2 === 0 ? cancelled(0)() : undefined
    }
    for (const key of ['a', 'b', 'c']) await create(storage, key, {}, widgets)
    await set(storage, 'a', { size: 1 }, widgets)
    expect(await history()).toEqual(['ADDED a', 'ADDED b', 'ADDED c', 'MODIFIED a'])
    expect((await storage.list(widgets, {})).items.length).toBe(3)
  })

  /** Creates an object on the condition that a side item is unchanged. The transaction has row, slot and condition. */
  async function createChecking(): Promise<{ rv: number; sent: string[] }> {
    const pk = `side#${widgets.resource}`
    await storage.writeCompanion({ pk, sk: '#', attributes: {} }, unhurried)
    const companions = [{ op: 'unchanged', pk, sk: '#', attributes: {} }] as const
    calls = []
    const { rv } = await storage.update(
      widgets,
      'a',
      () => ({ type: 'put', object: widget('a'), internal: {}, companions }),
      { ...unhurried, isNew: true },
    )
    return { rv, sent: calls.filter((one) => one !== 'allocate') }
  }
  const cancelTimes = (times: number, ...conflicts: number[]) => {
    const cancel = failTimes('transact', cancelled(...conflicts), times)
    before = (operation) => (calls.includes('allocate') ? cancel(operation) : undefined)
  }

  test('a conflict only on checked items resends the transaction under the same revision', async () => {
    cancelTimes(3, 2)
    expect(await createChecking()).toEqual({ rv: 2, sent: Array(4).fill('transact') })
    expect(await history()).toEqual(['ADDED a'])
  })

  test('a conflict on written items retries under another revision', async () => {
    cancelTimes(1, 0, 2)
    const { rv, sent } = await createChecking()
    expect([rv, sent.includes('write')]).toEqual([3, true])
    expect(await history()).toEqual(['ADDED a'])
  })

  test('a conflict that outlasts patience retries under another revision', async () => {
    const { time, sleep } = sleptTime(0)
    storage = storageWith({ elapsed: time, random: () => 1, sleep })
    cancelTimes(9, 2)
    expect([(await createChecking()).rv, await history()]).toEqual([3, ['ADDED a']])
  })

  test.each([1, 2, 3])('%i lost answers in a row: the write is applied once and succeeds', async (times) => {
    await create(storage, 'a', {}, widgets)
    after = failTimes('transact', reset, times)
    const { rv } = await set(storage, 'a', { size: 1 }, widgets)
    expect(await history()).toEqual(['ADDED a', 'MODIFIED a'])
    expect(await storage.get(widgets, 'a')).toMatchObject({ rv, object: { spec: { size: 1 } } })
  })

  test('a create with lost answers does not fail because of its own object', async () => {
    after = failTimes('transact', reset, 3)
    expect([(await create(storage, 'a', {}, widgets)).rv, await history()]).toEqual([2, ['ADDED a']])
  })

  test.each([5, 9])('%i lost requests in a row: the write retries under a new revision', async (times) => {
    before = failTimes('transact', reset, times)
    const { rv } = await create(storage, 'a', {}, widgets)
    expect(rv).toBeGreaterThan(2)
    expect(await history()).toEqual(['ADDED a'])
  })

  test('a permanent error leaves no gap', async () => {
    before = failTimes('transact', () => new Error('not authorized'))
    await expect(create(storage, 'a', {}, widgets)).rejects.toThrow('not authorized')
    before = nothing
    await create(storage, 'b', {}, widgets)
    calls = []
    expect((await storage.list(widgets, {})).items.map(({ key }) => key)).toEqual(['b'])
    expect(calls).toEqual(['get', 'query', 'query'])
  })
})

describe('single requests', () => {
  test('a lost answer of the counter causes a void, not a duplicate', async () => {
    after = failTimes('allocate', reset)
    expect([(await create(storage, 'a', {}, widgets)).rv, await history()]).toEqual([3, []])
    const { rv, items } = await storage.list(widgets, {})
    expect([rv, items.length]).toEqual([3, 1])
    expect(await history()).toEqual(['ADDED a'])
  })

  test('a void that conflicts with a transaction is retried', async () => {
    let conflicts = 0
    before = (operation) => {
      if (operation === 'write' && conflicts++ < 3) throw conflict()
      return operation === 'transact' && conflicts === 0 ? cancelled()() : undefined
    }
    await create(storage, 'a', {}, widgets)
    expect([conflicts, await history()]).toEqual([4, ['ADDED a']])
  })

  test.each(['get', 'allocate', 'transact', 'query'] as const)('throttled %s is retried', async (operation) => {
    await create(storage, 'a', {}, widgets)
    before = failTimes(operation, throttle, 3)
    await set(storage, 'a', { size: 1 }, widgets)
    expect((await storage.list(widgets, {})).items[0]?.read().object.spec).toEqual({ size: 1 })
  })
})

describe('giving up', () => {
  test('a permanently throttled table is Busy, and nothing is written', async () => {
    before = failTimes('transact', cancelled(0), Number.POSITIVE_INFINITY)
    await expect(create(storageWithSleptTime(), 'a', {}, widgets)).rejects.toMatchObject({
      code: 'Busy',
    })
    before = nothing
    expect((await storage.list(widgets, {})).items).toEqual([])
    expect(await history()).toEqual([])
  })

  test('a write whose slot cannot be read is Undecided', async () => {
    const silent = new Set<Operation>(['transact', 'write'])
    after = (operation) => {
      if (silent.has(operation)) throw reset()
    }
    before = failTimes('write', reset, Number.POSITIVE_INFINITY)
    const write = create(storageWithSleptTime(), 'a', {}, widgets)
    await expect(write).rejects.toMatchObject({ code: 'Undecided', message: 'the outcome of the write is unknown' })
  })

  test('a batch that is never read whole is retried with pauses, up to a limit', async () => {
    before = failTimes('batchGet', throttle, Number.POSITIVE_INFINITY)
    const keys = ['a', 'b'].map((pk) => ({ pk, sk: '#' }))
    await expect(storageWithSleptTime().getCompanions(keys)).rejects.toMatchObject({ code: 'Busy' })
    expect(calls.length).toBe(60)
  })

  test('a table that does not answer is Unavailable', async () => {
    before = failTimes('get', reset, Number.POSITIVE_INFINITY)
    await expect(storageWithSleptTime().get(widgets, 'a')).rejects.toMatchObject({ code: 'Unavailable' })
    before = failTimes('query', throttle, Number.POSITIVE_INFINITY)
    await create(storage, 'a', {}, widgets)
    await expect(storageWithSleptTime().list(widgets, {})).rejects.toMatchObject({ code: 'Busy' })
  })
})

describe('a full store', () => {
  const always = Number.POSITIVE_INFINITY
  const isFull = { code: 'Full' }
  const side = () => ({ pk: `side#${widgets.resource}`, sk: '#', attributes: { expiry: 1 } })
  const touch = () => {
    const credential = { pk: 'credential', sk: '#', lastActivity: 1, attributes: {}, same: {} }
    return storage.touchActivity({ table: widgets, key: 'a', uid: 'u', at: 1, credential })
  }
  /** Refuses these operations. */
  const refuse = (...operations: Operation[]) => {
    const refusals = operations.map((one) => failTimes(one, full, always))
    before = (sent) => {
      for (const one of refusals) one(sent)
      return undefined
    }
  }

  test.each<[string, () => Promise<unknown>]>([
    ['create', () => create(storage, 'b', {}, widgets)],
    ['update', () => set(storage, 'a', { size: 1 }, widgets)],
    ['delete', () => remove(storage, 'a', widgets)],
    ['a side item', () => storage.writeCompanion(side(), unhurried)],
    ['a side item, if absent', () => storage.writeCompanion({ ...side(), when: 'absent' }, unhurried)],
    ['a side item, if as it was', () => storage.writeCompanion({ ...side(), when: { is: undefined } }, unhurried)],
    ['a removal of a side item', () => storage.writeCompanion({ ...side(), attributes: null }, unhurried)],
    ['touchActivity', touch],
  ])('refuses a %s at once', async (_, write) => {
    await create(storage, 'a', {}, widgets)
    refuse('allocate', 'write', 'transact')
    calls = []
    await expect(write()).rejects.toMatchObject(isFull)
    expect(calls.filter((one) => !['get', 'batchGet'].includes(one))).toHaveLength(1)
  })

  test.each<[string, Operation[]]>([
    ['for the write', ['transact']],
    ['for the write and for the void of its slot', ['transact', 'write']],
  ])(
    'without room %s refuses the write, is read, and takes the next write once there is room',
    async (_, operations) => {
      await create(storage, 'a', {}, widgets)
      refuse(...operations)
      await expect(create(storage, 'b', {}, widgets)).rejects.toMatchObject(isFull)
      expect((await storage.list(widgets, {})).items.map(({ key }) => key)).toEqual(['a'])
      before = nothing
      await create(storage, 'b', {}, widgets)
      expect((await storage.list(widgets, {})).items.map(({ key }) => key)).toEqual(['a', 'b'])
      expect(await history()).toEqual(['ADDED a', 'ADDED b'])
    },
  )

  test('leaves a swap undecided whose request before it got no answer', async () => {
    after = failTimes('transact', reset)
    before = (sent) =>
      calls.filter((one) => one === 'transact').length > 1 ? failTimes('transact', full)(sent) : undefined
    await expect(storage.writeCompanion({ ...side(), when: { is: undefined } }, unhurried)).rejects.toMatchObject({
      code: 'Undecided',
    })
  })
})

describe('deadlines', () => {
  /** The clock of a machine that was frozen: it is `late` milliseconds ahead. */
  const storageAhead = (late: () => number): Storage =>
    storageWith({ now: () => Date.now() + late(), elapsed: () => performance.now() })

  test('a transaction is not sent ten seconds after its revision was taken', async () => {
    let late = 0
    const slow = storageAhead(() => late)
    // The machine is frozen before the first transaction is sent.
    before = (operation) => {
      if (operation === 'transact') late ||= 11_000
      return undefined
    }
    expect([(await create(slow, 'a', {}, widgets)).rv, await history()]).toEqual([3, ['ADDED a']])
  })

  const started = (deadline: () => number) =>
    storage.update(widgets, 'a', creating('a'), { deadline, isNew: true }).catch((error: unknown) => error)

  test('a request after its deadline takes no revision', async () => {
    calls = []
    expect(await started(() => 0)).toMatchObject({ code: 'TooLate' })
    expect(calls).toEqual([])
  })

  // A process may be frozen between the two and resume after its request was answered.
  // threat: use-6
  test('a request whose deadline passes after it took a revision sends no transaction', async () => {
    let left = 20_000
    calls = []
    after = (operation) => {
      if (operation === 'allocate') left = -1
    }
    expect(await started(() => left)).toMatchObject({ code: 'TooLate' })
    expect(calls).not.toContain('transact')
    expect(await history()).toEqual([])
  })

  // threat: use-6
  test('a transaction is not sent after the deadline of its request', async () => {
    let late = 0
    const slow = storageAhead(() => late)
    before = (operation) => {
      if (operation === 'transact') late = 2_000
      return undefined
    }
    const deadline = () => 1_000 - late
    await expect(slow.update(widgets, 'a', creating('a'), { deadline, isNew: true })).rejects.toMatchObject({
      code: 'TooLate',
    })
    expect(await history()).toEqual([])
  })

  test('a writer that resumes after hours does not trust an empty slot', async () => {
    let late = 0
    const frozen = storageAhead(() => late)
    after = (operation) => {
      if (operation !== 'transact') return undefined
      late = 25 * 3_600_000
      throw reset()
    }
    await expect(create(frozen, 'a', {}, widgets)).rejects.toMatchObject({ code: 'Undecided' })
    expect(await history()).toEqual(['ADDED a'])
  })
})

describe('a page that ends early', () => {
  const keys = ['a', 'b', 'c']

  beforeEach(async () => {
    for (const key of keys) await create(storage, key, { in: ['p'] }, widgets)
    storage = storageWith({}, (items) => ({
      ...items,
      query: (query) => items.query({ ...query, limit: 1 }),
    }))
  })

  test('does not end a list', async () => {
    await storage.sweep(widgets)
    for (const request of [{}, { limit: 2 }, { partitions: ['p'] }]) {
      const found: string[] = []
      for (let after: string | undefined; ; ) {
        const { items, next } = await storage.list(widgets, { ...request, ...(after && { after }) })
        found.push(...items.map(({ key }) => key))
        after = next
        if (!after) break
      }
      expect(found).toEqual(keys)
    }
  })

  test('does not end a watch or a sweep', async () => {
    expect(await history()).toEqual(['ADDED a', 'ADDED b', 'ADDED c'])
    await storage.sweep(widgets)
    await set(storage, 'a', { v: 2 }, widgets)
    expect((await storage.list(widgets, { at: 4 })).items.map(({ rv }) => rv)).toEqual([2, 3, 4])
  })

  test('does not end a read of side items, in their partition or in an index', async () => {
    const pk = `side#${widgets.resource}`
    const found: Record<string, string[]> = { partition: [], index: [] }
    for (const [expiry, sk] of keys.entries()) {
      await storage.writeCompanion({ pk, sk, attributes: { expiryIndex: pk, expiry } }, unhurried)
    }
    for (let after: string | undefined; ; ) {
      const page = await storage.queryCompanions(pk, after === undefined ? {} : { after })
      found.partition?.push(...page.items.map(({ sk }) => sk))
      after = page.next
      if (after === undefined) break
    }
    const range: IndexRange = {
      index: 'expiry',
      partition: { attribute: 'expiryIndex', value: pk },
      sort: { attribute: 'expiry', to: 9 },
    }
    for (let after: string | undefined; ; ) {
      const page = await storage.queryCompanions(range, after === undefined ? {} : { after })
      found.index?.push(...page.items.map(({ sk }) => sk))
      after = page.next
      if (after === undefined) break
    }
    expect(found).toEqual({ partition: keys, index: keys })
  })
})

describe('a tombstone', () => {
  let ahead: number
  const throttled = () => Promise.reject(new ItemsFault('throttled', undefined))
  /** Sweeps 45 s later, with a store that does not make the writes of this type to this partition. */
  async function sweep(type?: 'put' | 'delete', pk = ''): Promise<void> {
    ahead += 45_000
    let passed = 0
    const options = { now: () => Date.now() + ahead, elapsed: () => (passed += 500), sleep: async () => undefined }
    const isRefused = (one: SingleWrite) => one.type === type && (one.type === 'put' ? one.item : one.key).pk === pk
    const refusing = (items: Items): Items => ({
      ...items,
      write: (one, deadline) => (isRefused(one) ? throttled() : items.write(one, deadline)),
    })
    await storageWith(options, refusing).sweep(widgets)
  }
  const rows = () => rowsOf(widgets.resource)
  const deleted = () => deletedOf(widgets.resource)
  const found = () => Promise.all([rows(), deleted()].map(async (pk) => (await store.items().get({ pk, sk: 'a' }))?.rv))

  /** Deletes an object, after which a sweep has marked it, and returns the revision. */
  async function markOne(): Promise<number> {
    ahead = 0
    await create(storage, 'a', {}, widgets)
    const { rv } = await remove(storage, 'a', widgets)
    await sweep()
    expect(await found()).toEqual([rv, undefined])
    return rv
  }

  test('leaves the rows only when it is among the deleted objects', async () => {
    const rv = await markOne()
    await sweep('put', deleted())
    expect(await found()).toEqual([rv, undefined])
    await sweep()
    expect(await found()).toEqual([undefined, rv])
  })

  test('is in both places while it cannot leave the rows, and leaves them later', async () => {
    const rv = await markOne()
    await sweep('delete', rows())
    expect(await found()).toEqual([rv, rv])
    await sweep()
    expect(await found()).toEqual([undefined, rv])
    expect((await storage.list(widgets, {})).items).toEqual([])
  })
})
