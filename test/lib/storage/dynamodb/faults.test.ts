/** Injects faults of the network and the service into the client: no write is lost, and none is applied twice. */
import { setTimeout as delay } from 'node:timers/promises'
import {
  type DynamoDBClient,
  ProvisionedThroughputExceededException,
  type QueryCommandInput,
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createStorage } from '../../../../lib/storage/dynamodb/dynamodb.ts'
import type { IndexPosition, IndexQuery, Storage, Table } from '../../../../lib/storage/interface.ts'
import { unhurried } from '../../../support/deadlines.ts'
import { startDynamoDB, type TestDynamoDB } from '../../../support/dynamodb.ts'
import { create, creating, remove, set, widgets as shape, used, widget } from '../fixtures.ts'

let db: TestDynamoDB
let client: DynamoDBClient
let storage: Storage
let widgets: Table
let count = 0
/** The operations sent, and the faults to inject. */
let calls: string[] = []
let before: (operation: string) => void
let after: (operation: string) => void

const nothing = () => {}

beforeAll(async () => {
  db = await startDynamoDB()
})
afterAll(() => db.stop())
beforeEach(() => {
  widgets = { ...shape, resource: `faults${count++}` }
  calls = []
  before = nothing
  after = nothing
  connectWith({})
})

function connectWith(options: { maxAttempts?: number }): void {
  client = db.connect(options)
  client.middlewareStack.add(
    (next, { commandName = '' }) =>
      async (args) => {
        const operation = commandName.replace(/Command$/, '')
        calls.push(operation)
        before(operation)
        const result = await next(args)
        after(operation)
        return result
      },
    { step: 'finalizeRequest', priority: 'low', name: 'faults' },
  )
  storage = storageWith({})
}

const storageWith = (options: Partial<Parameters<typeof createStorage>[0]>): Storage =>
  createStorage({ client, table: db.table, now: Date.now, random: Math.random, sleep: (ms) => delay(ms), ...options })

/** Throws on the first `times` requests of an operation. */
function failTimes(operation: string, error: () => Error, times = 1): (sent: string) => void {
  let left = times
  return (sent) => {
    if (sent === operation && left-- > 0) throw error()
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

const reset = () => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
const details = { message: 'injected', $metadata: { httpStatusCode: 400 } }
const conflict = () => new TransactionConflictException(details)
const throttle = () => new ProvisionedThroughputExceededException({ ...details })
const cancelled =
  (...codes: string[]) =>
  () =>
    new TransactionCanceledException({ ...details, CancellationReasons: codes.map((Code) => ({ Code })) })

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
    expect(calls).toEqual(['BatchGetItem'])
    await storage.sweep(widgets)
    calls = []
    await storage.list(widgets, {})
    expect(calls).toEqual(['GetItem', 'Query', 'Query'])
  })
})

describe('a swap of a side item', () => {
  const item = (text: string) => ({ pk: `swap#${widgets.resource}`, sk: '#', attributes: { text } })
  const text = async () => (await storage.getCompanion(item('').pk, '#'))?.attributes.text
  const swap = async (to: string) => (await storage.swapCompanion(undefined, item(to), unhurried)) !== undefined

  beforeEach(() => connectWith({ maxAttempts: 1 }))

  test.each([
    ['a conflict', cancelled('TransactionConflict')],
    ['throttling', throttle],
    ['an unanswered request', reset],
  ])('is sent again after %s', async (_, error) => {
    before = failTimes('TransactWriteItems', error)
    expect([await swap('mine'), calls]).toEqual([true, ['TransactWriteItems', 'TransactWriteItems']])
    expect(await text()).toBe('mine')
  })

  test('that was written without an answer is found by its identifier', async () => {
    after = failTimes('TransactWriteItems', reset)
    expect([await swap('mine'), calls]).toEqual([true, ['TransactWriteItems', 'TransactWriteItems', 'GetItem']])
    expect(await text()).toBe('mine')
  })

  test('is refused without a read if every request was answered', async () => {
    await swap('theirs')
    calls = []
    before = failTimes('TransactWriteItems', throttle)
    expect([await swap('mine'), calls]).toEqual([false, ['TransactWriteItems', 'TransactWriteItems']])
  })

  test('is undecided if no request is answered', async () => {
    before = failTimes('TransactWriteItems', reset, 1000)
    await expect(storageWithSleptTime().swapCompanion(undefined, item('mine'), unhurried)).rejects.toMatchObject({
      code: 'Undecided',
    })
  })

  test('wrote nothing if every request was throttled', async () => {
    before = failTimes('TransactWriteItems', throttle, 1000)
    await expect(storageWithSleptTime().swapCompanion(undefined, item('mine'), unhurried)).rejects.toMatchObject({
      code: 'Busy',
    })
    expect(await text()).toBeUndefined()
  })
})

