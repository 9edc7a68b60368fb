/**
 * Scans a JSON text before JSON.parse: checks the grammar with Go's messages, and finds deep nesting and duplicate members.
 * JSON.parse reports none of these, and its messages quote the text, which may contain a secret.
 * Source: encoding/json (scanner.go), sigs.k8s.io/json (duplicate fields).
 */

import { type Floats, floatLiteral, MAX_FLOATS } from './floats.ts'

/** Thrown for a text that cannot be decoded. The message quotes at most one character of it. */
export class DecodeError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'DecodeError'
  }
}

/** Limits nesting: far above any API object and safe for recursive functions. Go's limit is 10,000. */
export const MAX_DEPTH = 500

/**
 * Limits the objects, lists and scalars in one text: ten times those of an API object, twice those of a patch with 10,000
 * operations. A size limit alone is not enough: three megabytes of `0,` are a million values to validate.
 */
export const MAX_VALUES = 100_000

/** Limits the reported duplicate members and unknown members, as sigs.k8s.io/json does. */
export const MAX_FINDINGS = 100

/** The message for a JSON or YAML text with too many values. */
export const TOO_MANY_VALUES = 'exceeded max number of values'

/** Limits the length of reported paths, in characters. */
const MAX_PATH = 4096

const INSIDE_TOKEN = /escape|numeric|literal [a-z]/

/** Shortens a member's name for messages to 256 characters. */
export const shortName = (name: string): string => (name.length > 256 ? `${name.slice(0, 256)}...` : name)

interface JsonScan {
  duplicates: string[]
  /** True if the text contains numbers or strings that JSON.parse does not decode exactly. */
  unusual: boolean
  /** Whole numbers that the text writes as floating point, at most 1,000. */
  floats: Floats
}

