/** The storage port in DynamoDB: the only file that sends commands. */
import {
  BatchGetItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  type QueryCommandInput,
  TransactionCanceledException,
  type TransactWriteItem,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import type { Storage } from '../interface.ts'
import { Fault, type Item, type ItemPage, type Items, type ItemWrite, type TransactOutcome } from '../items.ts'
import type { ItemKey } from '../keys.ts'
import { type StorageOptions, storageOver } from '../protocol/storage.ts'
import {
  type Attributes,
  absent,
  advanced,
  changed,
  conditional,
  confirmed,
  indexed,
  keyOf,
  marshalled,
  projected,
  queried,
  settled,
  unmarshalled,
} from './expressions.ts'
import { answered, refused } from './faults.ts'

/**
 * Storage in one table with string keys `pk` and `sk`. Timeouts and retries are the client's: three tries of a second
 * each serve well. `now` bounds how late a transaction may be sent.
 */
export const createStorage = ({
  client,
  table,
  ...options
}: StorageOptions & { client: DynamoDBClient; table: string }): Storage =>
  storageOver(itemsIn(client, table, options.now), options)

/** The keys that one BatchGetItem takes. */
const batchKeys = 100

export function itemsIn(client: DynamoDBClient, TableName: string, now: () => number): Items {
  async function get(key: ItemKey): Promise<Item | undefined> {
    const command = new GetItemCommand({ TableName, Key: keyOf(key), ConsistentRead: true })
    const { Item } = await answered(() => client.send(command))
    return Item && unmarshalled(Item)
  }

  async function batch(keys: readonly ItemKey[], attributes: readonly string[] | undefined): Promise<Item[]> {
    const found: Item[] = []
    for (let wanted: Attributes[] = keys.map(keyOf); wanted.length > 0; ) {
      const request = { Keys: wanted, ConsistentRead: true, ...projected(attributes) }
      const command = new BatchGetItemCommand({ RequestItems: { [TableName]: request } })
      const { Responses, UnprocessedKeys } = await answered(() => client.send(command))
      const items = Responses?.[TableName] ?? []
      found.push(...items.map(unmarshalled))
      const left = UnprocessedKeys?.[TableName]?.Keys ?? []
      if (left.length === wanted.length) throw new Fault('throttled', undefined)
      wanted = left
    }
    return found
  }

  /** Queries on while answers are empty: DynamoDB may end one before it has found an item, and say only where to go on. */
  async function page(query: QueryCommandInput): Promise<ItemPage> {
    const { Items = [], LastEvaluatedKey } = await answered(() => client.send(new QueryCommand(query)))
    if (Items.length === 0 && LastEvaluatedKey) return page({ ...query, ExclusiveStartKey: LastEvaluatedKey })
    return { items: Items.map(unmarshalled), more: LastEvaluatedKey !== undefined }
  }

  return {
    get,

    async batchGet(keys, attributes) {
      const chunks = Array.from({ length: Math.ceil(keys.length / batchKeys) }, (_, index) =>
        keys.slice(index * batchKeys, (index + 1) * batchKeys),
      )
      return (await Promise.all(chunks.map((chunk) => batch(chunk, attributes)))).flat()
    },

    query: (query) => page({ TableName, ConsistentRead: true, ...queried(query) }),

    queryIndex: (query) => page({ TableName, IndexName: query.index, ...indexed(query) }),

    async putIfAbsent(item, deadline) {
      const command = new PutItemCommand({
        TableName,
        Item: marshalled(item),
        ...conditional({ type: 'absent' }),
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      })
      command.middlewareStack.add(inTime(deadline, now), lastStep)
      const refusal = await refused(() => client.send(command))
      return refusal && (refusal.Item ? unmarshalled(refusal.Item) : get(item))
    },

    async allocate(key, at) {
      const command = new UpdateItemCommand({
        TableName,
        Key: keyOf(key),
        UpdateExpression:
          'SET n = if_not_exists(n, :one) + :one, settled = if_not_exists(settled, :one), ' +
          '#floor = if_not_exists(#floor, :one), #at = if_not_exists(#at, :at)',
        ExpressionAttributeNames: { '#floor': 'floor', '#at': 'at' },
        ExpressionAttributeValues: marshalled({ ':one': 1, ':at': at }),
        ReturnValues: 'ALL_NEW',
      })
      const { Attributes } = await answered(() => client.send(command))
      return unmarshalled(Attributes ?? {})
    },

    async settle(key, to) {
      const command = new UpdateItemCommand({ TableName, Key: keyOf(key), ...settled(to) })
      await refused(() => client.send(command))
    },

    async confirm(key, found) {
      const command = new UpdateItemCommand({ TableName, Key: keyOf(key), ...confirmed(found) })
      await refused(() => client.send(command))
    },

    async transact(writes, deadline) {
      const command = new TransactWriteItemsCommand({ TransactItems: writes.map((write) => writeOf(TableName, write)) })
      command.middlewareStack.add(inTime(deadline, now), lastStep)
      try {
        await answered(() => client.send(command))
        return { done: true }
      } catch (error) {
        return cancelled(error)
      }
    },
  }
}

/** Looks at the clock inside the client's retries, so that none of them leaves later than the deadline either. */
const inTime =
  (deadline: number, now: () => number) =>
  <Arguments, Answer>(next: (args: Arguments) => Promise<Answer>) =>
  async (args: Arguments): Promise<Answer> => {
    if (now() > deadline) throw new Fault('unanswered', new Error('too late to be sent'))
    return next(args)
  }

const lastStep = { step: 'finalizeRequest', priority: 'low', name: 'inTime' } as const

function writeOf(TableName: string, write: ItemWrite): TransactWriteItem {
  if (write.type === 'delete') return { Delete: { TableName, Key: keyOf(write.key) } }
  if (write.type === 'advance') return { Update: { TableName, Key: keyOf(write.key), ...advanced(write.change) } }
  const when = conditional(write.when)
  if (write.type === 'check') {
    return { ConditionCheck: { TableName, Key: keyOf(write.key), ConditionExpression: absent, ...when } }
  }
  if (write.type === 'put') return { Put: { TableName, Item: marshalled(write.item), ...when } }
  const update = changed(write.attributes, write.remove)
  const names = { ...update.ExpressionAttributeNames, ...when.ExpressionAttributeNames }
  const values = { ...update.ExpressionAttributeValues, ...when.ExpressionAttributeValues }
  return {
    Update: {
      TableName,
      Key: keyOf(write.key),
      ...update,
      ...when,
      ExpressionAttributeNames: names,
      ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
    },
  }
}

/** A cancelled transaction did nothing. Only a request that can never succeed is an error. */
function cancelled(error: unknown): TransactOutcome {
  if (!(error instanceof TransactionCanceledException)) throw error
  const codes = (error.CancellationReasons ?? []).map(({ Code }) => Code)
  if (codes.includes('ValidationError')) throw error
  const having = (wanted: string) => codes.flatMap((code, index) => (code === wanted ? [index] : []))
  return { done: false, refused: having('ConditionalCheckFailed'), conflicts: having('TransactionConflict') }
}
