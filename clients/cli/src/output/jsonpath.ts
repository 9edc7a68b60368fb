/** Reads values of an object with the templates of kubectl's `-o jsonpath=`, as far as scripts use them. */
import type { JsonValue } from '../../../../lib/engine/meta/types.ts'
import { UsageError } from '../io/errors.ts'

type Part =
  | { kind: 'text'; text: string }
  | { kind: 'values'; path: Step[] }
  | { kind: 'range'; path: Step[]; parts: Part[] }

/** A member, an index, or all items. */
type Step = string | number | '*'

/** Returns what the template says of the value. Throws a UsageError for a template that is not understood. */
export function jsonpath(template: string, value: JsonValue): string {
  // A path alone is one of a template.
  const tokens = tokensOf(/[{]/.test(template) ? template : `{${template}}`)
  const parts = partsIn(tokens, template)
  if (tokens.length > 0) throw unknown(template, 'there is an {end} without {range}')
  return textOf(parts, value)
}

const unknown = (template: string, why: string): UsageError =>
  new UsageError(
    `-o jsonpath=${template} is not understood: ${why}.`,
    'Templates have {.member.member}, {.items[*].member}, {.items[0]}, {.labels["a/b"]}, {"text"} and {range .items[*]}…{end}.',
  )

/** Splits a template into texts and what is in braces, which begins with a brace. */
const tokensOf = (template: string): string[] => template.match(/\{(?:"(?:[^"\\]|\\.)*"|[^}"])*\}?|[^{]+/g) ?? []

function partsIn(tokens: string[], template: string, isRange = false): Part[] {
  const parts: Part[] = []
  for (;;) {
    const token = tokens.shift()
    if (token === undefined) {
      if (isRange) throw unknown(template, 'a {range} has no {end}')
      return parts
    }
    if (!token.startsWith('{')) {
      parts.push({ kind: 'text', text: token })
      continue
    }
    if (!token.endsWith('}')) throw unknown(template, 'a brace is not closed')
    const inside = token.slice(1, -1).trim()
    const range = /^range\s+(.*)$/.exec(inside)?.[1]
    if (inside === 'end') {
      if (isRange) return parts
      tokens.unshift(token)
      return parts
    }
    if (range !== undefined)
      parts.push({ kind: 'range', path: stepsOf(range, template), parts: partsIn(tokens, template, true) })
    else if (inside.startsWith('"')) parts.push({ kind: 'text', text: literal(inside, template) })
    else parts.push({ kind: 'values', path: stepsOf(inside, template) })
  }
}

function literal(text: string, template: string): string {
  try {
    return String(JSON.parse(text))
  } catch {
    throw unknown(template, `${text} is no text`)
  }
}

const STEP = /^(?:\.([\w-]+)|\[(?:(\*)|(-?\d{1,6})|'([^']*)'|"([^"]*)")\])/

function stepsOf(path: string, template: string): Step[] {
  const steps: Step[] = []
  let rest = path.replace(/^[$@]/, '')
  if (rest === '.') return steps
  if (!/^[.[]/.test(rest)) rest = `.${rest}`
  while (rest !== '') {
    const [all, member, every, index, ...quoted] = STEP.exec(rest) ?? []
    if (all === undefined) throw unknown(template, `"${rest}" is not a path`)
    if (index !== undefined) steps.push(Number(index))
    else steps.push(every ?? member ?? quoted.find((one) => one !== undefined) ?? '')
    rest = rest.slice(all.length)
  }
  return steps
}

function valuesAt(steps: readonly Step[], value: JsonValue): JsonValue[] {
  return steps.reduce<JsonValue[]>((found, step) => found.flatMap((one) => next(one, step)), [value])
}

function next(value: JsonValue, step: Step): JsonValue[] {
  if (typeof value !== 'object' || value === null) return []
  if (step === '*') return Object.values(value)
  if (Array.isArray(value)) return typeof step === 'number' ? value.slice(step, step + 1 || undefined) : []
  const name = String(step)
  return Object.hasOwn(value, name) ? [value[name] ?? null] : []
}

const textOf = (parts: readonly Part[], value: JsonValue): string =>
  parts
    .map((part) => {
      if (part.kind === 'text') return part.text
      const values = valuesAt(part.path, value)
      if (part.kind === 'range') return values.map((one) => textOf(part.parts, one)).join('')
      return values.map((one) => (typeof one === 'string' ? one : JSON.stringify(one))).join(' ')
    })
    .join('')
