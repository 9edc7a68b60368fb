/**
 * Field errors: what is wrong with one field of an object, in the words of kube-apiserver.
 * Source: k8s.io/apimachinery/pkg/util/validation/field.
 */
import { numberText, quoted } from './gotext.ts'
import { stringify } from './json.ts'
import type { JsonValue, StatusCause } from './types.ts'

export type FieldErrorType =
  | 'FieldValueRequired'
  | 'FieldValueInvalid'
  | 'FieldValueTypeInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueDuplicate'
  | 'FieldValueForbidden'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'

/** One finding: `field` is the path (`spec.scope.roles[1].role`), `message` is what follows `<field>: `. */
export interface FieldError {
  type: FieldErrorType
  field: string
  message: string
}

/** Of longer values only the beginning is shown, unlike in kube-apiserver: an answer must stay smaller than Lambda's 6 MB. */
const MAX_SHOWN = 16_384

/** A text whose Go type is not plain `string` (a named one, a pointer): it is shown as JSON. */
export class NamedText {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** What an error can say of a bad value. */
export type BadValue = JsonValue | NamedText | undefined

/** Go's %q for text, %v for numbers, JSON (members in the order given) for the rest: how a bad value appears in a message. */
export function shown(value: BadValue): string {
  if (typeof value === 'string')
    return value.length > MAX_SHOWN ? `${quoted(value.slice(0, MAX_SHOWN))} ...` : quoted(value)
  if (typeof value === 'number') return numberText(value)
  const whole = value === undefined ? 'null' : stringify(value instanceof NamedText ? value.text : value)
  const text = whole.length > MAX_SHOWN ? `${whole.slice(0, MAX_SHOWN)} ...` : whole
  return text.replace(/[<>&\u2028\u2029]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

const error = (type: FieldErrorType, field: string, message: string): FieldError => ({ type, field, message })

export const required = (field: string, detail = ''): FieldError =>
  error('FieldValueRequired', field, detail ? `Required value: ${detail}` : 'Required value')

export const invalid = (field: string, value: BadValue, detail: string): FieldError =>
  error('FieldValueInvalid', field, `Invalid value: ${shown(value)}: ${detail}`)

/** `supported` is printed in the order given. */
export const notSupported = (field: string, value: BadValue, supported: readonly string[]): FieldError =>
  error(
    'FieldValueNotSupported',
    field,
    `Unsupported value: ${shown(value)}: supported values: ${supported.map((one) => shown(one)).join(', ')}`,
  )

export const duplicate = (field: string, value: JsonValue): FieldError =>
  error('FieldValueDuplicate', field, `Duplicate value: ${shown(value)}`)

export const forbidden = (field: string, detail: string): FieldError =>
  error('FieldValueForbidden', field, `Forbidden: ${detail}`)

/** `maxBytes` counts UTF-8 bytes. */
export const tooLong = (field: string, maxBytes: number): FieldError =>
  error('FieldValueTooLong', field, `Too long: may not be more than ${maxBytes} ${maxBytes === 1 ? 'byte' : 'bytes'}`)

export const tooMany = (field: string, actual: number, max: number): FieldError =>
  error('FieldValueTooMany', field, `Too many: ${actual}: must have at most ${max} ${max === 1 ? 'item' : 'items'}`)

/** In characters: what the findings of one answer say at most. */
export const MOST_TOLD = 64 * 1024

/**
 * Returns the findings of the items, one after another, until they say more than an answer shows: a body of 3 MiB has room
 * for a million mistakes.
 */
export function findingsOf<T>(
  items: Iterable<T>,
  find: (item: T, index: number) => readonly FieldError[],
): FieldError[] {
  const found: FieldError[] = []
  let said = 0
  let index = 0
  for (const item of items) {
    for (const one of find(item, index++)) {
      found.push(one)
      said += one.field.length + one.message.length
    }
    if (said > MOST_TOLD) break
  }
  return found
}

/** The first findings, as many as say at most `most` characters together; at least one. */
export function told<T extends StatusCause>(errors: readonly T[], most: number): readonly T[] {
  let said = 0
  const end = errors.findIndex(({ field = '', message = '' }) => {
    said += field.length + message.length
    return said > most
  })
  return end < 0 ? errors : errors.slice(0, Math.max(1, end))
}

export const toCause = ({ type, field, message }: FieldError): StatusCause => ({ reason: type, message, field })

/** `<field>: <message>` of one, `[a, b]` of several; repeated texts appear once (the causes keep them all). */
export function aggregate(errors: readonly FieldError[]): string {
  const texts = [...new Set(errors.map(({ field, message }) => `${field}: ${message}`))]
  return texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`
}
