/** Tests the client of the table: what it sends and reads is what the SDK's own client sends and reads. */
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import {
  type AttributeValue,
  BatchGetItemCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectTable } from '../../../../../lib/engine/storage/dynamodb/client.ts'
import { itemsIn } from '../../../../../lib/engine/storage/dynamodb/dynamodb.ts'
import { startDynamoDB, type TestDynamoDB } from '../../../../support/dynamodb.ts'
import cases from './vectors/client.cases.json' with { type: 'json' }

let db: TestDynamoDB
let plain: DynamoDBClient
const credentials = { accessKeyId: 'test', secretAccessKey: 'test' }
const region = 'eu-central-1'

beforeAll(async () => {
  db = await startDynamoDB()
  plain = new DynamoDBClient({ endpoint: db.endpoint, region, credentials })
})
afterAll(async () => {
  plain.destroy()
  await db.stop()
})

const controls = Array.from({ length: 0x20 }, (_, code) => String.fromCharCode(code)).join('')
const hostile: Readonly<Record<string, string>> = {
  'control characters': controls,
  'quotes, backslashes and JSON': '"B":"QUJD"\\u0000\\\\{"S":"x"}',
  'line separators': 'a\u2028b\u2029c\u0085d\u007f',
  'characters beyond the basic plane': '😀𝒳\u{10ffff}',
  '300 KB of everything': `${controls}"\\ä€😀\u2028`.repeat(6000),
}

const attributes = (said: string): Record<string, AttributeValue> => ({
  said: { S: said },
  bytes: { B: new Uint8Array([0, 1, 2, 254, 255]) },
  view: { B: new Uint8Array([9, 8, 7, 6]).subarray(1, 3) },
  buffer: { B: Buffer.from('buffer') },
  B: { S: 'an attribute named B' },
  exact: { N: '12345678901234567890123456789012345678' },
  small: { N: '0.00000000000000000000000001' },
  yes: { BOOL: true },
  nothing: { NULL: true },
  list: { L: [{ S: said.slice(0, 9) }, { M: { B: { B: new Uint8Array([7]) }, ä: { L: [] } } }] },
})

/** Returns the value with bytes as plain arrays, whatever their class. */
function comparable(value: unknown): unknown {
  if (value instanceof Uint8Array) return { bytes: [...value] }
  if (Array.isArray(value)) return value.map(comparable)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, comparable(member)]))
}

describe('attribute values', () => {
  test.each(Object.entries(hostile))('with %s are stored and read unchanged', async (name, said) => {
    const key = { pk: { S: `hostile ${name}` }, sk: { S: '#' } }
    const Item = { ...key, ...attributes(said) }
    const TableName = db.table
    await db.client.send(new PutItemCommand({ TableName, Item }))
    const read = new GetItemCommand({ TableName, Key: key, ConsistentRead: true })
    const { Item: theirs } = await plain.send(read)
    expect(comparable(theirs)).toEqual(comparable(Item))
    const answers = [
      (await db.client.send(read)).Item,
      (await db.client.send(new BatchGetItemCommand({ RequestItems: { [TableName]: { Keys: [key] } } }))).Responses?.[
        TableName
      ]?.[0],
      (
        await db.client.send(
          new QueryCommand({
            TableName,
            KeyConditionExpression: 'pk = :pk',
            ExpressionAttributeValues: { ':pk': key.pk },
          }),
        )
      ).Items?.[0],
    ]
    for (const ours of answers) expect(comparable(ours)).toEqual(comparable(Item))
    await plain.send(new PutItemCommand({ TableName, Item }))
    expect(comparable((await db.client.send(read)).Item)).toEqual(comparable(Item))
  })
})

