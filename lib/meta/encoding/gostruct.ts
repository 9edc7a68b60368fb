/**
 * Decodes JSON as Go decodes it into a struct: the same texts for wrong types, members without a value left out, times
 * normalised, unknown members named.
 * Source: encoding/json, sigs.k8s.io/json.
 */

import type { JsonObject, JsonValue } from '../types.ts'
import { child, deepCopy, isObject, own, sortedEntries } from '../value/walk.ts'
import { type Floats, NO_FLOATS } from './floats.ts'
import { jsonType } from './gotext.ts'
import { MAX_FINDINGS } from './jsonscanner.ts'
import { normaliseTime, parseTime, TimeParseError } from './time.ts'

/** A value of another type than the field's; the message is Go's, without any value but numbers. */
export class GoDecodeError extends Error {
  override readonly name = 'GoDecodeError'
}

/** How a Go type reads JSON. `type` is its name in messages. Empty results are left out, as `omitempty` does. */
export type GoType =
  /** `keepZero`: written even when empty, and when absent; `pointer`: when it was sent. */
  | { kind: 'string' | 'int64' | 'bool'; type: string; keepZero?: true; pointer?: true }
  | { kind: 'time' | 'raw'; type: string }
  | { kind: 'map'; type: string; items: GoType }
  | { kind: 'list'; type: string; items: GoType }
  | GoStruct

export interface GoStruct {
  kind: 'struct'
  /** With its package, as in `of type v1.OwnerReference`. */
  type: string
  /** As in `Go struct field OwnerReference.uid`, where it is not the type without its package. */
  name?: string
  fields: Readonly<Record<string, GoType>>
}

interface Findings {
  /** The first wrong type; Go reads on after it, so that a bad time later on is reported instead. */
  error?: GoDecodeError
  unknown: string[]
  /** What is malformed is left out instead. */
  lenient?: boolean
  floats: Floats
}

/** Where a value stands: the struct's name and the fields down to it, without indexes and map keys. */
interface Place {
  struct: string
  fields: readonly string[]
  path: string
}

function mismatch(value: JsonValue, type: string, { struct, fields }: Place, what = jsonType(value)): GoDecodeError {
  const place = fields.length > 0 ? `Go struct field ${struct}.${fields.join('.')}` : 'Go value'
  return new GoDecodeError(`json: cannot unmarshal ${what} into ${place} of type ${type}`)
}

/** Go's text of a float64 that is no int64. */
const goNumber = (value: number | bigint): string => String(value)

function decodeNumber(value: number | bigint, type: GoType, place: Place, findings: Findings): JsonValue | undefined {
  if (type.kind !== 'int64') return wrong(value, type, place, findings)
  const literal = findings.floats.get(place.path)
  const integer = literal === undefined && (typeof value === 'bigint' || Number.isSafeInteger(value))
  if (!integer || BigInt.asIntN(64, BigInt(value)) !== BigInt(value)) {
    if (!findings.lenient) findings.error ??= mismatch(value, type.type, place, `number ${literal ?? goNumber(value)}`)
    return undefined
  }
  return value === 0 && !type.keepZero && !type.pointer ? undefined : value
}

function decodeText(value: string, type: GoType, place: Place, findings: Findings): JsonValue | undefined {
  if (type.kind === 'time') return findings.lenient && !parseTime(value) ? undefined : normaliseTime(value)
  if (type.kind !== 'string') return wrong(value, type, place, findings)
  return value === '' && !type.keepZero && !type.pointer ? undefined : value
}

function wrong(value: JsonValue, type: GoType, place: Place, findings: Findings): undefined {
  if (findings.lenient) return undefined
  const error = mismatch(value, type.type, place)
  // A time decodes itself, and what a type's own decoder says ends the decoding.
  if (type.kind === 'time') throw error
  findings.error ??= error
  return undefined
}

