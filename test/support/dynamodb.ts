/**
 * Starts a DynamoDB for one test file: an emulator on a free port, with the deployed table. The package of the emulator exists for
 * Linux on x64 only. Elsewhere, AWS_ENDPOINT_URL_DYNAMODB names another one.
 */
import { randomUUID } from 'node:crypto'
import { createRequire } from 'node:module'
import {
  BatchWriteItemCommand,
  CreateTableCommand,
  DeleteTableCommand,
  type DynamoDBClient,
  type DynamoDBClientConfig,
  paginateScan,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb'
import { freePort } from '../../infra/local/host/freeport.ts'
import { startGuardedProcess } from '../../infra/local/host/guardedprocess.ts'
import { tableDefinition, timeToLive } from '../../infra/local/table.ts'
import { connectTable } from '../../lib/engine/storage/dynamodb/client.ts'
import { unmarshalItem } from '../../lib/engine/storage/dynamodb/expressions.ts'
import type { Item } from '../../lib/engine/storage/items.ts'

export interface TestDynamoDB {
  endpoint: string
  client: DynamoDBClient
  table: string
  /** Returns another client of the same endpoint, for middleware that must not affect others. */
  connect(options?: DynamoDBClientConfig): DynamoDBClient
  /** Returns all items of the table. */
  all(): Promise<Item[]>
  /** Replaces the table by an empty one of the same name. */
  empty(): Promise<void>
  stop(): Promise<void>
}

const attempts = 5

/** Returns a client of the endpoint as the functions make it, with arbitrary credentials. */
export function connect(endpoint: string, options: DynamoDBClientConfig = {}): DynamoDBClient {
  return connectTable({
    uuid: randomUUID,
    ...options,
    endpoint,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  })
}

/** Starts an emulator with one empty table of a random name, in memory. Call `stop` after the tests. */
export async function startDynamoDB(): Promise<TestDynamoDB> {
  const given = process.env.AWS_ENDPOINT_URL_DYNAMODB
  const server = given === undefined ? await startServer() : undefined
  const endpoint = server?.endpoint ?? given ?? ''
  const client = connect(endpoint)
  const table = `test-${randomUUID()}`
  await createTable(client, table)
  const clients = [client]
  return {
    endpoint,
    client,
    table,
    connect(options) {
      const another = connect(endpoint, options)
      clients.push(another)
      return another
    },
    async all() {
      const items: Item[] = []
      for await (const { Items = [] } of paginateScan({ client }, { TableName: table, ConsistentRead: true }))
        items.push(...Items.map(unmarshalItem))
      return items
    },
    async empty() {
      await client.send(new DeleteTableCommand({ TableName: table }))
      await createTable(client, table)
    },
    async stop() {
      for (const one of clients) one.destroy()
      await server?.stop()
    },
  }
}

async function createTable(client: DynamoDBClient, table: string): Promise<void> {
  await client.send(new CreateTableCommand({ TableName: table, ...tableDefinition }))
  await client.send(new UpdateTimeToLiveCommand({ TableName: table, TimeToLiveSpecification: timeToLive }))
}

/** Starts the emulator process on a free port, and chooses another when the port is taken meanwhile. */
async function startServer() {
  const binary = createRequire(import.meta.url).resolve(`@dynoxide/${process.platform}-${process.arch}/dynoxide`)
  for (let attempt = 1; ; attempt++) {
    const port = await freePort()
    const { says, stop } = startGuardedProcess(binary, ['--port', String(port)])
    if (await says('listening')) return { endpoint: `http://127.0.0.1:${port}`, stop }
    if (attempt === attempts) throw new Error(`the DynamoDB emulator did not start in ${attempts} attempts`)
  }
}

/** Copies the table to a new one, as a restore to a point in time does. */
export async function copyTable({ client, table }: TestDynamoDB, to: string): Promise<void> {
  await client.send(new CreateTableCommand({ TableName: to, ...tableDefinition }))
  for await (const { Items = [] } of paginateScan({ client }, { TableName: table })) {
    for (const Item of Items)
      await client.send(new BatchWriteItemCommand({ RequestItems: { [to]: [{ PutRequest: { Item } }] } }))
  }
}