describe('transactions', () => {
  test('a conflict on every second one costs retries, not writes', async () => {
    let sent = 0
    before = (operation) => {
      if (operation === 'TransactWriteItems' && sent++ % 2 === 0) throw cancelled('TransactionConflict', 'None')()
    }
    for (const key of ['a', 'b', 'c']) await create(storage, key, {}, widgets)
    await set(storage, 'a', { size: 1 }, widgets)
    expect(await history()).toEqual(['ADDED a', 'ADDED b', 'ADDED c', 'MODIFIED a'])
    expect((await storage.list(widgets, {})).items.length).toBe(3)
  })

  /** Creates an object on the condition that a side item is unchanged. The transaction has row, slot and condition. */
  async function createChecking(): Promise<{ rv: number; sent: string[] }> {
    const pk = `side#${widgets.resource}`
    await storage.keepCompanion({ pk, sk: '#', attributes: {} }, unhurried)
    const companions = [{ op: 'unchanged', pk, sk: '#', attributes: {} }] as const
    calls = []
    const { rv } = await storage.create(
      widgets,
      'a',
      () => ({ type: 'put', object: widget('a'), internal: {}, companions }),
      unhurried,
    )
    return { rv, sent: calls.filter((one) => one !== 'UpdateItem') }
  }
  const cancelTimes = (times: number, ...codes: string[]) => {
    let left = times
    before = (operation) => {
      if (operation === 'TransactWriteItems' && calls.includes('UpdateItem') && left-- > 0) throw cancelled(...codes)()
    }
  }

  test('a conflict only on checked items resends the transaction under the same revision', async () => {
    cancelTimes(3, 'None', 'None', 'TransactionConflict')
    expect(await createChecking()).toEqual({ rv: 2, sent: Array(4).fill('TransactWriteItems') })
    expect(await history()).toEqual(['ADDED a'])
  })

  test('a conflict on written items retries under another revision', async () => {
    cancelTimes(1, 'TransactionConflict', 'None', 'TransactionConflict')
    const { rv, sent } = await createChecking()
    expect([rv, sent.includes('PutItem')]).toEqual([3, true])
    expect(await history()).toEqual(['ADDED a'])
  })

  test('a conflict that outlasts patience retries under another revision', async () => {
    const { time, sleep } = sleptTime(0)
    storage = storageWith({ elapsed: time, random: () => 1, sleep })
    cancelTimes(9, 'None', 'None', 'TransactionConflict')
    expect([(await createChecking()).rv, await history()]).toEqual([3, ['ADDED a']])
  })

  test.each([1, 2, 3])('%i lost answers in a row: the write is applied once and succeeds', async (times) => {
    await create(storage, 'a', {}, widgets)
    after = failTimes('TransactWriteItems', reset, times)
    const { rv } = await set(storage, 'a', { size: 1 }, widgets)
    expect(await history()).toEqual(['ADDED a', 'MODIFIED a'])
    expect(await storage.get(widgets, 'a')).toMatchObject({ rv, object: { spec: { size: 1 } } })
  })

  test('a create with lost answers does not fail because of its own object', async () => {
    after = failTimes('TransactWriteItems', reset, 3)
    expect([(await create(storage, 'a', {}, widgets)).rv, await history()]).toEqual([2, ['ADDED a']])
  })

  test.each([5, 9])('%i lost requests in a row: the write retries under a new revision', async (times) => {
    before = failTimes('TransactWriteItems', reset, times)
    const { rv } = await create(storage, 'a', {}, widgets)
    expect(rv).toBeGreaterThan(2)
    expect(await history()).toEqual(['ADDED a'])
  })

  test('a permanent error leaves no gap', async () => {
    before = failTimes('TransactWriteItems', () =>
      Object.assign(new Error('not authorized'), { name: 'AccessDeniedException', $fault: 'client', $metadata: {} }),
    )
    await expect(create(storage, 'a', {}, widgets)).rejects.toThrow('not authorized')
    before = nothing
    await create(storage, 'b', {}, widgets)
    calls = []
    expect((await storage.list(widgets, {})).items.map(({ key }) => key)).toEqual(['b'])
    expect(calls).toEqual(['GetItem', 'Query', 'Query'])
  })
})

