/**
 * Writes JSON values as YAML in block style. Strings are quoted unless every reader takes them for the same string, and no text
 * of others can add a line: line breaks, control characters and invisible characters are escapes.
 */
import { UNSEEN } from './visible.ts'

export type Json = string | number | boolean | null | readonly Json[] | { readonly [member: string]: Json | undefined }

/** Returns a JSON value as YAML with a line break at its end. Members that are undefined are left out. */
export const toYaml = (value: Json | object): string => `${lines(value as Json).join('\n')}\n`

function lines(value: Json): string[] {
  if (typeof value !== 'object' || value === null) return [scalar(value)]
  if (isList(value)) {
    if (value.length === 0) return ['[]']
    return value.flatMap((one) => indented(lines(one)).map((line, at) => (at === 0 ? `- ${line.slice(2)}` : line)))
  }
  const members = Object.entries(value).filter((entry): entry is [string, Json] => entry[1] !== undefined)
  return members.length === 0 ? ['{}'] : members.flatMap(member)
}

/** The longest key that readers accept before a colon is 1024 bytes. Longer ones stand alone after a question mark. */
const LONGEST_KEY = 128

function member([name, value]: [string, Json]): string[] {
  const key = scalar(name)
  const head = key.length > LONGEST_KEY ? [`? ${key}`, ':'] : [`${key}:`]
  const body = lines(value)
  if (isBlock(value)) return [...head, ...indented(body)]
  return [...head.slice(0, -1), `${head.at(-1)} ${body[0]}`]
}

const isList = (value: object): value is readonly Json[] => Array.isArray(value)

/** Reports whether the value takes lines of its own below its key. */
const isBlock = (value: Json): boolean =>
  typeof value === 'object' && value !== null && Object.values(value).some((one) => one !== undefined)

const indented = (block: readonly string[]): string[] => block.map((line) => `  ${line}`)

const scalar = (value: string | number | boolean | null): string =>
  typeof value === 'string' ? text(value) : String(value)

/** A text that begins with a letter and has nothing that means something in YAML. */
const PLAIN = /^[A-Za-z/](?:[\w./@+-]|:(?=[\w/])| (?=[\w/@(]))*$/
/** The words that some version of YAML reads as something else than a text. */
const WORD = /^(?:y|n|yes|no|on|off|true|false|null)$/i
const EVERY_UNSEEN = new RegExp(UNSEEN, 'gu')

const text = (value: string): string =>
  PLAIN.test(value) && !WORD.test(value) ? value : JSON.stringify(value.toWellFormed()).replace(EVERY_UNSEEN, escaped)

function escaped(one: string): string {
  const code = (one.codePointAt(0) ?? 0).toString(16)
  return code.length > 4 ? `\\U${code.padStart(8, '0')}` : `\\u${code.padStart(4, '0')}`
}
