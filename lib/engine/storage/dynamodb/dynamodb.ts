/** Implements the item operations in DynamoDB. The only file that sends commands to it. */
import {
  BatchGetItemCommand,
  DeleteItemCommand,
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
import {
  type Item,
  type ItemPage,
  type Items,
  ItemsFault,
  type ItemWrite,
  type SingleWrite,
  type TransactOutcome,
} from '../items.ts'
import type { ItemKey } from '../keys.ts'
import { limits } from '../limits.ts'
import { deadlinesOf } from './deadlines.ts'
import {
  type AttributeValues,
  buildCondition,
  buildIndexQuery,
  buildProjection,
  buildQuery,
  buildSet,
  marshalItem,
  marshalKey,
  unmarshalItem,
} from './expressions.ts'
import { sendClassified, sendConditional } from './faults.ts'

/** The most keys that one BatchGetItem accepts. */
const batchKeys = 100

/** Returns the items of a table. The client sets timeouts and retries, and must not have sent requests yet. */
export function itemsIn(client: DynamoDBClient, TableName: string, now: () => number): Items {
  const limitTime = deadlinesOf(client, now)

  async function get(key: ItemKey, isRecent = false): Promise<Item | undefined> {
    const command = new GetItemCommand({ TableName, Key: marshalKey(key), ConsistentRead: !isRecent })
    const { Item } = await sendClassified(() => client.send(command))
    return Item && unmarshalItem(Item)
  }

  async function batch(keys: readonly ItemKey[], attributes: readonly string[] | undefined): Promise<Item[]> {
    const found: Item[] = []
    for (let wanted: AttributeValues[] = keys.map(marshalKey); wanted.length > 0; ) {
      const request = { Keys: wanted, ConsistentRead: true, ...buildProjection(attributes) }
      const command = new BatchGetItemCommand({ RequestItems: { [TableName]: request } })
      const { Responses, UnprocessedKeys } = await sendClassified(() => client.send(command))
      const items = Responses?.[TableName] ?? []
      found.push(...items.map(unmarshalItem))
      const left = UnprocessedKeys?.[TableName]?.Keys ?? []
      if (left.length === wanted.length) throw new ItemsFault('throttled', undefined)
      wanted = left
    }
    return found
  }

  /** Repeats the query while pages are empty: DynamoDB may end a page before it has found an item. */
  async function page(query: QueryCommandInput): Promise<ItemPage> {
    const { Items = [], LastEvaluatedKey } = await sendClassified(() => client.send(new QueryCommand(query)))
    if (Items.length === 0 && LastEvaluatedKey) return page({ ...query, ExclusiveStartKey: LastEvaluatedKey })
    return { items: Items.map(unmarshalItem), more: LastEvaluatedKey !== undefined }
  }

  return {
    limits,

    get,

    async batchGet(keys, attributes) {
      const chunks = Array.from({ length: Math.ceil(keys.length / batchKeys) }, (_, index) =>
        keys.slice(index * batchKeys, (index + 1) * batchKeys),
      )
      return (await Promise.all(chunks.map((chunk) => batch(chunk, attributes)))).flat()
    },

    query: (query) =>
      'index' in query
        ? page({ TableName, IndexName: query.index, ...buildIndexQuery(query) })
        : page({ TableName, ConsistentRead: true, ...buildQuery(query) }),

    async write(one, deadline) {
      const command = commandOf(TableName, one)
      limitTime(command, deadline)
      const refusal = await sendConditional(() => client.send(command as PutItemCommand))
      return refusal ? { done: false, there: refusal.Item && unmarshalItem(refusal.Item) } : { done: true }
    },

    async allocate(key, at) {
      const command = new UpdateItemCommand({
        TableName,
        Key: marshalKey(key),
        UpdateExpression:
          'SET n = if_not_exists(n, :one) + :one, settled = if_not_exists(settled, :one), ' +
          '#floor = if_not_exists(#floor, :one), #at = if_not_exists(#at, :at), cleared = if_not_exists(cleared, :one), ' +
          'marked = if_not_exists(marked, :one), markedAt = if_not_exists(markedAt, :zero)',
        ExpressionAttributeNames: { '#floor': 'floor', '#at': 'at' },
        ExpressionAttributeValues: marshalItem({ ':one': 1, ':zero': 0, ':at': at }),
        ReturnValues: 'ALL_NEW',
      })
      const { Attributes } = await sendClassified(() => client.send(command))
      return unmarshalItem(Attributes ?? {})
    },

    async transact(writes, deadline) {
      const command = new TransactWriteItemsCommand({ TransactItems: writes.map((write) => writeOf(TableName, write)) })
      limitTime(command, deadline)
      try {
        await sendClassified(() => client.send(command))
        return { done: true }
      } catch (error) {
        return cancelled(error)
      }
    },
  }
}

function commandOf(TableName: string, one: SingleWrite) {
  const given = { TableName, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const
  if (one.type === 'set') return new UpdateItemCommand({ ...given, Key: marshalKey(one.key), ...buildSet(one) })
  const when = buildCondition(one.when)
  return one.type === 'put'
    ? new PutItemCommand({ ...given, Item: marshalItem(one.item), ...when })
    : new DeleteItemCommand({ ...given, Key: marshalKey(one.key), ...when })
}

function writeOf(TableName: string, one: ItemWrite): TransactWriteItem {
  if (one.type === 'put') return { Put: { TableName, Item: marshalItem(one.item), ...buildCondition(one.when) } }
  const given = { TableName, Key: marshalKey(one.key) }
  if (one.type === 'set') return { Update: { ...given, ...buildSet(one) } }
  if (one.type === 'delete') return { Delete: { ...given, ...buildCondition(one.when) } }
  return { ConditionCheck: { ...given, ConditionExpression: '', ...buildCondition(one.when) } }
}

/** Returns why a transaction was cancelled. Throws only if the request can never succeed. */
function cancelled(error: unknown): TransactOutcome {
  if (!(error instanceof TransactionCanceledException)) throw error
  const codes = (error.CancellationReasons ?? []).map(({ Code }) => Code)
  if (codes.includes('ValidationError')) throw error
  const having = (wanted: string) => codes.flatMap((code, index) => (code === wanted ? [index] : []))
  return { done: false, refused: having('ConditionalCheckFailed'), conflicts: having('TransactionConflict') }
}
