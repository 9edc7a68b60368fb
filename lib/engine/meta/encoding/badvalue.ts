/** Formats an invalid value for a message. Source: k8s.io/apimachinery/pkg/util/validation/field (ErrorBody). */
import type { JsonValue } from '../types.ts'
import { escapeJson, numberText, quote } from './gotext.ts'
import { stringify } from './json.ts'

/** Limits the quoted characters. kube-apiserver has no limit, but a response must stay below Lambda's 6 MB. */
const MAX_SHOWN = 16_384

/** A string whose Go type is a named type or a pointer, which messages show as JSON. */
export class NamedText {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** A value that an error can quote. */
export type BadValue = JsonValue | NamedText | undefined

/** Formats a value as Go does: %q for strings, %v for numbers, JSON with unsorted members for all others. */
export function formatValue(value: BadValue): string {
  if (typeof value === 'string')
    return value.length > MAX_SHOWN ? `${quote(value.slice(0, MAX_SHOWN))} ...` : quote(value)
  if (typeof value === 'number') return numberText(value)
  const whole = value === undefined ? 'null' : stringify(value instanceof NamedText ? value.text : value)
  return escapeJson(whole.length > MAX_SHOWN ? `${whole.slice(0, MAX_SHOWN)} ...` : whole)
}