/** An endpoint that answers what `answers` says and keeps what it received. */
async function scripted(...answers: { status: number; body: string }[]) {
  const received: { headers: IncomingMessage['headers']; body: string }[] = []
  const server = createServer(async (request, response) => {
    received.push({ headers: request.headers, body: await text(request) })
    const { status, body } = answers.shift() ?? { status: 200, body: '{}' }
    response.writeHead(status, { 'Content-Type': 'application/x-amz-json-1.0' }).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const options = { endpoint, region, credentials, maxAttempts: 2 }
  const clients = { ours: connectTable({ ...options, uuid: randomUUID }), theirs: new DynamoDBClient(options) }
  return {
    ...clients,
    received,
    async [Symbol.asyncDispose]() {
      for (const client of Object.values(clients)) client.destroy()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const put = (pk: string) => ({
  TableName: 't',
  Item: { pk: { S: pk }, ...attributes(Object.values(hostile).join('')) },
  ExpressionAttributeNames: undefined,
})

describe('a request', () => {
  test('has the members that the SDK sends, and lone surrogates stay as they are', async () => {
    await using endpoint = await scripted()
    const input = put('\ud800 alone, and \udfff')
    await endpoint.ours.send(new PutItemCommand(input))
    await endpoint.theirs.send(new PutItemCommand(input))
    const [ours, theirs] = endpoint.received.map(({ body }) => JSON.parse(body))
    expect([ours.Item.pk.S, ours]).toEqual(['\ud800 alone, and \udfff', theirs])
    const [first, second] = endpoint.received.map(({ headers }) => headers)
    expect([first?.['x-amz-target'], first?.['content-type']]).toEqual([
      second?.['x-amz-target'],
      second?.['content-type'],
    ])
  })

  // signer.test.ts has the body.
  test('signs the host, the time and the operation', async () => {
    await using endpoint = await scripted()
    await endpoint.ours.send(new PutItemCommand(put('a')))
    const signed = /SignedHeaders=([^,]+)/.exec(String(endpoint.received[0]?.headers.authorization))?.[1]?.split(';')
    expect(signed).toEqual(['content-type', 'host', 'x-amz-date', 'x-amz-target'])
  })

  test('that writes a transaction has a token of its own, and a retry has the same', async () => {
    const broken = { status: 500, body: '{"__type":"InternalServerError"}' }
    await using endpoint = await scripted(broken)
    const input = { TransactItems: [{ Put: put('a') }] }
    await endpoint.ours.send(new TransactWriteItemsCommand(input))
    await endpoint.ours.send(new TransactWriteItemsCommand(input))
    const tokens = endpoint.received.map(({ body }) => JSON.parse(body).ClientRequestToken as string)
    expect(tokens.length).toBe(3)
    expect(tokens[1]).toBe(tokens[0])
    expect([new Set(tokens).size, tokens.every((token) => token.length === 36)]).toEqual([2, true])
  })
})

/** Returns what a rejection tells, without what differs between any two requests. */
async function failure(request: Promise<unknown>) {
  const error = await request.then(
    () => new Error('no error'),
    (reason: Error) => reason,
  )
  const { $metadata, $response, ...members } = error as Error & {
    $metadata?: { httpStatusCode?: number }
    $response?: unknown
  }
  const { name, message } = error
  return comparable({ ...members, name, message, status: $metadata?.httpStatusCode, kind: error.constructor.name })
}

describe('an error', () => {
  const key = { pk: { S: 'taken' }, sk: { S: '#' } }
  const refused = () => ({
    TableName: db.table,
    Item: key,
    ConditionExpression: 'attribute_not_exists(pk)',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
  })

  beforeAll(async () => {
    await plain.send(new PutItemCommand({ TableName: db.table, Item: { ...key, ...attributes('taken') } }))
  })

  test('of a condition has the item', async () => {
    const ours = await failure(db.client.send(new PutItemCommand(refused())))
    expect(ours).toEqual(await failure(plain.send(new PutItemCommand(refused()))))
    expect(ours).toMatchObject({
      name: 'ConditionalCheckFailedException',
      Item: comparable({ ...key, ...attributes('taken') }),
    })
  })

  test('of a transaction has its reasons and their items', async () => {
    const free = { ...refused(), Item: { ...key, sk: { S: 'free' } } }
    const send = (client: DynamoDBClient) =>
      failure(client.send(new TransactWriteItemsCommand({ TransactItems: [{ Put: free }, { Put: refused() }] })))
    const ours = await send(db.client)
    expect(ours).toEqual(await send(plain))
    expect(ours).toMatchObject({
      name: 'TransactionCanceledException',
      CancellationReasons: [
        { Code: 'None' },
        { Code: 'ConditionalCheckFailed', Item: comparable({ ...key, ...attributes('taken') }) },
      ],
    })
  })

  test.each(cases.errors as [string, number, string][])('is as the SDK makes it for %s', async (_, status, body) => {
    const answers = Array.from({ length: 2 }, () => ({ status, body }))
    const told = async (whose: 'ours' | 'theirs') => {
      await using endpoint = await scripted(...answers)
      const error = await failure(endpoint[whose].send(new GetItemCommand({ TableName: 't', Key: key })))
      return { error, sent: endpoint.received.length }
    }
    expect(await told('ours')).toEqual(await told('theirs'))
  })
})

describe('deadlines', () => {
  const item = (pk: string) => ({ pk, sk: '#', n: 1 })

  test('of writes through one client are their own', async () => {
    let now = 1_000
    const items = itemsIn(db.connect(), db.table, () => now)
    const write = (pk: string, deadline: number) => items.transact([{ type: 'put', item: item(pk) }], deadline)
    expect(await write('first', 2_000)).toEqual({ done: true })
    now = 3_000
    await expect(write('second', 2_000)).rejects.toMatchObject({ kind: 'unanswered' })
    expect(await write('third', 4_000)).toEqual({ done: true })
    now = 5_000
    const together = await Promise.allSettled([write('late', 4_999), write('in time', 5_000), write('later', 4_998)])
    expect(together.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected'])
    expect(await items.write({ type: 'put', item: item('slot') }, 5_000)).toEqual({ done: true })
    await expect(items.write({ type: 'put', item: item('late slot') }, 4_999)).rejects.toMatchObject({
      kind: 'unanswered',
    })
    const found = await Promise.all(
      ['first', 'second', 'third', 'late', 'in time', 'later', 'slot', 'late slot'].map((pk) => items.get(item(pk))),
    )
    expect(found.map((one) => one !== undefined)).toEqual([true, false, true, false, true, false, true, false])
  })

  test('of two stores of one client follow the clock of their store', async () => {
    const client = db.connect()
    const [early, late] = [0, 9_000].map((time) => itemsIn(client, db.table, () => time))
    expect(await early?.transact([{ type: 'put', item: item('early') }], 5_000)).toEqual({ done: true })
    await expect(late?.transact([{ type: 'put', item: item('late') }], 5_000)).rejects.toMatchObject({
      kind: 'unanswered',
    })
    expect(await early?.transact([{ type: 'put', item: item('again') }], 5_000)).toEqual({ done: true })
  })
})
