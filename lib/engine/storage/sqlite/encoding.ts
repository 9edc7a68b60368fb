/**
 * Encodes the attributes of an item as JSON text. Values that JSON does not have are tagged as in DynamoDB. The text of an object stays as
 * it is, apart from the others: most bytes of an item are in it, and as a member it would be escaped and parsed each time.
 */
import type { Item, ItemValue } from '../items.ts'

/** An encoded item. */
export interface Encoded {
  /** A JSON object, or an array of one in which every array and object is tagged: `[{"n":{"N":"9007199254740993"}}]`. */
  body: string
  /** The attribute `object`, if it is a text; else it is in the body, as all texts of files of schema 1. */
  object: string | null
}

export function encode(item: Item): Encoded {
  const { object: text, ...others } = item
  const isApart = typeof text === 'string' && text.isWellFormed()
  const rest = (isApart ? others : item) as { [name: string]: ItemValue }
  return { body: JSON.stringify(isPlain(rest) ? rest : [tagMembers(rest)]), object: isApart ? text : null }
}

export function decode(body: string, object: string | null): Item {
  const parsed = JSON.parse(body) as Item | [Tagged]
  const item = Array.isArray(parsed) ? (untagMembers(parsed[0]) as Item) : parsed
  if (object !== null) item.object = object
  return item
}

/** Reports whether JSON text represents a value exactly. */
function isPlain(value: ItemValue | undefined): boolean {
  if (typeof value === 'bigint' || value instanceof Uint8Array) return false
  return typeof value !== 'object' || value === null || Object.values(value).every(isPlain)
}

type Tagged = { [name: string]: unknown }

function tag(value: ItemValue): unknown {
  if (typeof value === 'bigint') return { N: value.toString() }
  if (value instanceof Uint8Array) return { B: Buffer.from(value).toString('base64') }
  if (Array.isArray(value)) return { L: value.map(tag) }
  if (typeof value === 'object' && value !== null) return { M: tagMembers(value) }
  return value
}

const tagMembers = (members: { [name: string]: ItemValue }): Tagged =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [name, tag(value)]))

function untag(value: unknown): ItemValue {
  if (typeof value !== 'object' || value === null) return value as ItemValue
  const [[kind, content] = []] = Object.entries(value)
  if (kind === 'N') return integer(String(content))
  if (kind === 'B') return new Uint8Array(Buffer.from(String(content), 'base64'))
  if (kind === 'L') return (content as unknown[]).map(untag)
  return untagMembers(content as Tagged)
}

const untagMembers = (members: Tagged): { [name: string]: ItemValue } =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [name, untag(value)]))

function integer(text: string): number | bigint {
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : BigInt(text)
}
