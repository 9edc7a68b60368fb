/** Encodes the attributes of an item as JSON text. Values that JSON does not have are tagged as in DynamoDB. */
import type { Item, ItemValue } from '../items.ts'

/** An item is an object, or an array of one object in which every array and object is tagged: `[{"n":{"N":"9007199254740993"}}]`. */
export const encode = (item: Item): string =>
  isPlain(item) ? JSON.stringify(item) : JSON.stringify([tagMembers(item as { [name: string]: ItemValue })])

export const decode = (body: string): Item => {
  const parsed = JSON.parse(body) as Item | [Tagged]
  return Array.isArray(parsed) ? (untagMembers(parsed[0]) as Item) : parsed
}

/** Returns a function that reports whether an encoded item lacks a text, without decoding it. It may overlook one. */
export function lacking(text: string): (body: string) => boolean {
  const quoted = JSON.stringify(text).slice(1, -1)
  // The object of a tagged item may be deflated.
  return (body) => body[0] === '{' && !body.includes(quoted)
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
