/**
 * Resolves YAML scalars as Go does: by the rules of YAML 1.1 with the exceptions of sigs.k8s.io/yaml. `yes` is true and
 * `010` is 8, but `1:30` and dates are strings. No schema of js-yaml follows these rules.
 * Source: go.yaml.in/yaml/v2 (resolve.go), and encoding/json, which processes the value afterwards.
 */

import type { JsonValue } from '../types.ts'
import { toNumber } from './json.ts'
import { DecodeError } from './jsonscanner.ts'
import { fitsInt64 } from './strconv.ts'

const CORE = 'tag:yaml.org,2002:'

/** Adds the capitalized and the upper-case form of each word. */
const anyCase = <V>(value: V, ...words: string[]): [string, V][] =>
  words.flatMap((word) =>
    [word, word.charAt(0).toUpperCase() + word.slice(1), word.toUpperCase()].map((one) => [one, value] as [string, V]),
  )

const WORDS: ReadonlyMap<string, boolean | null> = new Map<string, boolean | null>([
  ...anyCase(true, 'y', 'yes', 'true', 'on'),
  ...anyCase(false, 'n', 'no', 'false', 'off'),
  ...anyCase(null, 'null'),
  ['~', null],
  ['', null],
])

const NO_NUMBER = /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/
const INTEGER = /^([-+]?)(?:0([xX][0-9a-fA-F]+|[oO][0-7]+|[bB][01]+)|0([0-7]+)|(0|[1-9][0-9]*))$/
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/
const TIMESTAMP = /^\d{4}-\d\d?-\d\d?(?:$|[Tt ]\d)/

/** Limits the digits passed to BigInt: a 64-bit number never needs more in any base. */
const LONGEST = 70

type ScalarKind = 'str' | 'int' | 'float' | 'bool' | 'null'

/** Resolves a scalar. `plain` scalars have neither quotes nor block style. `tag` is the full name of the tag, or ''. */
export function scalarValue(text: string, plain: boolean, tag: string): JsonValue {
  if (tag === '') return plain ? resolve(text)[1] : text
  const wanted = tag.startsWith(CORE) ? tag.slice(CORE.length) : ''
  switch (wanted) {
    case 'binary':
      return binary(text)
    case 'timestamp':
      if (!TIMESTAMP.test(text)) throw new DecodeError('yaml: cannot decode !!str as a !!timestamp')
      return text
    case 'int':
    case 'float':
    case 'bool':
    case 'null': {
      const [kind, value] = resolve(text)
      if (kind === wanted || (kind === 'int' && wanted === 'float')) return value
      throw new DecodeError(`yaml: cannot decode !!${kind} as a !!${wanted}`)
    }
    default:
      return text
  }
}

function resolve(text: string): [ScalarKind, JsonValue] {
  const word = WORDS.get(text)
  if (word !== undefined) return [word === null ? 'null' : 'bool', word]
  if (!/^[-+.0-9]/.test(text)) return ['str', text]
  if (NO_NUMBER.test(text)) throw new DecodeError('json: unsupported value: infinity and NaN have no JSON text')
  const digits = text.replaceAll('_', '')
  const whole = integer(digits)
  if (whole !== undefined) return ['int', whole]
  return FLOAT.test(digits) && Number.isFinite(Number(digits)) ? ['float', toNumber(digits)] : ['str', text]
}

/** Returns the number that Go decodes from a plain scalar, or undefined. Returns NaN for infinity too. */
export function plainNumber(text: string): number | bigint | undefined {
  const value = NO_NUMBER.test(text) ? Number.NaN : resolve(text)[1]
  return typeof value === 'number' || typeof value === 'bigint' ? value : undefined
}

/** Matches numbers to the base of 60, and the marks of documents, which Go's writer quotes everywhere. */
const QUOTED = /^(?:[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?|---|\.\.\.)$/

/** Reports whether a plain scalar is a string for Go, but maybe a number or a date for others: readers of YAML 1.1, or of larger numbers. */
export function isForeign(text: string): boolean {
  const digits = text.replaceAll('_', '')
  return QUOTED.test(text) || TIMESTAMP.test(text) || INTEGER.test(digits) || FLOAT.test(digits)
}

/** Decodes an int64 or uint64; larger numbers become floating point. */
function integer(text: string): number | bigint | undefined {
  const [, sign, based, octal, decimal] = text.length <= LONGEST ? (INTEGER.exec(text) ?? []) : []
  const digits = based !== undefined ? `0${based.toLowerCase()}` : octal !== undefined ? `0o${octal}` : decimal
  if (digits === undefined) return undefined
  const size = BigInt(digits)
  const value = sign === '-' ? -size : size
  const fits = fitsInt64(value) || (sign === '' && BigInt.asUintN(64, value) === value)
  return fits ? toNumber(value.toString()) : undefined
}

/** Decodes base64 and replaces invalid UTF-8 with U+FFFD, like Go's JSON. */
function binary(text: string): string {
  const base64 = text.replace(/[\r\n]/g, '')
  if (base64.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) {
    throw new DecodeError('yaml: !!binary value contains invalid base64 data')
  }
  return Buffer.from(base64, 'base64').toString()
}

/** Converts a key to a member name, because Go's JSON allows only string keys. */
export function memberName(key: JsonValue): string {
  if (key === null) throw new DecodeError('unsupported map key of type: <nil>')
  if (typeof key === 'object') throw new DecodeError('yaml: invalid map key')
  const name = String(key)
  if (name === '__proto__') throw new DecodeError('yaml: a key must not be named __proto__')
  return name
}
