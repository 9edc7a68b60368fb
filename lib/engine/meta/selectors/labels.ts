/**
 * Parses label selectors: `env in (dev, test), tier!=db, !legacy, weight>5`.
 * Source: k8s.io/apimachinery/pkg/labels (grammar and messages); labelmatcher.ts matches labels.
 */

import { parseSigned } from '../encoding/strconv.ts'
import { aggregate, type FieldError, invalid } from '../errors/fielderror.ts'
import { badRequest } from '../errors/status.ts'
import { labelValueErrors, qualifiedNameErrors } from '../object/names.ts'

export type LabelOperator = '=' | '==' | '!=' | 'in' | 'notin' | '>' | '<' | 'exists' | '!'

export interface LabelRequirement {
  key: string
  operator: LabelOperator
  /** Sorted and unique: none for `exists` and `!`, any number for `in` and `notin`, otherwise one. */
  values: readonly string[]
}

/** Matches if all requirements match; an empty selector matches everything. */
export type LabelSelector = readonly LabelRequirement[]

/** Parses a label selector. Throws 400 with apimachinery's message. */
export function parseLabelSelector(text: string): LabelSelector {
  const parser: Parser = { tokens: tokenize(text), at: 0 }
  const selector: LabelRequirement[] = []
  if (peek(parser).kind === 'end') return selector
  for (;;) {
    const { kind, text: found } = peek(parser)
    if (!startsRequirement(kind)) {
      throw badRequest(
        selector.length === 0
          ? `found '${found}', expected: !, identifier, or 'end of string'`
          : `found '${found}', expected: identifier after ','`,
      )
    }
    selector.push(requirement(parser))
    const next = take(parser)
    if (next.kind === 'end') return selector
    if (next.kind !== ',') throw badRequest(`found '${next.text}', expected: ',' or 'end of string'`)
  }
}

/** A `word` is a key or value; so are `in` and `notin` where the grammar allows no operator. */
interface LexicalToken {
  kind: 'word' | 'in' | 'notin' | 'end' | '=' | '==' | '!=' | '!' | '(' | ')' | ',' | '<' | '>'
  text: string
}

interface Parser {
  tokens: LexicalToken[]
  at: number
}

const END: LexicalToken = { kind: 'end', text: '' }

/**
 * Splits the text into tokens. Words end at whitespace and at operators; the parser validates them later. A NUL, which Go's
 * lexer treats as the end of input, ends a word or an operator, otherwise the text.
 */
function tokenize(text: string): LexicalToken[] {
  const tokens: LexicalToken[] = []
  for (const [whole] of text.matchAll(/(?:[!=]=|[=!(),<>]|[^=!(),<> \t\r\n\0]+)\0?|\0/g)) {
    const found = whole.endsWith('\0') ? whole.slice(0, -1) : whole
    if (found === '') break
    const kind = /^(?:[!=]=|[=!(),<>]|in|notin)$/.test(found) ? (found as LexicalToken['kind']) : 'word'
    tokens.push({ kind, text: found })
  }
  return tokens
}

const peek = ({ tokens, at }: Parser): LexicalToken => tokens[at] ?? END

function take(parser: Parser): LexicalToken {
  const token = peek(parser)
  parser.at++
  return token
}

const isWord = (kind: LexicalToken['kind']): boolean => kind === 'word' || kind === 'in' || kind === 'notin'

const startsRequirement = (kind: LexicalToken['kind']): boolean => isWord(kind) || kind === '!'

const unable = (why: string) => badRequest(`unable to parse requirement: ${why}`)

function requirement(parser: Parser): LabelRequirement {
  const absent = peek(parser).kind === '!'
  if (absent) take(parser)
  const { kind, text: key } = take(parser)
  if (!isWord(kind)) throw unable(`found '${key}', expected: identifier`)
  const problems = qualifiedNameErrors(key)
  // apimachinery leaves the field of this error unnamed too.
  if (problems.length > 0) throw unable(aggregate([invalid('<nil>', key, problems.join('; '))]))
  if (absent) return { key, operator: '!', values: [] }
  const next = peek(parser).kind
  if (next === 'end' || next === ',') return { key, operator: 'exists', values: [] }
  const operator = binaryOperator(take(parser))
  const values = operator === 'in' || operator === 'notin' ? valueSet(parser) : [exactValue(parser)]
  const errors = values.flatMap((value, index) => valueErrors(operator, key, value, index))
  if (errors.length > 0) throw unable(aggregate(errors))
  return { key, operator, values }
}

function binaryOperator({ kind, text }: LexicalToken): LabelOperator {
  const operator = BINARY.find((one) => one === kind)
  if (operator === undefined) throw unable(`found '${text}', expected: in, notin, =, ==, !=, gt, lt`)
  return operator
}

const BINARY = ['in', 'notin', '=', '==', '!=', '<', '>'] as const

function exactValue(parser: Parser): string {
  const next = peek(parser)
  if (next.kind === 'end' || next.kind === ',') return ''
  if (!isWord(take(parser).kind)) throw unable(`found '${next.text}', expected: identifier`)
  return next.text
}

/** Parses `(a, b)`; an omitted value between commas is ''. */
function valueSet(parser: Parser): string[] {
  const open = take(parser)
  if (open.kind !== '(') throw unable(`found '${open.text}' expected: '('`)
  const values = new Set<string>()
  const first = peek(parser)
  if (first.kind === ')') {
    take(parser)
    return ['']
  }
  if (!isWord(first.kind) && first.kind !== ',') {
    throw unable(`found '${first.text}', expected: ',', ')' or identifier`)
  }
  for (;;) {
    const { kind, text } = take(parser)
    if (isWord(kind)) {
      values.add(text)
      const next = peek(parser)
      if (next.kind === ')') break
      if (next.kind !== ',') throw unable(`found '${next.text}', expected: ',' or ')'`)
    } else if (kind === ',') {
      if (values.size === 0) values.add('')
      const next = peek(parser).kind
      if (next === ')' || next === ',') values.add('')
      if (next === ')') break
      if (next === ',') take(parser)
    } else throw unable(`found '${text}', expected: ',', or identifier`)
  }
  take(parser)
  return [...values].sort()
}

function valueErrors(operator: LabelOperator, key: string, value: string, index: number): FieldError[] {
  const number = operator === '>' || operator === '<'
  const why = number && parseInt64(value) === undefined ? "for 'Gt', 'Lt' operators, the value must be an integer" : ''
  const problems = labelValueErrors(value)
  return [
    ...(why ? [invalid(`values[${index}]`, value, why)] : []),
    ...(problems.length > 0 ? [invalid(`values[${index}][${key}]`, value, problems.join('; '))] : []),
  ]
}

/** Parses an integer like strconv.ParseInt(text, 10, 64). */
export function parseInt64(text = ''): bigint | undefined {
  const value = parseSigned(text)
  return typeof value === 'bigint' ? value : undefined
}
