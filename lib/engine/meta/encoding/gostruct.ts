/**
 * Decodes JSON as Go decodes it into a struct: the same messages for wrong types, no empty members, normalized times, and
 * a list of unknown members.
 * Source: encoding/json, sigs.k8s.io/json.
 */

import type { JsonObject, JsonValue } from '../types.ts'
import { child, isObject, own, sortedEntries } from '../value/walk.ts'
import { type Floats, NO_FLOATS } from './floats.ts'
import { goJsonType } from './gotext.ts'
import { MAX_FINDINGS } from './jsonscanner.ts'
import { fitsInt64 } from './strconv.ts'
import { normalizeTime, parseTime, TimeParseError } from './time.ts'

/** Thrown for a value of a wrong type, with Go's message, which quotes no values except numbers. */
export class GoDecodeError extends Error {
  override readonly name = 'GoDecodeError'
}

/** Describes how a Go type decodes JSON. `type` is its name in messages. Omits empty values, like `omitempty`. */
export type GoType =
  /** `keepZero` encodes the value even if empty or absent; `pointer` encodes it if it was sent. */
  | { kind: 'string' | 'int64' | 'bool'; type: string; keepZero?: true; pointer?: true }
  | { kind: 'time' | 'raw'; type: string }
  | { kind: 'map'; type: string; items: GoType }
  | { kind: 'list'; type: string; items: GoType }
  | GoStruct

export interface GoStruct {
  kind: 'struct'
  /** The name with its package, as in `of type v1.OwnerReference`. */
  type: string
  /** The name as in `Go struct field OwnerReference.uid`, if it is not `type` without its package. */
  name?: string
  fields: Readonly<Record<string, GoType>>
}

interface Findings {
  /** The first wrong type. Go continues after it, so an invalid time later in the text takes precedence. */
  error?: GoDecodeError
  unknown: string[]
  /** Omits malformed values instead of throwing. */
  lenient?: boolean
  floats: Floats
}

/** The location of a value: the struct's name and the path of fields, without indexes and map keys. */
interface DecodePlace {
  struct: string
  fields: readonly string[]
  path: string
}

function mismatch(
  value: JsonValue,
  type: string,
  { struct, fields }: DecodePlace,
  what = goJsonType(value),
): GoDecodeError {
  const place = fields.length > 0 ? `Go struct field ${struct}.${fields.join('.')}` : 'Go value'
  return new GoDecodeError(`json: cannot unmarshal ${what} into ${place} of type ${type}`)
}

function decodeNumber(
  value: number | bigint,
  type: GoType,
  place: DecodePlace,
  findings: Findings,
): JsonValue | undefined {
  if (type.kind !== 'int64') return reportWrongType(value, type, place, findings)
  const literal = findings.floats.get(place.path)
  const integer = literal === undefined && (typeof value === 'bigint' || Number.isSafeInteger(value))
  if (!integer || !fitsInt64(BigInt(value))) {
    if (!findings.lenient) findings.error ??= mismatch(value, type.type, place, `number ${literal ?? value}`)
    return undefined
  }
  return value === 0 && !type.keepZero && !type.pointer ? undefined : value
}

function decodeText(value: string, type: GoType, place: DecodePlace, findings: Findings): JsonValue | undefined {
  if (type.kind === 'time') return findings.lenient && !parseTime(value) ? undefined : normalizeTime(value)
  if (type.kind !== 'string') return reportWrongType(value, type, place, findings)
  return value === '' && !type.keepZero && !type.pointer ? undefined : value
}

function reportWrongType(value: JsonValue, type: GoType, place: DecodePlace, findings: Findings): undefined {
  if (findings.lenient) return undefined
  const error = mismatch(value, type.type, place)
  // A time has its own decoder, whose errors end the decoding.
  if (type.kind === 'time') throw error
  findings.error ??= error
  return undefined
}

/** Returns Go's value for null: undefined, or the zero value of a list item or map value. */
function zero(type: GoType): JsonValue | undefined {
  if (type.kind === 'struct')
    return decodeStruct({}, type, { struct: '', fields: [], path: '' }, { unknown: [], floats: NO_FLOATS })
  return type.kind === 'string' && type.keepZero ? '' : undefined
}

function decodeStruct(object: JsonObject, struct: GoStruct, place: DecodePlace, findings: Findings): JsonObject {
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
  // Use the order of the struct, and add '' for absent members that it always encodes.
  const result = Object.entries(struct.fields).flatMap(([field, type]): [string, JsonValue][] => {
    const value = members.get(field) ?? (type.kind === 'string' ? zero(type) : undefined)
    return value === undefined ? [] : [[field, value]]
  })
  return Object.fromEntries(result)
}

function decodeList(items: JsonValue[], type: GoType, place: DecodePlace, findings: Findings): JsonValue[] | undefined {
  const decoded = items.map((item, index) => {
    const at = { ...place, path: `${place.path}[${index}]` }
    return (item === null ? undefined : decode(item, type, at, findings)) ?? zero(type) ?? null
  })
  return decoded.length === 0 ? undefined : decoded
}

function decodeMap(object: JsonObject, type: GoType, place: DecodePlace, findings: Findings): JsonObject | undefined {
  const members = sortedEntries(object).map(([key, value]): [string, JsonValue] => {
    const decoded = value === null ? undefined : decode(value, type, place, findings)
    return [key, decoded ?? zero(type) ?? null]
  })
  return members.length === 0 ? undefined : Object.fromEntries(members)
}

/** Returns undefined for an omitted value and for an invalid one, which it records in `findings`. */
function decode(value: JsonValue, type: GoType, place: DecodePlace, findings: Findings): JsonValue | undefined {
  if (type.kind === 'raw') return structuredClone(value)
  if (typeof value === 'number' || typeof value === 'bigint') return decodeNumber(value, type, place, findings)
  if (typeof value === 'string') return decodeText(value, type, place, findings)
  if (typeof value === 'boolean' && type.kind === 'bool') return value
  if (Array.isArray(value) && type.kind === 'list') return decodeList(value, type.items, place, findings)
  if (isObject(value) && type.kind === 'map') return decodeMap(value, type.items, place, findings)
  if (isObject(value) && type.kind === 'struct') return decodeStruct(value, type, place, findings)
  return reportWrongType(value, type, place, findings)
}

/**
 * Decodes the value at `path` into a struct; null becomes an empty one. The result shares nothing with the input. Throws
 * GoDecodeError with Go's message. With `lenient`, omits malformed values instead. `floats` are not integers for Go. `unknown`
 * contains at most 100 paths (`metadata.ownerReferences[0].foo`).
 */
export function decodeGoStruct(
  value: JsonValue,
  struct: GoStruct,
  { path = '', lenient = false, floats = NO_FLOATS }: { path?: string; lenient?: boolean; floats?: Floats } = {},
): { value: JsonObject; unknown: string[] } {
  const findings: Findings = { unknown: [], lenient, floats }
  try {
    const decoded = decode(value ?? {}, struct, { struct: '', fields: [], path }, findings)
    if (findings.error) throw findings.error
    return { value: isObject(decoded) ? decoded : {}, unknown: findings.unknown }
  } catch (error) {
    throw error instanceof TimeParseError ? new GoDecodeError(error.message) : error
  }
}