describe('single requests', () => {
  test('a lost answer of the counter causes a void, not a duplicate', async () => {
    after = failTimes('UpdateItem', reset)
    expect([(await create(storage, 'a', {}, widgets)).rv, await history()]).toEqual([3, []])
    const { rv, items } = await storage.list(widgets, {})
    expect([rv, items.length]).toEqual([3, 1])
    expect(await history()).toEqual(['ADDED a'])
  })

  test('a void that conflicts with a transaction is retried', async () => {
    let conflicts = 0
    before = (operation) => {
      if (operation === 'TransactWriteItems' && conflicts === 0) throw cancelled('ThrottlingError')()
      if (operation === 'PutItem' && conflicts++ < 3) throw conflict()
    }
    await create(storage, 'a', {}, widgets)
    expect([conflicts, await history()]).toEqual([4, ['ADDED a']])
  })

  test.each(['GetItem', 'UpdateItem', 'TransactWriteItems', 'Query'])('throttled %s is retried', async (operation) => {
    connectWith({ maxAttempts: 1 })
    await create(storage, 'a', {}, widgets)
    before = failTimes(operation, throttle, 3)
    await set(storage, 'a', { size: 1 }, widgets)
    expect((await storage.list(widgets, {})).items[0]?.read().object.spec).toEqual({ size: 1 })
  })
})

describe('giving up', () => {
  test('a permanently throttled table is Busy, and nothing is written', async () => {
    before = failTimes('TransactWriteItems', cancelled('TransactionConflict'), Number.POSITIVE_INFINITY)
    await expect(storageWithSleptTime().create(widgets, 'a', creating('a'), unhurried)).rejects.toMatchObject({
      code: 'Busy',
    })
    before = nothing
    expect((await storage.list(widgets, {})).items).toEqual([])
    expect(await history()).toEqual([])
  })

  beforeEach(() => connectWith({ maxAttempts: 1 }))

  test('a write whose slot cannot be read is Undecided', async () => {
    const silent = new Set(['TransactWriteItems', 'PutItem'])
    after = (operation) => {
      if (silent.has(operation)) throw reset()
    }
    before = failTimes('PutItem', reset, Number.POSITIVE_INFINITY)
    const write = storageWithSleptTime().create(widgets, 'a', creating('a'), unhurried)
    await expect(write).rejects.toMatchObject({ code: 'Undecided', message: 'the outcome of the write is unknown' })
  })

  test('unprocessed keys are retried with pauses, up to a limit', async () => {
    const left = [{ pk: { S: 'b' }, sk: { S: '#' } }]
    let asked = 0
    client.middlewareStack.add(
      (next, { commandName }) =>
        async (args) => {
          if (commandName !== 'BatchGetItemCommand') return next(args)
          asked++
          return { output: { $metadata: {}, UnprocessedKeys: { [db.table]: { Keys: left } } }, response: {} } as never
        },
      { step: 'initialize', name: 'unprocessed' },
    )
    const keys = ['a', 'b'].map((pk) => ({ pk, sk: '#' }))
    await expect(storageWithSleptTime().getCompanions(keys)).rejects.toMatchObject({ code: 'Busy' })
    expect(asked).toBe(120)
  })

  test('a table that does not answer is Unavailable', async () => {
    before = failTimes('GetItem', reset, Number.POSITIVE_INFINITY)
    await expect(storageWithSleptTime().get(widgets, 'a')).rejects.toMatchObject({ code: 'Unavailable' })
    before = failTimes('Query', throttle, Number.POSITIVE_INFINITY)
    await create(storage, 'a', {}, widgets)
    await expect(storageWithSleptTime().list(widgets, {})).rejects.toMatchObject({ code: 'Busy' })
  })
})

