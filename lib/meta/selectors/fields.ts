/**
 * Field selectors: `metadata.name=a,spec.disabled!=true`; `\,` `\=` `\\` in values stand for those characters.
 * Source: k8s.io/apimachinery/pkg/fields; the refusal of unknown fields is a custom resource's.
 */

import { badRequest } from '../errors/status.ts'
import { byBytes } from '../value/byteorder.ts'

export interface FieldRequirement {
  field: string
  operator: '=' | '!='
  value: string
}

/** All must hold; none of them: everything matches. */
export type FieldSelector = readonly FieldRequirement[]

/** Whether an object is selected whose fields have these values; a field that it lacks is empty. */
export function matchesFields(selector: FieldSelector, value: (field: string) => string): boolean {
  return selector.every((one) => (value(one.field) === one.value) === (one.operator === '='))
}

/** The value that the selector demands of a field: what makes a list or watch one of a single object. */
export function requirement(selector: FieldSelector, field: string): string | undefined {
  return selector.find((one) => one.operator === '=' && one.field === field)?.value
}

/** Throws 400. */
export function parseFieldSelector(text: string): FieldSelector {
  return terms(text)
    .sort(byBytes) // so that of several mistakes Kubernetes names the same one
    .filter((term) => term !== '')
    .map((term) => parseTerm(text, term))
    .filter(({ field, value }) => field !== '' || value !== '')
}

/** Throws 400 for a field that is none of `supported`. */
export function checkFields(selector: FieldSelector, supported: readonly string[]): void {
  for (const { field } of selector) {
    if (!supported.includes(field)) throw badRequest(`field label not supported: ${field}`)
  }
}

/** Splits at commas without a backslash before them. */
const terms = (text: string): string[] => {
  const parts = ['']
  for (const [piece] of text.matchAll(/\\[\s\S]?|,|[^\\,]+/g)) {
    if (piece === ',') parts.push('')
    else parts[parts.length - 1] += piece
  }
  return parts
}

/** Nothing is escaped on the left, so the first operator is the one that counts. */
function parseTerm(text: string, term: string): FieldRequirement {
  const [all, field = '', operator, value = ''] = /^([\s\S]*?)(!=|==?)([\s\S]*)$/.exec(term) ?? []
  if (all === undefined) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`)
  return { field, operator: operator === '!=' ? '!=' : '=', value: unescaped(value) }
}

function unescaped(value: string): string {
  return value.replace(/\\([\s\S]?)|[,=]/gu, (found, character: string | undefined) => {
    if (character === undefined) {
      throw badRequest(`invalid field selector: unescaped character in value: ${found.charCodeAt(0)}`)
    }
    if (character === '' || !'\\,='.includes(character)) {
      throw badRequest(`invalid field selector: invalid escape sequence: ${found}`)
    }
    return character
  })
}
