/**
 * Decodes Kubernetes' protobuf envelope, in which compiled clients send reviews: `k8s\0`, then
 * `Unknown{1: TypeMeta{1: apiVersion, 2: kind}, 2: raw}`. Reads only the fields that a kind describes. Responses are JSON.
 * Source: k8s.io/apimachinery runtime/serializer/protobuf; protobuf.dev encoding.
 */

import { MAX_VALUES } from '../../meta/encoding/jsonscanner.ts'
import { badRequest, type StatusError } from '../../meta/errors/status.ts'
import type { JsonObject, JsonValue } from '../../meta/types.ts'
import { message, type ProtobufMessage, textFields, texts } from '../../registry/protobuf.ts'

const magic = Buffer.from([0x6b, 0x38, 0x73, 0x00])

/** Reports whether the Content-Type is Kubernetes' protobuf. */
export const isProtobuf = (headers: Readonly<Record<string, string>>): boolean =>
  (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() === 'application/vnd.kubernetes.protobuf'

const malformed = (): StatusError => badRequest('the body is not a well-formed Kubernetes protobuf object')

/** Returns a base-128 number and the offset after it. Lengths and tags here fit 32 bits. */
function varint(bytes: Uint8Array, at: number): [value: number, next: number] {
  let value = 0
  for (let i = 0; i < 10; i++) {
    const byte = bytes[at + i]
    if (byte === undefined) break
    if (i < 5) value += (byte & 0x7f) * 2 ** (7 * i)
    if (byte < 0x80) return [value, at + i + 1]
  }
  throw malformed()
}

/** Yields the length-delimited fields of a message in order, and skips all others. */
function* fields(bytes: Uint8Array): Generator<[number: number, value: Uint8Array]> {
  for (let at = 0; at < bytes.length; ) {
    const [tag, start] = varint(bytes, at)
    const wire = tag % 8
    if (wire === 2) {
      const [length, from] = varint(bytes, start)
      if (from + length > bytes.length) throw malformed()
      yield [Math.floor(tag / 8), bytes.subarray(from, from + length)]
      at = from + length
    } else if (wire === 0) [, at] = varint(bytes, start)
    else if (wire === 1) at = start + 8
    else if (wire === 5) at = start + 4
    else throw malformed()
  }
}

function text(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw malformed()
  }
}

/** An entry of a map: its key, and a message of its values. */
const entry: ProtobufMessage = { ...textFields('key'), 2: message('values', { 1: texts('items') }) }

/** Sets a member of a map. Of two entries with the same key, the later one wins, as in protobuf. */
function setEntry(map: JsonObject, { key = '', values }: JsonObject): void {
  if (typeof key !== 'string' || key === '__proto__') throw malformed()
  map[key] = (values as JsonObject | undefined)?.items ?? []
}

/**
 * Decodes a message. Treats empty text as absent, because compiled clients write every field. The description limits the
 * depth of the recursion.
 */
function decodeMessage(bytes: Uint8Array, description: ProtobufMessage, left = { values: MAX_VALUES }): JsonObject {
  const result: JsonObject = {}
  for (const [number, value] of fields(bytes)) {
    const field = Object.hasOwn(description, number) ? description[number] : undefined
    if (!field) continue
    if (left.values-- === 0) throw malformed()
    if (field.type === 'message') result[field.name] = decodeMessage(value, field.fields, left)
    else if (field.type === 'map') {
      result[field.name] ??= {}
      setEntry(result[field.name] as JsonObject, decodeMessage(value, entry, left))
    } else if (field.type === 'strings') {
      result[field.name] ??= []
      ;(result[field.name] as JsonValue[]).push(text(value))
    } else if (value.length > 0) result[field.name] = text(value)
  }
  return result
}

const envelope: ProtobufMessage = { 1: message('type', textFields('apiVersion', 'kind')) }

/** Decodes the object in an envelope, with the fields that `description` names. Throws 400. */
export function decodeProtobuf(body: Uint8Array, description: ProtobufMessage): JsonObject {
  if (Buffer.compare(body.subarray(0, magic.length), magic) !== 0) throw malformed()
  const content = body.subarray(magic.length)
  const { type } = decodeMessage(content, envelope)
  let raw: Uint8Array = new Uint8Array()
  for (const [number, value] of fields(content)) if (number === 2) raw = value
  return { ...(type as JsonObject | undefined), ...decodeMessage(raw, description) }
}