describe('deadlines', () => {
  /** The clock of a machine that was frozen: it is `late` milliseconds ahead. */
  const storageAhead = (late: () => number): Storage =>
    storageWith({ now: () => Date.now() + late(), elapsed: () => performance.now() })

  test('a transaction is not sent ten seconds after its revision was taken, not even by a retry of the client', async () => {
    let late = 0
    const slow = storageAhead(() => late)
    let sent = 0
    before = (operation) => {
      if (operation !== 'TransactWriteItems') return
      // The retry of the client comes after the deadline.
      if (++sent > 1) return
      late = 11_000
      throw reset()
    }
    expect([(await slow.create(widgets, 'a', creating('a'), unhurried)).rv, await history()]).toEqual([3, ['ADDED a']])
  })

  const started = (deadline: () => number) =>
    storage.create(widgets, 'a', creating('a'), { deadline }).catch((error: unknown) => error)

  test('a request after its deadline takes no revision', async () => {
    calls = []
    expect(await started(() => 0)).toMatchObject({ code: 'TooLate' })
    expect(calls).toEqual([])
  })

  // A process may be frozen between the two and resume after its request was answered.
  test('a request whose deadline passes after it took a revision sends no transaction', async () => {
    let left = 20_000
    calls = []
    after = (operation) => {
      if (operation === 'UpdateItem') left = -1
    }
    expect(await started(() => left)).toMatchObject({ code: 'TooLate' })
    expect(calls).not.toContain('TransactWriteItems')
    expect(await history()).toEqual([])
  })

  test('a transaction is not sent after the deadline of its request, not even by a retry of the client', async () => {
    let late = 0
    const slow = storageAhead(() => late)
    let sent = 0
    before = (operation) => {
      if (operation !== 'TransactWriteItems' || ++sent > 1) return
      late = 2_000
      throw reset()
    }
    const deadline = () => 1_000 - late
    await expect(slow.create(widgets, 'a', creating('a'), { deadline })).rejects.toMatchObject({ code: 'TooLate' })
    expect(await history()).toEqual([])
  })

  test('a writer that resumes after hours does not trust an empty slot', async () => {
    let late = 0
    const frozen = storageAhead(() => late)
    after = (operation) => {
      if (operation !== 'TransactWriteItems') return
      late = 25 * 3_600_000
      throw reset()
    }
    await expect(frozen.create(widgets, 'a', creating('a'), unhurried)).rejects.toMatchObject({ code: 'Undecided' })
    expect(await history()).toEqual(['ADDED a'])
  })
})

/** Answers queries with one item per page and an empty page in between, as DynamoDB may. */
function withEmptyPages(): void {
  const seen = new Set<string>()
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        if (commandName !== 'QueryCommand') return next(args)
        const { ExclusiveStartKey, ...query } = args.input as QueryCommandInput
        const id = JSON.stringify([query, ExclusiveStartKey])
        if (ExclusiveStartKey === undefined || seen.has(id)) {
          return next({ ...args, input: { ...args.input, Limit: 1 } })
        }
        seen.add(id)
        const output = { Items: [], LastEvaluatedKey: ExclusiveStartKey, $metadata: {} }
        return { response: undefined, output } as unknown as Awaited<ReturnType<typeof next>>
      },
    { step: 'initialize', name: 'emptyPages' },
  )
}

describe('an empty page with more after it', () => {
  const keys = ['a', 'b', 'c']

  beforeEach(async () => {
    for (const key of keys) await create(storage, key, { in: ['p'] }, widgets)
    withEmptyPages()
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
      await storage.keepCompanion({ pk, sk, attributes: { expiryIndex: pk, expiry } }, unhurried)
    }
    for (let after: string | undefined; ; ) {
      const page = await storage.queryCompanions(pk, after === undefined ? {} : { after })
      found.partition?.push(...page.items.map(({ sk }) => sk))
      after = page.next
      if (after === undefined) break
    }
    const query: IndexQuery = {
      index: 'expiry',
      partition: { attribute: 'expiryIndex', value: pk },
      sort: { attribute: 'expiry', to: 9 },
    }
    for (let after: IndexPosition | undefined; ; ) {
      const page = await storage.queryIndex({ ...query, ...(after && { after }) })
      found.index?.push(...page.items.map(({ sk }) => sk))
      after = page.next
      if (after === undefined) break
    }
    expect(found).toEqual({ partition: keys, index: keys })
  })
})
