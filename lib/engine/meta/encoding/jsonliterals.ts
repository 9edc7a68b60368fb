/**
 * Converts JSON values to literals, which JSON patches compare: the source text replaces each scalar except null (`5.0`
 * differs from `5`, and `"\u0061"` from `"a"`).
 * Source: gopkg.in/evanphx/json-patch.v4 (lazyNode), which keeps the values of a patch as text.
 */

import type { JsonValue } from '../types.ts'
import { child, isObject } from '../value/walk.ts'
import { type Floats, floatLiteral, MAX_FLOATS } from './floats.ts'
import { encodeGoJson } from './gotext.ts'
import { toNumber } from './json.ts'

const replaced = (value: JsonValue, leaf: (scalar: JsonValue) => JsonValue): JsonValue => {
  if (Array.isArray(value)) return value.map((item) => replaced(item, leaf))
  if (!isObject(value)) return value === null ? null : leaf(value)
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, replaced(one, leaf)]))
}

/** Returns the literals of a value as Go encodes them. */
export const literalsOf = (value: JsonValue): JsonValue => replaced(value, encodeGoJson)

/** Returns the literals of a JSON text that has been scanned. */
export const parseLiterals = (text: string): JsonValue =>
  JSON.parse(text, (_: string, value: unknown, context?: { source?: string }) =>
    value !== null && typeof value !== 'object' ? context?.source : value,
  )

/** Returns the values of literals, and the whole numbers among them that are written as floating point. */
export function valuesOf(literals: JsonValue): { value: JsonValue; floats: Floats } {
  const floats = new Map<string, string>()
  const read = (one: JsonValue, path: string): JsonValue => {
    if (Array.isArray(one)) return one.map((item, index) => read(item, `${path}[${index}]`))
    if (isObject(one)) {
      const members = Object.entries(one).map(([name, inner]): [string, JsonValue] => {
        const member = name.toWellFormed()
        return [member, read(inner, child(path, member))]
      })
      return Object.fromEntries(members)
    }
    return typeof one === 'string' ? scalar(one, path) : null
  }
  const scalar = (literal: string, path: string): JsonValue => {
    if (literal.startsWith('"')) return (JSON.parse(literal) as string).toWellFormed()
    if (literal === 'true' || literal === 'false') return literal === 'true'
    if (floats.size < MAX_FLOATS && floatLiteral(literal) !== undefined) floats.set(path, literal)
    return toNumber(literal)
  }
  const value = read(literals, '')
  return { value, floats }
}
