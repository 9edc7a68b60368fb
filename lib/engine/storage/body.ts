/** Encodes objects as attribute values: JSON text, deflated if an object and its predecessor are large. */
import process from 'node:process'
import { parseJson, stringify } from '../meta/encoding/json.ts'
import type { JsonObject, KubeObject } from '../meta/types.ts'

/** JSON text, or deflated JSON text. */
export type Body = string | Uint8Array

/** An object and its predecessor are deflated if together they have at least this many bytes. */
const compressFrom = 128 * 1024
/** The most bytes that an inflated body may have: far more than any honest writer stores. */
const inflatedBytes = 64 * 1024 * 1024

/** Encodes an object without its resourceVersion, which `readObject` sets from the item. */
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

/** Uses the slower exact parser only if a number may need it: lists parse thousands of these texts. */
function parseBody(body: Body): JsonObject {
  const text = unpack(body)
  return hasLongNumber(text) ? (parseJson(text, Number.POSITIVE_INFINITY).value as JsonObject) : JSON.parse(text)
}

/** The number of digits of the smallest integer that JavaScript may not represent exactly. */
const longNumber = 16

const isDigit = (text: string, at: number): boolean => {
  const unit = text.charCodeAt(at)
  return unit >= 48 && unit <= 57
}

/** Reports whether the text has a run of 16 digits. Such a run crosses a multiple of 16, so few characters are checked. */
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

/** Deflates all bodies of an item, or none of them. */
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
 * The most bytes of JSON text that an object may have; etcd has the same limit. Without it, an object that deflates well
 * could be a hundred times larger than an item, and too large for the lists that contain it.
 */
export const objectBytes = 1.5 * 1024 * 1024
