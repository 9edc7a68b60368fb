/**
 * Encodes and decodes JSON like Kubernetes' decoder: exact int64 values, detection of duplicate members, and `5.0` equal
 * to `5`.
 * Source: sigs.k8s.io/json, k8s.io/apimachinery/pkg/util/json.
 */

import type { JsonObject, JsonValue } from '../types.ts'
import type { Floats } from './floats.ts'
import { MAX_VALUES, scanJson } from './jsonscanner.ts'
import { fitsInt64 } from './strconv.ts'

declare global {
  interface JSON {
    /** ECMAScript proposal JSON.parse source text access, in Node.js since 22. */
    rawJSON(text: string): unknown
  }
}

/** Encodes a value as JSON: `bigint` as digits, without undefined members. `indent` is the number of spaces. */
export function stringify(value: unknown, indent?: number): string {
  try {
    return JSON.stringify(value, undefined, indent)
  } catch {
    // Without a replacer, JSON.stringify is several times faster; it throws on the first bigint.
    return JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? JSON.rawJSON(one.toString()) : one), indent)
  }
}

/** A decoded text. */
interface ParsedJson {
  value: JsonValue
  /** Paths of duplicate members (`spec.rules[0].foo`), at most 100. */
  duplicates: string[]
  floats: Floats
}

/**
 * Decodes a JSON text; the last of duplicate members wins. Int64 integers outside ±(2^53-1) become bigint in any notation;
 * larger numbers become floating point, as in Go. Throws DecodeError if the text is invalid or has more than `maxValues`
 * values.
 */
export function parseJson(text: string, maxValues = MAX_VALUES): ParsedJson {
  const { duplicates, unusual, floats } = scanJson(text, maxValues)
  const value: JsonValue = unusual ? normalize(JSON.parse(text, exactNumber)) : JSON.parse(text)
  return { value, duplicates, floats }
}

function exactNumber(_: string, value: unknown, context?: { source?: string }): unknown {
  return typeof value === 'number' && context?.source !== undefined ? toNumber(context.source) : value
}

/** Decodes a JSON number literal; see `parseJson`. */
export function toNumber(literal: string): number | bigint {
  const value = Number(literal)
  if (Number.isSafeInteger(value) || !Number.isInteger(value)) return value === 0 ? 0 : value
  // Numbers of 20 or more digits exceed int64, so Go uses floating point; this also keeps long inputs from BigInt.
  if (Math.abs(value) > 1e19) return value
  const exact = BigInt(/^-?\d+$/.test(literal) ? literal : value.toString())
  return fitsInt64(exact) ? exact : value
}

/** Replaces lone surrogates with U+FFFD, like Go's decoder, so that neither storage nor signatures ever see one. */
function normalize(value: JsonValue): JsonValue {
  if (typeof value === 'string') return value.toWellFormed()
  if (Array.isArray(value)) return value.map(normalize)
  if (typeof value !== 'object' || value === null) return value
  const result: JsonObject = {}
  for (const [member, one] of Object.entries(value)) result[member.toWellFormed()] = normalize(one)
  return result
}
