/**
 * Parses and matches field selectors: `metadata.name=a,spec.disabled!=true`. Values escape special characters: `\,` `\=` `\\`.
 * Source: k8s.io/apimachinery/pkg/fields; rejects unknown fields as for custom resources.
 */

import { badRequest } from '../errors/status.ts'
import { byBytes } from '../value/byteorder.ts'

interface FieldRequirement {
  field: string
  operator: '=' | '!='
  value: string
}

/** Matches if all requirements match; an empty selector matches everything. */
export type FieldSelector = readonly FieldRequirement[]

/**
 * Reports whether the selector matches the fields that `value` returns; an absent field has the value ''. A field with several values equals
 * each of them.
 */
export function matchesFields(selector: FieldSelector, value: (field: string) => string | readonly string[]): boolean {
  return selector.every((one) => [value(one.field)].flat().includes(one.value) === (one.operator === '='))
}

/** Returns the values that the selector requires of a field, for example the name that limits a list to one object. */
export const requiredValues = (selector: FieldSelector, field: string): string[] =>
  selector.filter((one) => one.operator === '=' && one.field === field).map(({ value }) => value)

/** Parses a field selector. Throws 400 if malformed. */
export function parseFieldSelector(text: string): FieldSelector {
  return terms(text)
    .sort(byBytes) // so that of several mistakes Kubernetes names the same one
    .filter((term) => term !== '')
    .map((term) => parseTerm(text, term))
    .filter(({ field, value }) => field !== '' || value !== '')
}

/** Throws 400 for a field that `supported` does not contain. */
export function checkFields(selector: FieldSelector, supported: readonly string[]): void {
  for (const { field } of selector) {
    if (!supported.includes(field)) throw badRequest(`field label not supported: ${field}`)
  }
}

/** Splits the text at unescaped commas. */
const terms = (text: string): string[] => {
  const parts = ['']
  for (const [piece] of text.matchAll(/\\[\s\S]?|,|[^\\,]+/g)) {
    if (piece === ',') parts.push('')
    else parts[parts.length - 1] += piece
  }
  return parts
}

/** Splits a term at its first operator: the left side has no escapes. */
function parseTerm(text: string, term: string): FieldRequirement {
  const [all, field = '', operator, value = ''] = /^([\s\S]*?)(!=|==?)([\s\S]*)$/.exec(term) ?? []
  if (all === undefined) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`)
  return { field, operator: operator === '!=' ? '!=' : '=', value: unescapeValue(value) }
}

function unescapeValue(value: string): string {
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
