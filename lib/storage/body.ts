/** Objects as attribute values: JSON text, deflated only where an entry with its predecessor would be large. */
import process from 'node:process'
import { parseJson, stringify } from '../meta/encoding/json.ts'
import type { JsonObject, KubeObject } from '../meta/types.ts'
import type { ItemValue } from './items.ts'

/** JSON text, or the deflated text. */
export type Body = string | Uint8Array

/** From this many bytes on, an object and its predecessor together are deflated. */
const compressFrom = 128 * 1024
/** Far above what can have been deflated into one item by an honest writer. */
const inflatedBytes = 64 * 1024 * 1024

/** The object without its resourceVersion, which is stamped when it is read. */
export function writeObject(object: KubeObject): string {
  const { resourceVersion: _, ...metadata } = object.metadata
  return stringify({ ...object, metadata })
}

export function readObject(body: Body, rv: number): KubeObject {
  const object = parseBody(body) as KubeObject
  object.metadata.resourceVersion = String(rv)
  return object
}

export const writeInternal = (internal: JsonObject): string => stringify(internal)

export const readInternal = (body: Body): JsonObject => parseBody(body)

/** The exact parser only where some number may need it: the texts are our own, and lists read thousands of them. */
function parseBody(body: Body): JsonObject {
  const text = unpack(body)
  return hasLongNumber(text) ? (parseJson(text, Number.POSITIVE_INFINITY).value as JsonObject) : JSON.parse(text)
}

/** The digits of the smallest number that JavaScript may not hold exactly. */
const longNumber = 16

const isDigit = (text: string, at: number): boolean => {
  const unit = text.charCodeAt(at)
  return unit >= 48 && unit <= 57
}

/** Whether so many digits follow each other: one of them then stands at a multiple of their number, so few are looked at. */
export function hasLongNumber(text: string): boolean {
  for (let at = longNumber - 1; at < text.length; at += longNumber) {
    if (!isDigit(text, at)) continue
    let [first, last] = [at, at]
    while (isDigit(text, first - 1)) first--
    while (isDigit(text, last + 1)) last++
    if (last - first + 1 >= longNumber) return true
  }
  return false
}

export const isBody = (value: unknown): value is Body => typeof value === 'string' || value instanceof Uint8Array

/** Deflates all of them or none: they share one fate so that an item is large for one reason only. */
export function pack(bodies: readonly Body[]): Body[] {
  const bytes = bodies.reduce((sum, body) => sum + Buffer.byteLength(body), 0)
  if (bytes < compressFrom) return [...bodies]
  const { deflateRawSync } = process.getBuiltinModule('node:zlib')
  return bodies.map((body) => (typeof body === 'string' ? new Uint8Array(deflateRawSync(body)) : body))
}

function unpack(body: Body): string {
  if (typeof body === 'string') return body
  const { inflateRawSync } = process.getBuiltinModule('node:zlib')
  return inflateRawSync(body, { maxOutputLength: inflatedBytes }).toString()
}

/**
 * At most this many bytes of JSON text in one object, as in etcd. What deflates well fits an item a hundred times over, and
 * would then be too large for every list that meets it.
 */
export const objectBytes = 1.5 * 1024 * 1024
/** At most this many bytes in one item, names of attributes included. */
export const itemBytes = 400 * 1024
/**
 * At most this many bytes as they are stored: an entry holds an object twice, as it is and as it was, with what names it. An
 * object that could be written once and not be changed then could not be disabled, nor deleted where a finalizer holds it.
 */
export const placeBytes = itemBytes / 2 - 4 * 1024
/** What of it is left to those who end objects. */
export const reserveBytes = 8 * 1024
/** At most this many bytes in one transaction. */
export const transactionBytes = 4 * 1024 * 1024

/** What DynamoDB counts for an attribute value, rounded up. */
export function sizeOf(value: ItemValue): number {
  if (typeof value === 'string') return Buffer.byteLength(value)
  if (typeof value === 'number' || typeof value === 'bigint') return 21
  if (value instanceof Uint8Array) return value.byteLength
  if (Array.isArray(value)) return value.reduce((sum: number, one) => sum + sizeOf(one) + 1, 3)
  if (value !== null && typeof value === 'object') {
    return Object.entries(value).reduce((sum, [name, one]) => sum + Buffer.byteLength(name) + sizeOf(one) + 1, 3)
  }
  return 1
}
