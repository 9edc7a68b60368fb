/**
 * Formats values as Go does. kube-apiserver's messages and keys contain such text, and clients compare it byte for byte.
 * Source: packages fmt, strconv and encoding/json.
 */

import type { JsonValue } from '../types.ts'
import { sortedEntries } from '../value/walk.ts'

const SHORT: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '"': '\\"',
  '\\': '\\\\',
}

/** Reports whether unicode.IsPrint is true: letters, marks, numbers, punctuation, symbols and the ASCII space. */
export const isPrintable = (character: string): boolean => /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u.test(character)

const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, '0')

function escapeCharacter(character: string): string {
  const short = SHORT[character]
  if (short !== undefined) return short
  const code = character.codePointAt(0) ?? 0
  if (code < 0x80) return `\\x${hex(code, 2)}`
  return code < 0x10000 ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`
}

const ESCAPED = /["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu

/** Formats a string with `%q`, in quotes. */
export const quote = (text: string): string => `"${text.toWellFormed().replace(ESCAPED, escapeCharacter)}"`

/**
 * Reports whether Go decodes the number as float64: it is not whole or exceeds int64. Whole int64 numbers outside ±(2^53-1)
 * are bigint.
 */
const isFloat = (value: number | bigint): value is number => typeof value === 'number' && !Number.isSafeInteger(value)

/** Formats a float64 with `%v`: `-1.2345675e+06`, with an exponent from 1e6 on and below 0.0001. */
export function floatText(value: number): string {
  const [digits = '', exponent = '0'] = value.toExponential().split('e')
  const power = Number(exponent)
  if (Object.is(value, -0)) return '-0'
  if (value === 0 || (power >= -4 && power < 6)) return String(value)
  return `${digits}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`
}

/** Formats a number with `%v`. */
export const numberText = (value: number | bigint): string => (isFloat(value) ? floatText(value) : String(value))

/** Returns the type of a JSON value in the messages of Go's decoder. */
export function goJsonType(value: JsonValue): string {
  if (Array.isArray(value)) return 'array'
  if (value === null) return 'null'
  if (typeof value === 'boolean') return 'bool'
  return typeof value === 'bigint' ? 'number' : typeof value
}

/** The target type in those messages for a JSON object without a struct. */
export const GO_MAP = 'Go value of type map[string]interface {}'

/** Formats a value with `%v`. */
export function formatV(value: JsonValue): string {
  if (value === null) return '<nil>'
  if (Array.isArray(value)) return `[${value.map(formatV).join(' ')}]`
  if (typeof value === 'object') {
    const inner = sortedEntries(value).map(([name, one]) => `${name}:${formatV(one)}`)
    return `map[${inner.join(' ')}]`
  }
  return typeof value === 'number' ? numberText(value) : String(value)
}

/** Formats a value with `%#v`. */
export function formatGoSyntax(value: JsonValue): string {
  if (value === null) return 'interface {}(nil)'
  if (Array.isArray(value)) return `[]interface {}{${value.map(formatGoSyntax).join(', ')}}`
  if (typeof value === 'object') {
    const inner = sortedEntries(value).map(([name, one]) => `${quote(name)}:${formatGoSyntax(one)}`)
    return `map[string]interface {}{${inner.join(', ')}}`
  }
  if (typeof value === 'number') return numberText(value)
  return typeof value === 'string' ? quote(value) : String(value)
}

/** Formats the type of a value with `%T`. */
export function typeName(value: JsonValue): string {
  if (value === null) return '<nil>'
  if (Array.isArray(value)) return '[]interface {}'
  if (typeof value === 'object') return 'map[string]interface {}'
  if (typeof value === 'number' || typeof value === 'bigint') return isFloat(value) ? 'float64' : 'int64'
  return goJsonType(value)
}

const HTML = /[<>&\u2028\u2029]/g

/** Escapes the characters of a JSON text that encoding/json escapes for HTML. */
export const escapeJson = (json: string): string => json.replace(HTML, (one) => `\\u${hex(one.charCodeAt(0), 4)}`)

const jsonText = (text: string): string => escapeJson(JSON.stringify(text.toWellFormed()))

/** Encodes a value like encoding/json: no spaces, sorted members, escaped `<`, `>`, `&`, U+2028 and U+2029. */
export function encodeGoJson(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(encodeGoJson).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    const inner = sortedEntries(value).map(([name, one]) => `${jsonText(name)}:${encodeGoJson(one)}`)
    return `{${inner.join(',')}}`
  }
  return typeof value === 'string' ? jsonText(value) : String(value)
}
