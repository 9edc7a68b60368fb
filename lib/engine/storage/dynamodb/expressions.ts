/** Builds DynamoDB expressions: conditions, key ranges and updates. Names and values are always placeholders. */
import type { AttributeValue, PutItemCommandInput } from '@aws-sdk/client-dynamodb'
import type { Condition, IndexQuery, Item, ItemQuery, ItemValue, ItemWrite } from '../items.ts'
import type { ItemKey } from '../keys.ts'
import { limits } from '../limits.ts'

/** Attribute values in the form of the client. */
export type AttributeValues = ReturnType<typeof marshalItem>

export function marshalItem(item: Readonly<Record<string, ItemValue | undefined>>): Record<string, AttributeValue> {
  const attributes: Record<string, AttributeValue> = {}
  for (const name in item) {
    const value = item[name]
    if (value !== undefined) attributes[name] = marshalValue(value)
  }
  return attributes
}

function marshalValue(value: ItemValue): AttributeValue {
  if (typeof value === 'string') return { S: value }
  if (typeof value === 'number') return { N: numberText(value) }
  if (typeof value === 'bigint') return { N: value.toString() }
  if (typeof value === 'boolean') return { BOOL: value }
  if (value === null) return { NULL: true }
  if (value instanceof Uint8Array) return { B: value }
  return Array.isArray(value) ? { L: value.map(marshalValue) } : { M: marshalItem(value) }
}

/** Throws for numbers that DynamoDB does not have, or that are no longer exact. */
function numberText(value: number): string {
  if (Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))) return String(value)
  throw new RangeError(`${value} is not an exact number`)
}

/** Inverse of `marshalItem`. The SDK's functions for both are several times slower. */
export function unmarshalItem(attributes: AttributeValues): Item {
  return membersOf(attributes) as Item
}

function membersOf(attributes: AttributeValues): Record<string, ItemValue> {
  const members: Record<string, ItemValue> = {}
  for (const name in attributes) {
    const value = attributes[name]
    if (value) members[name] = native(value)
  }
  return members
}

function native(value: AttributeValue): ItemValue {
  if (value.S !== undefined) return value.S
  if (value.N !== undefined) return numberOf(value.N)
  if (value.BOOL !== undefined) return value.BOOL
  if (value.L !== undefined) return value.L.map(native)
  if (value.M !== undefined) return membersOf(value.M)
  if (value.B !== undefined) return value.B
  if (value.NULL !== undefined) return null
  throw new Error(`unsupported attribute type ${Object.keys(value)}`)
}

function numberOf(text: string): number | bigint {
  const number = Number(text)
  return Number.isInteger(number) && !Number.isSafeInteger(number) ? BigInt(text) : number
}

export const marshalKey = ({ pk, sk }: ItemKey): AttributeValues => marshalItem({ pk, sk })

interface Update {
  UpdateExpression: string
  ExpressionAttributeNames: Record<string, string>
  ExpressionAttributeValues?: AttributeValues
}

/** Builds an update that sets and removes attributes. */
function buildUpdate(attributes: Record<string, ItemValue>, remove: readonly string[] = []): Update {
  const names = Object.keys(attributes)
  const set = names.map((_, index) => `#name${index} = :value${index}`)
  const removed = remove.map((_, index) => `#name${names.length + index}`)
  const all = [...names, ...remove].map((name, index) => [`#name${index}`, name])
  const values = Object.values(attributes).map((value, index) => [`:value${index}`, value])
  return {
    UpdateExpression: [set.length ? `SET ${set.join(', ')}` : '', removed.length ? `REMOVE ${removed.join(', ')}` : '']
      .filter(Boolean)
      .join(' '),
    ExpressionAttributeNames: Object.fromEntries(all),
    ...(values.length > 0 && { ExpressionAttributeValues: marshalItem(Object.fromEntries(values)) }),
  }
}

type Conditional = Pick<
  PutItemCommandInput,
  'ConditionExpression' | 'ExpressionAttributeNames' | 'ExpressionAttributeValues'
>