/** Scans a text. Throws DecodeError unless it is one JSON value within the limits and has no member `__proto__`. */
export function scanJson(text: string, maxValues: number): JsonScan {
  const duplicates = new Set<string>()
  const path: (string | number)[] = []
  const floats = new Map<string, string>()
  let unusual = false
  let values = 0
  let at = 0

  const space = (): void => {
    for (let c = text.charCodeAt(at); c === 32 || c === 10 || c === 13 || c === 9; c = text.charCodeAt(++at));
  }

  const unexpected = (where: string): DecodeError => {
    // Go appends a space, so that errors in a truncated number or word name that space.
    if (at >= text.length && !INSIDE_TOKEN.test(where)) return new DecodeError('unexpected end of JSON input')
    return new DecodeError(`invalid character ${quotedCharacter(text.codePointAt(at) ?? 32)} ${where}`)
  }

  const literal = (word: string): void => {
    for (let i = 0; i < word.length; i++, at++) {
      if (text[at] !== word[i]) throw unexpected(`in literal ${word} (expecting '${word[i]}')`)
    }
  }

  const digits = (where: string): void => {
    const start = at
    for (let c = text.charCodeAt(at); c >= 48 && c <= 57; c = text.charCodeAt(++at));
    if (at === start) throw unexpected(where)
  }

  const number = (): void => {
    const start = at
    if (text[at] === '-') at++
    if (text[at] === '0') at++
    else digits('in numeric literal')
    const fraction = text[at] === '.'
    if (fraction) {
      at++
      digits('after decimal point in numeric literal')
    }
    const exponent = text[at] === 'e' || text[at] === 'E'
    if (exponent) {
      at++
      if (text[at] === '+' || text[at] === '-') at++
      digits('in exponent of numeric literal')
    }
    if (text[start] === '-' && text[start + 1] === '0') unusual = true // -0 is 0
    if ((exponent || fraction) && floats.size < MAX_FLOATS) {
      const literal = floatLiteral(text.slice(start, at))
      if (literal !== undefined) floats.set(formatPath(path), literal)
    }
    if (!exponent && at - start < 16) return
    const size = Number(text.slice(start, at))
    // JSON.parse would return Infinity, which JSON cannot represent.
    if (!Number.isFinite(size)) throw new DecodeError('json: cannot unmarshal number into Go value of type float64')
    if (Number.isInteger(size) && !Number.isSafeInteger(size)) unusual = true
  }

  const escapeSequence = (): void => {
    at++
    const kind = text[at]
    if (kind !== 'u') {
      if (kind === undefined || !'"\\/bfnrt'.includes(kind)) throw unexpected('in string escape code')
      at++
      return
    }
    at++
    if (text[at] === 'd' || text[at] === 'D') unusual = true // may be half of a surrogate pair
    for (let i = 0; i < 4; i++, at++) {
      if (!/^[0-9a-fA-F]$/.test(text.charAt(at))) throw unexpected('in \\u hexadecimal character escape')
    }
  }

  /** Skips the string whose opening quote is at `at`. Reports whether it contains an escape. */
  const string = (): boolean => {
    let escaped = false
    at++
    for (;;) {
      const c = text.charCodeAt(at)
      if (c === 34) break
      if (c === 92) {
        escaped = true
        escapeSequence()
      } else if (c >= 32) at++
      else throw unexpected('in string literal') // NaN, beyond the end, is not a character either
    }
    at++
    return escaped
  }

  const memberName = (): string => {
    if (text[at] !== '"') throw unexpected('looking for beginning of object key string')
    const start = at
    const escaped = string()
    const name: string = escaped ? JSON.parse(text.slice(start, at)).toWellFormed() : text.slice(start + 1, at - 1)
    if (name === '__proto__') throw new DecodeError('json: a member must not be named __proto__')
    return name
  }

  const object = (): void => {
    const names = new Set<string>()
    const again = new Set<string>()
    at++
    space()
    if (text[at] === '}') {
      at++
      return
    }
    for (;;) {
      const name = memberName()
      path.push(name)
      if (names.has(name) && !again.has(name) && duplicates.size < MAX_FINDINGS) {
        duplicates.add(formatPath(path))
        again.add(name)
      }
      names.add(name)
      space()
      if (text[at] !== ':') throw unexpected('after object key')
      at++
      value()
      path.pop()
      space()
      if (text[at] === '}') break
      if (text[at] !== ',') throw unexpected('after object key:value pair')
      at++
      space()
    }
    at++
  }

  const array = (): void => {
    at++
    space()
    if (text[at] === ']') {
      at++
      return
    }
    for (let index = 0; ; index++) {
      path.push(index)
      value()
      path.pop()
      space()
      if (text[at] === ']') break
      if (text[at] !== ',') throw unexpected('after array element')
      at++
    }
    at++
  }

  const value = (): void => {
    if (++values > maxValues) throw new DecodeError(TOO_MANY_VALUES)
    space()
    const c = text[at]
    if (c === '"') string()
    else if (c === '{' || c === '[') {
      if (path.length >= MAX_DEPTH) throw new DecodeError('exceeded max depth')
      if (c === '{') object()
      else array()
    } else if (c === 't') literal('true')
    else if (c === 'f') literal('false')
    else if (c === 'n') literal('null')
    else if (c === '-' || (c !== undefined && c >= '0' && c <= '9')) number()
    else throw unexpected('looking for beginning of value')
  }

  value()
  space()
  if (at < text.length) throw unexpected('after top-level value')
  return { duplicates: [...duplicates], unusual, floats }
}

function formatPath(path: readonly (string | number)[]): string {
  let shown = ''
  for (const one of path) {
    if (typeof one === 'number') shown += `[${one}]`
    else shown += `${shown && '.'}${shortName(one)}`
  }
  return shown.length > MAX_PATH ? `${shown.slice(0, MAX_PATH)}...` : shown
}

const ESCAPES: Readonly<Record<number, string>> = {
  7: '\\a',
  8: '\\b',
  9: '\\t',
  10: '\\n',
  11: '\\v',
  12: '\\f',
  13: '\\r',
  39: "\\'",
  92: '\\\\',
}

/** Quotes a character as Go does, which scans bytes: a non-ASCII character appears as its first UTF-8 byte, read as Latin-1. */
function quotedCharacter(code: number): string {
  if (code < 32 || code === 127 || ESCAPES[code] !== undefined) {
    return `'${ESCAPES[code] ?? `\\x${code.toString(16).padStart(2, '0')}`}'`
  }
  return `'${String.fromCharCode(Buffer.from(String.fromCodePoint(code))[0] ?? 0)}'`
}