/** What Go leaves in a place that was given null: nothing, or the zero of a list item and a map value. */
function zero(type: GoType): JsonValue | undefined {
  if (type.kind === 'struct')
    return decodeStruct({}, type, { struct: '', fields: [], path: '' }, { unknown: [], floats: NO_FLOATS })
  return type.kind === 'string' && type.keepZero ? '' : undefined
}

function decodeStruct(object: JsonObject, struct: GoStruct, place: Place, findings: Findings): JsonObject {
  const name = struct.name ?? struct.type.replace(/^v1\./, '')
  const members = new Map<string, JsonValue>()
  for (const [field, value] of sortedEntries(object)) {
    const path = child(place.path, field)
    const type = own(struct.fields, field)
    if (!type) {
      if (findings.unknown.length < MAX_FINDINGS) findings.unknown.push(path)
      continue
    }
    const decoded =
      value === null
        ? undefined
        : decode(value, type, { struct: name, fields: [...place.fields, field], path }, findings)
    if (decoded !== undefined) members.set(field, decoded)
  }
  // In the order of the struct, with the empty text of what it always writes.
  const result = Object.entries(struct.fields).flatMap(([field, type]): [string, JsonValue][] => {
    const value = members.get(field) ?? (type.kind === 'string' ? zero(type) : undefined)
    return value === undefined ? [] : [[field, value]]
  })
  return Object.fromEntries(result)
}

function decodeList(items: JsonValue[], type: GoType, place: Place, findings: Findings): JsonValue[] | undefined {
  const decoded = items.map((item, index) => {
    const at = { ...place, path: `${place.path}[${index}]` }
    return (item === null ? undefined : decode(item, type, at, findings)) ?? zero(type) ?? null
  })
  return decoded.length === 0 ? undefined : decoded
}

function decodeMap(object: JsonObject, type: GoType, place: Place, findings: Findings): JsonObject | undefined {
  const members = sortedEntries(object).map(([key, value]): [string, JsonValue] => {
    const decoded = value === null ? undefined : decode(value, type, place, findings)
    return [key, decoded ?? zero(type) ?? null]
  })
  return members.length === 0 ? undefined : Object.fromEntries(members)
}

/** undefined for what is left out, and for what was wrong (`findings` has it then). */
function decode(value: JsonValue, type: GoType, place: Place, findings: Findings): JsonValue | undefined {
  if (type.kind === 'raw') return deepCopy(value)
  if (typeof value === 'number' || typeof value === 'bigint') return decodeNumber(value, type, place, findings)
  if (typeof value === 'string') return decodeText(value, type, place, findings)
  if (typeof value === 'boolean' && type.kind === 'bool') return value
  if (Array.isArray(value) && type.kind === 'list') return decodeList(value, type.items, place, findings)
  if (isObject(value) && type.kind === 'map') return decodeMap(value, type.items, place, findings)
  if (isObject(value) && type.kind === 'struct') return decodeStruct(value, type, place, findings)
  return wrong(value, type, place, findings)
}

/** `unknown` are paths (`metadata.ownerReferences[0].foo`), at most 100. */
export interface GoDecoded {
  value: JsonObject
  unknown: string[]
}

/**
 * Reads a value into a struct that stands at `path`; null is an empty one. Shares nothing with its input. Throws
 * GoDecodeError with Go's text; `lenient` leaves out what is malformed; `floats` are no integers for Go.
 */
export function decodeGoStruct(
  value: JsonValue,
  struct: GoStruct,
  { path = '', lenient = false, floats = NO_FLOATS }: { path?: string; lenient?: boolean; floats?: Floats } = {},
): GoDecoded {
  const findings: Findings = { unknown: [], lenient, floats }
  try {
    const decoded = decode(value ?? {}, struct, { struct: '', fields: [], path }, findings)
    if (findings.error) throw findings.error
    return { value: isObject(decoded) ? decoded : {}, unknown: findings.unknown }
  } catch (error) {
    throw error instanceof TimeParseError ? new GoDecodeError(error.message) : error
  }
}
