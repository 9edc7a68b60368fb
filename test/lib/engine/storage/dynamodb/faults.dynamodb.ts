/** Tests what the driver makes of the faults of the client and the service. */
import {
  type DynamoDBClient,
  ProvisionedThroughputExceededException,
  type QueryCommandInput,
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { itemsIn } from '../../../../../lib/engine/storage/dynamodb/dynamodb.ts'
import type { Items, ItemWrite } from '../../../../../lib/engine/storage/items.ts'
import { startDynamoDB, type TestDynamoDB } from '../../../../support/dynamodb.ts'

let db: TestDynamoDB
let client: DynamoDBClient
let items: Items
let now: number
let count = 0
let pk: string
/** Called for each request of the client, its retries included. */
let sending: (command: string) => void

const always = Number.POSITIVE_INFINITY

beforeAll(async () => {
  db = await startDynamoDB()
})
afterAll(() => db.stop())
beforeEach(() => {
  pk = `p${count++}`
  now = Date.now()
  sending = () => {}
  connect(1)
})

function connect(maxAttempts: number): void {
  client = db.connect({ maxAttempts })
  items = itemsIn(client, db.table, () => now)
  client.middlewareStack.add(
    (next, { commandName = '' }) =>
      async (args) => {
        sending(commandName.replace(/Command$/, ''))
        return next(args)
      },
    { step: 'finalizeRequest', priority: 'low', name: 'faults' },
  )
}

const at = (sk: string) => ({ pk, sk })
const put = (sk: string): ItemWrite => ({ type: 'put', item: at(sk) })
const reset = () => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
const details = { message: 'injected', $metadata: { httpStatusCode: 400 } }

describe('an exception', () => {
  const served = (name: string, $fault: string) => Object.assign(new Error(name), { name, $fault, $metadata: {} })

  test.each([
    ['a conflict with a transaction', new TransactionConflictException(details), 'conflict'],
    ['throttling', new ProvisionedThroughputExceededException({ ...details }), 'throttled'],
    ['a broken connection', reset(), 'unanswered'],
    ['a failure of the service', served('InternalServerError', 'server'), 'unanswered'],
    ['a transaction that is in progress', served('TransactionInProgressException', 'client'), 'unanswered'],
    ['an answer that cannot be read', Object.assign(new SyntaxError('JSON'), { $metadata: {} }), 'unanswered'],
  ])('for %s is a fault', async (_, error, kind) => {
    sending = () => {
      throw error
    }
    for (const act of [
      () => items.get(at('a')),
      () => items.batchGet([at('a')]),
      () => items.query({ pk }),
      () => items.write({ type: 'put', item: at('a') }, always),
      () => items.allocate(at('a'), 1),
      () => items.write({ type: 'set', key: at('a'), attributes: { n: 1 } }, always),
      () => items.write({ type: 'delete', key: at('a') }, always),
      () => items.transact([put('a')], always),
    ])
      await expect(act()).rejects.toMatchObject({ name: 'ItemsFault', kind })
  })

  test('for a refusal is passed on', async () => {
    const error = served('AccessDeniedException', 'client')
    sending = () => {
      throw error
    }
    await expect(items.get(at('a'))).rejects.toBe(error)
  })
})

describe('a cancelled transaction', () => {
  const cancel = (...codes: string[]) => {
    const error = new TransactionCanceledException({ ...details, CancellationReasons: codes.map((Code) => ({ Code })) })
    sending = () => {
      throw error
    }
    return items.transact([put('a'), put('b'), put('c')], always)
  }

  test('names the writes that were refused, and those that met another transaction', async () => {
    expect(await cancel('None', 'ConditionalCheckFailed', 'TransactionConflict')).toEqual({
      done: false,
      refused: [1],
      conflicts: [2],
    })
    expect(await cancel('ThrottlingError', 'None', 'None')).toEqual({ done: false, refused: [], conflicts: [] })
  })

  test('that can never succeed is an error', async () => {
    await expect(cancel('None', 'ValidationError', 'None')).rejects.toThrow('injected')
  })
})

test('a retry of the client applies a transaction once', async () => {
  connect(3)
  let sent = 0
  client.middlewareStack.add(
    (next) => async (args) => {
      const answer = await next(args)
      if (++sent === 1) throw reset()
      return answer
    },
    { step: 'finalizeRequest', priority: 'low', name: 'lostAnswer' },
  )
  const advance: ItemWrite = { type: 'set', key: at('a'), attributes: { n: 1 }, when: { n: { below: 1 } } }
  expect(await items.transact([advance], always)).toEqual({ done: true })
  expect(sent).toBe(2)
})

// threat: use-6
test('no retry of the client is sent after the deadline', async () => {
  connect(3)
  const sent: string[] = []
  sending = (command) => {
    sent.push(command)
    now += 2000
    throw reset()
  }
  await expect(items.transact([put('a')], now + 1000)).rejects.toMatchObject({ kind: 'unanswered' })
  await expect(items.write({ type: 'put', item: at('a') }, now + 1000)).rejects.toMatchObject({ kind: 'unanswered' })
  expect([sent, await itemsIn(db.client, db.table, Date.now).get(at('a'))]).toEqual([
    ['TransactWriteItems', 'PutItem'],
    undefined,
  ])
})

describe('keys that were not processed', () => {
  /** Answers batches with the item of the first key, and leaves the others. */
  const readOne = (least: number) => {
    let asked = 0
    client.middlewareStack.add(
      (next) => async (args) => {
        const { RequestItems } = args.input as { RequestItems?: Record<string, { Keys: unknown[] }> }
        const { Keys = [] } = RequestItems?.[db.table] ?? {}
        if (++asked > 5) throw new Error('asked without end')
        const read = Keys.slice(0, Math.max(least, 0))
        const left = Keys.slice(read.length)
        const output = {
          $metadata: {},
          Responses: { [db.table]: read },
          UnprocessedKeys: left.length > 0 ? { [db.table]: { Keys: left } } : {},
        }
        return { output, response: {} } as unknown as Awaited<ReturnType<typeof next>>
      },
      { step: 'initialize', name: 'unprocessed' },
    )
  }

  test('are asked for again', async () => {
    readOne(1)
    expect(await items.batchGet([at('a'), at('b'), at('c')])).toEqual([at('a'), at('b'), at('c')])
  })

  test('are throttling if nothing was processed', async () => {
    readOne(0)
    await expect(items.batchGet([at('a'), at('b')])).rejects.toMatchObject({ kind: 'throttled' })
  })
})

test('an empty page with more after it ends no query', async () => {
  await items.transact(['a', 'b', 'c'].map(put), always)
  let pages = 0
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        if (commandName !== 'QueryCommand') return next(args)
        const { ExclusiveStartKey, ...query } = args.input as QueryCommandInput
        if (pages++ > 0) return next(args)
        const start = ExclusiveStartKey ?? { pk: { S: query.ExpressionAttributeValues?.[':pk']?.S }, sk: { S: 'a' } }
        const output = { Items: [], LastEvaluatedKey: start, $metadata: {} }
        return { response: undefined, output } as unknown as Awaited<ReturnType<typeof next>>
      },
    { step: 'initialize', name: 'emptyPage' },
  )
  expect((await items.query({ pk })).items).toEqual([at('b'), at('c')])
})