/** Builds the condition of a write. Its placeholders differ from those of `buildUpdate`. */
export function buildCondition(when: ItemWrite['when']): Conditional {
  if (!when) return {}
  const names: Record<string, string> = {}
  const values: Record<string, ItemValue> = {}
  const all = ([when].flat() as Condition[]).map((condition) =>
    Object.entries(condition)
      .map(([attribute, test]) => {
        const [name, value] = [`#is${Object.keys(names).length}`, `:is${Object.keys(values).length}`]
        names[name] = attribute
        if (test === 'absent') return `attribute_not_exists(${name})`
        if (test === 'present') return `attribute_exists(${name})`
        const [[kind, wanted] = []] = Object.entries(test)
        if (kind === undefined || wanted === undefined) throw new Error(`an empty test of ${attribute}`)
        values[value] = wanted
        if (kind === 'is') return `${name} = ${value}`
        if (kind === 'from') return `${name} >= ${value}`
        return `(attribute_not_exists(${name}) OR ${name} ${kind === 'not' ? '<>' : '<'} ${value})`
      })
      .join(' AND '),
  )
  return {
    ConditionExpression: all.join(' OR '),
    ExpressionAttributeNames: names,
    ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: marshalItem(values) }),
  }
}

/** Builds an update with its condition. */
export function buildSet({ attributes, remove, when }: Extract<ItemWrite, { type: 'set' }>) {
  const [update, condition] = [buildUpdate(attributes, remove), buildCondition(when)]
  const values = { ...update.ExpressionAttributeValues, ...condition.ExpressionAttributeValues }
  return {
    ...update,
    ...condition,
    ExpressionAttributeNames: { ...update.ExpressionAttributeNames, ...condition.ExpressionAttributeNames },
    ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
  }
}

/** Builds the projection of a read; undefined reads all attributes. */
export function buildProjection(attributes: readonly string[] | undefined) {
  if (!attributes) return {}
  const names = attributes.map((name, index) => [`#attribute${index}`, name])
  return {
    ProjectionExpression: names.map(([placeholder]) => placeholder).join(', '),
    ExpressionAttributeNames: Object.fromEntries(names) as Record<string, string>,
  }
}

/** DynamoDB accepts 32-bit limits. A page ends after 1 MB in any case. */
const limited = (limit: number) => ({ Limit: Math.min(limit, 2 ** 31 - 1) })

/** Builds the key condition of a Query. No item need exist at `after`. */
export function buildQuery({ pk, from, to, prefix, after, limit = limits.queryItems, attributes }: ItemQuery) {
  const range =
    prefix !== undefined
      ? { expression: ' AND begins_with(sk, :prefix)', values: { ':prefix': prefix } }
      : from !== undefined && to !== undefined
        ? { expression: ' AND sk BETWEEN :from AND :to', values: { ':from': from, ':to': to } }
        : { expression: '', values: {} }
  return {
    KeyConditionExpression: `pk = :pk${range.expression}`,
    ExpressionAttributeValues: marshalItem({ ':pk': pk, ...range.values }),
    ...buildProjection(attributes),
    ...(after !== undefined && { ExclusiveStartKey: marshalKey({ pk, sk: after }) }),
    ...limited(limit),
  }
}

/** Builds the key condition of a Query of an index. */
export function buildIndexQuery({ partition, sort, limit, after }: IndexQuery) {
  const { from, to } = sort
  return {
    KeyConditionExpression: `#partition = :partition AND #sort ${from === undefined ? '<= :to' : 'BETWEEN :from AND :to'}`,
    ExpressionAttributeNames: { '#partition': partition.attribute, '#sort': sort.attribute },
    ExpressionAttributeValues: marshalItem({ ':partition': partition.value, ':from': from, ':to': to }),
    ...(after && {
      ExclusiveStartKey: marshalItem({
        pk: after.pk,
        sk: after.sk,
        [partition.attribute]: partition.value,
        [sort.attribute]: after.at,
      }),
    }),
    ...(limit !== undefined && limited(limit)),
  }
}
