/**
 * JSON text of values, and values of JSON text, as Kubernetes' decoder reads them: every int64 exactly, duplicate
 * members found, `5.0` equal to `5`.
 * Source: sigs.k8s.io/json, k8s.io/apimachinery/pkg/util/json.
 */

import type { JsonObject, JsonValue } from '../types.ts'
import type { Floats } from './floats.ts'
import { MAX_VALUES, scanJson } from './jsonscanner.ts'

declare global {
  interface JSON {
    /** ECMAScript proposal JSON.parse source text access, in Node.js since 22. */
    rawJSON(text: string): unknown
  }
}

/** JSON text of a value; `bigint` as digits, undefined members left out. `indent` counts spaces. */
export function stringify(value: unknown, indent?: number): string {
  try {
    return JSON.stringify(value, undefined, indent)
  } catch {
    // Without a replacer JSON.stringify is several times faster, and throws on the first bigint.
    return JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? JSON.rawJSON(one.toString()) : one), indent)
  }
}

/** A parsed text. */
export interface ParsedJson {
  value: JsonValue
  /** Paths of the members that stand in it more than once (`spec.scope.roles[0].foo`), at most 100. */
  duplicates: string[]
  floats: Floats
}

/**
 * The value of a whole JSON text; of duplicate members the last one counts. Integers of int64 outside ±(2^53-1) are
 * bigint, whatever their notation; larger numbers are floating point, as in Go. Throws DecodeError, also for more than
 * `maxValues` values.
 */
export function parseJson(text: string, maxValues = MAX_VALUES): ParsedJson {
  const { duplicates, unusual, floats } = scanJson(text, maxValues)
  const value: JsonValue = unusual ? normalized(JSON.parse(text, exactNumber)) : JSON.parse(text)
  return { value, duplicates, floats }
}

function exactNumber(_: string, value: unknown, context?: { source?: string }): unknown {
  return typeof value === 'number' && context?.source !== undefined ? toNumber(context.source) : value
}

/** The number that a JSON number literal stands for; see `parseJson`. */
export function toNumber(literal: string): number | bigint {
  const value = Number(literal)
  if (Number.isSafeInteger(value) || !Number.isInteger(value)) return value === 0 ? 0 : value
  // From 20 digits on it is no int64: Go falls back to floating point, and BigInt never meets long input.
  if (Math.abs(value) > 1e19) return value
  const exact = BigInt(/^-?\d+$/.test(literal) ? literal : value.toString())
  return BigInt.asIntN(64, exact) === exact ? exact : value
}

/** Go's decoder puts U+FFFD in the place of each half of a surrogate pair; no store or signature ever sees one here. */
function normalized(value: JsonValue): JsonValue {
  if (typeof value === 'string') return value.toWellFormed()
  if (Array.isArray(value)) return value.map(normalized)
  if (typeof value !== 'object' || value === null) return value
  const result: JsonObject = {}
  for (const [member, one] of Object.entries(value)) result[member.toWellFormed()] = normalized(one)
  return result
}
