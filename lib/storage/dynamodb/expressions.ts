/** Builds DynamoDB expressions: conditions, key ranges and updates. Names and values are always placeholders. */
import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import type { Advance, Condition, Confirmation, IndexQuery, Item, ItemQuery, ItemValue } from '../items.ts'
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

/** Builds an update that sets and removes attributes. `#name0` and `:value0` are the first attribute set. */
export function buildUpdate(attributes: Record<string, ItemValue>, remove: readonly string[] = []): Update {
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

interface Conditional {
  ConditionExpression?: string
  ExpressionAttributeNames?: Record<string, string>
  ExpressionAttributeValues?: AttributeValues
}

/** The condition that the item does not exist. */
export const absent = 'attribute_not_exists(pk)'

/** Builds the condition of a put or an update. Its placeholders differ from those of `buildUpdate`. */
export function buildCondition(when: Condition | undefined): Conditional {
  switch (when?.type) {
    case undefined:
      return {}
    case 'absent':
      return { ConditionExpression: absent }
    case 'unchanged':
      return {
        ConditionExpression: 'rv = :rv AND attribute_not_exists(gone)',
        ExpressionAttributeValues: marshalItem({ ':rv': when.rv }),
      }
    case 'vacant':
      return {
        ConditionExpression: 'attribute_not_exists(pk) OR (attribute_exists(gone) AND rv < :rv)',
        ExpressionAttributeValues: marshalItem({ ':rv': when.rev }),
      }
    case 'tombstone':
      return {
        ConditionExpression: 'rv = :rv AND attribute_exists(gone)',
        ExpressionAttributeValues: marshalItem({ ':rv': when.rv }),
      }
    case 'has':
      return having(when)
  }
}

function having({ attributes, lacks }: Extract<Condition, { type: 'has' }>): Conditional {
  const names = [...Object.keys(attributes), ...lacks]
  const values = Object.values(attributes).map((value, index) => [`:has${index}`, value])
  const has = values.map((_, index) => `#has${index} = :has${index}`)
  const lacking = lacks.map((_, index) => `attribute_not_exists(#has${values.length + index})`)
  return {
    ConditionExpression: ['attribute_exists(pk)', ...has, ...lacking].join(' AND '),
    ...(names.length > 0 && {
      ExpressionAttributeNames: Object.fromEntries(names.map((name, index) => [`#has${index}`, name])),
    }),
    ...(values.length > 0 && { ExpressionAttributeValues: marshalItem(Object.fromEntries(values)) }),
  }
}

/** Builds an update that only increases a number. */
export function buildAdvance({ attribute, value, exists, same = {}, owner, also }: Advance) {
  const update = buildUpdate({ [attribute]: value, ...(owner && { [owner.attribute]: owner.value }), ...also })
  const forward = ['attribute_not_exists(#name0)', '#name0 < :value0', ...(owner ? ['#name1 <> :value1'] : [])]
  const names = Object.keys(same).map((name, index) => [`#same${index}`, name])
  const values = Object.values(same).map((one, index) => [`:same${index}`, one])
  const isSame = Object.values(same).map((one, index) =>
    one === undefined ? `attribute_not_exists(#same${index})` : `#same${index} = :same${index}`,
  )
  return {
    ...update,
    ExpressionAttributeNames: { ...update.ExpressionAttributeNames, ...Object.fromEntries(names) },
    ExpressionAttributeValues: { ...update.ExpressionAttributeValues, ...marshalItem(Object.fromEntries(values)) },
    ConditionExpression: [...(exists ? ['attribute_exists(pk)'] : []), ...isSame, `(${forward.join(' OR ')})`].join(
      ' AND ',
    ),
  }
}

/** Builds an update that raises `settled`. */
export function buildSettle(to: number) {
  return { ...buildUpdate({ settled: to }), ConditionExpression: '#name0 < :value0' }
}

/** Builds an update that replaces the `at` that was read, and may raise `floor`, if `settled` has reached `n`. */
export function buildConfirm({ n, was, at, isFloor, also }: Confirmation) {
  const update = buildUpdate({ at, ...(isFloor && { floor: n }), ...also })
  return {
    ...update,
    ExpressionAttributeValues: { ...update.ExpressionAttributeValues, ...marshalItem({ ':n': n, ':was': was }) },
    ConditionExpression: 'settled >= :n AND #name0 = :was',
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
