/** Conditions, key ranges and changes in DynamoDB's expression language. Names and values are always placeholders. */
import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import type { IndexQuery } from '../interface.ts'
import type { Advance, Condition, Confirmation, Item, ItemQuery, ItemValue } from '../items.ts'
import type { ItemKey } from '../keys.ts'
import { queryItems } from '../protocol/constants.ts'

/** Attribute values as the client speaks of them. */
export type Attributes = ReturnType<typeof marshalled>

export const marshalled = (item: Record<string, unknown>) => marshall(item, { removeUndefinedValues: true })

/** What `marshalled` was given: lists read thousands of attributes, for which the SDK's own way back is several times slower. */
export function unmarshalled(attributes: Attributes): Item {
  return membersOf(attributes) as Item
}

function membersOf(attributes: Attributes): Record<string, ItemValue> {
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
  throw new Error(`an attribute of the type ${Object.keys(value)}`)
}

function numberOf(text: string): number | bigint {
  const number = Number(text)
  return Number.isInteger(number) && !Number.isSafeInteger(number) ? BigInt(text) : number
}

export const keyOf = ({ pk, sk }: ItemKey): Attributes => marshalled({ pk, sk })

interface Update {
  UpdateExpression: string
  ExpressionAttributeNames: Record<string, string>
  ExpressionAttributeValues?: Attributes
}

/** SET of attributes and REMOVE of others; `#name0` and `:value0` are those of the first one set. */
export function changed(attributes: Record<string, ItemValue>, remove: readonly string[] = []): Update {
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
    ...(values.length > 0 && { ExpressionAttributeValues: marshalled(Object.fromEntries(values)) }),
  }
}

interface Conditional {
  ConditionExpression?: string
  ExpressionAttributeNames?: Record<string, string>
  ExpressionAttributeValues?: Attributes
}

/** No such item. */
export const absent = 'attribute_not_exists(pk)'

/** The condition of a put or of an update; its placeholders differ from those of `changed`. */
export function conditional(when: Condition | undefined): Conditional {
  switch (when?.type) {
    case undefined:
      return {}
    case 'absent':
      return { ConditionExpression: absent }
    case 'unchanged':
      return {
        ConditionExpression: 'rv = :rv AND attribute_not_exists(gone)',
        ExpressionAttributeValues: marshalled({ ':rv': when.rv }),
      }
    case 'vacant':
      return {
        ConditionExpression: 'attribute_not_exists(pk) OR (attribute_exists(gone) AND rv < :rv)',
        ExpressionAttributeValues: marshalled({ ':rv': when.rev }),
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
    ...(values.length > 0 && { ExpressionAttributeValues: marshalled(Object.fromEntries(values)) }),
  }
}

/** An update that only moves forward. */
export function advanced({ attribute, value, exists, same = {}, owner, also }: Advance) {
  const update = changed({ [attribute]: value, ...(owner && { [owner.attribute]: owner.value }), ...also })
  const forward = ['attribute_not_exists(#name0)', '#name0 < :value0', ...(owner ? ['#name1 <> :value1'] : [])]
  const names = Object.keys(same).map((name, index) => [`#same${index}`, name])
  const values = Object.values(same).map((one, index) => [`:same${index}`, one])
  const isSame = Object.values(same).map((one, index) =>
    one === undefined ? `attribute_not_exists(#same${index})` : `#same${index} = :same${index}`,
  )
  return {
    ...update,
    ExpressionAttributeNames: { ...update.ExpressionAttributeNames, ...Object.fromEntries(names) },
    ExpressionAttributeValues: { ...update.ExpressionAttributeValues, ...marshalled(Object.fromEntries(values)) },
    ConditionExpression: [...(exists ? ['attribute_exists(pk)'] : []), ...isSame, `(${forward.join(' OR ')})`].join(
      ' AND ',
    ),
  }
}

/** An UpdateItem that moves `settled` forward. */
export function settled(to: number) {
  return { ...changed({ settled: to }), ConditionExpression: '#name0 < :value0' }
}

/** An UpdateItem that replaces `at` as it was read, and raises `floor` with it, where `settled` has reached `n`. */
export function confirmed({ n, was, at, isFloor }: Confirmation) {
  const update = changed({ at, ...(isFloor && { floor: n }) })
  return {
    ...update,
    ExpressionAttributeValues: { ...update.ExpressionAttributeValues, ...marshalled({ ':n': n, ':was': was }) },
    ConditionExpression: 'settled >= :n AND #name0 = :was',
  }
}

/** Attributes of a read; all where none are named. */
export function projected(attributes: readonly string[] | undefined) {
  if (!attributes) return {}
  const names = attributes.map((name, index) => [`#attribute${index}`, name])
  return {
    ProjectionExpression: names.map(([placeholder]) => placeholder).join(', '),
    ExpressionAttributeNames: Object.fromEntries(names) as Record<string, string>,
  }
}

/** DynamoDB counts in 32 bits; an answer ends after 1 MB in any case. */
const limited = (limit: number) => ({ Limit: Math.min(limit, 2 ** 31 - 1) })

/** The key condition of a Query. `after` is a position: it need not be the key of an item. */
export function queried({ pk, from, to, prefix, after, limit = queryItems, attributes }: ItemQuery) {
  const range =
    prefix !== undefined
      ? { expression: ' AND begins_with(sk, :prefix)', values: { ':prefix': prefix } }
      : from !== undefined && to !== undefined
        ? { expression: ' AND sk BETWEEN :from AND :to', values: { ':from': from, ':to': to } }
        : { expression: '', values: {} }
  return {
    KeyConditionExpression: `pk = :pk${range.expression}`,
    ExpressionAttributeValues: marshalled({ ':pk': pk, ...range.values }),
    ...projected(attributes),
    ...(after !== undefined && { ExclusiveStartKey: keyOf({ pk, sk: after }) }),
    ...limited(limit),
  }
}

/** The key condition of a Query of an index. */
export function indexed({ partition, sort, limit, after }: IndexQuery) {
  return {
    KeyConditionExpression: '#partition = :partition AND #sort <= :to',
    ExpressionAttributeNames: { '#partition': partition.attribute, '#sort': sort.attribute },
    ExpressionAttributeValues: marshalled({ ':partition': partition.value, ':to': sort.to }),
    ...(after && {
      ExclusiveStartKey: marshalled({
        pk: after.pk,
        sk: after.sk,
        [partition.attribute]: partition.value,
        [sort.attribute]: after.at,
      }),
    }),
    ...(limit !== undefined && limited(limit)),
  }
}
