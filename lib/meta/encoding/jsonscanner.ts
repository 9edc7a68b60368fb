/**
 * One pass over a JSON text before it is parsed: its grammar with the error texts of Go, nesting, duplicate members.
 * JSON.parse can report none of these, and its own messages quote the text, which may hold a secret.
 * Source: encoding/json (scanner.go), sigs.k8s.io/json (duplicate fields).
 */

import { type Floats, floatLiteral, MAX_FLOATS } from './floats.ts'

/** A text that cannot be decoded. The message quotes at most one character of it. */
export class DecodeError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'DecodeError'
  }
}

/** Nesting that no object of the API comes near and that every recursive walk can bear; Go stops at 10,000. */
export const MAX_DEPTH = 500

/**
 * Values in one text, each object, list and scalar: ten times what an object of the API has, twice what 10,000 operations
 * of a patch need. Size alone bounds no work: three megabytes of `0,` are a million values to judge.
 */
export const MAX_VALUES = 100_000

/** As many members that stand twice, and as many unknown ones, as sigs.k8s.io/json reports. */
export const MAX_FINDINGS = 100

/** What is said of a text with more of them, in JSON and in YAML. */
export const TOO_MANY_VALUES = 'exceeded max number of values'

/** The longest path that is told of, in characters. */
const MAX_PATH = 4096

const INSIDE_TOKEN = /escape|numeric|literal [a-z]/

/** A member's name as messages show it: at most 256 characters. */
export const shortName = (name: string): string => (name.length > 256 ? `${name.slice(0, 256)}...` : name)

export interface JsonScan {
  duplicates: string[]
  /** Numbers or strings stand in the text that need more than a plain JSON.parse. */
  unusual: boolean
  /** Whole numbers in floating point, at most 1,000. */
  floats: Floats
}

/** Throws DecodeError unless `text` is one JSON value, not too deep or of too many, and without a member `__proto__`. */
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
    // Go ends a text with a blank, so that a number or word cut short meets that blank.
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
      if (literal !== undefined) floats.set(pathText(path), literal)
    }
    if (!exponent && at - start < 16) return
    const size = Number(text.slice(start, at))
    // JSON.parse would make an Infinity of it, which has no JSON text.
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

  /** Steps over a string whose opening quote is at `at`. True when it holds an escape. */
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
      else throw unexpected('in string literal') // NaN, beyond the end, is no character either
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
        duplicates.add(pathText(path))
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

function pathText(path: readonly (string | number)[]): string {
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

/** Go scans bytes: of a character beyond ASCII its first UTF-8 byte is shown, as the Latin-1 character of that number. */
function quotedCharacter(code: number): string {
  if (code < 32 || code === 127 || ESCAPES[code] !== undefined) {
    return `'${ESCAPES[code] ?? `\\x${code.toString(16).padStart(2, '0')}`}'`
  }
  return `'${String.fromCharCode(Buffer.from(String.fromCodePoint(code))[0] ?? 0)}'`
}
