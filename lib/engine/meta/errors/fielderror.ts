/**
 * Builds field errors, which describe an invalid field of an object with kube-apiserver's messages.
 * Source: k8s.io/apimachinery/pkg/util/validation/field.
 */
import { type BadValue, formatValue } from '../encoding/badvalue.ts'
import type { JsonValue, StatusCause } from '../types.ts'

export type FieldErrorType =
  | 'FieldValueRequired'
  | 'FieldValueInvalid'
  | 'FieldValueTypeInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueDuplicate'
  | 'FieldValueForbidden'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'

/** One error: `field` is the path (`spec.rules[1].verb`), `message` the text after `<field>: `. */
export interface FieldError {
  type: FieldErrorType
  field: string
  message: string
}

const error = (type: FieldErrorType, field: string, message: string): FieldError => ({ type, field, message })

export const required = (field: string, detail = ''): FieldError =>
  error('FieldValueRequired', field, detail ? `Required value: ${detail}` : 'Required value')

export const invalid = (field: string, value: BadValue, detail: string): FieldError =>
  error('FieldValueInvalid', field, `Invalid value: ${formatValue(value)}: ${detail}`)

/** Returns an error for each thing that is wrong with a value. */
export const eachInvalid = (field: string, value: string, details: readonly string[]): FieldError[] =>
  details.map((detail) => invalid(field, value, detail))

/** Lists the values of `supported` in the given order. */
export const notSupported = (field: string, value: BadValue, supported: readonly string[]): FieldError =>
  error(
    'FieldValueNotSupported',
    field,
    `Unsupported value: ${formatValue(value)}: supported values: ${supported.map((one) => formatValue(one)).join(', ')}`,
  )

export const duplicate = (field: string, value: JsonValue): FieldError =>
  error('FieldValueDuplicate', field, `Duplicate value: ${formatValue(value)}`)

export const forbidden = (field: string, detail: string): FieldError =>
  error('FieldValueForbidden', field, `Forbidden: ${detail}`)

/** `maxBytes` counts UTF-8 bytes. */
export const tooLong = (field: string, maxBytes: number): FieldError =>
  error('FieldValueTooLong', field, `Too long: may not be more than ${maxBytes} ${maxBytes === 1 ? 'byte' : 'bytes'}`)

export const tooMany = (field: string, actual: number, max: number): FieldError =>
  error('FieldValueTooMany', field, `Too many: ${actual}: must have at most ${max} ${max === 1 ? 'item' : 'items'}`)

/** Limits the total text of the errors in one response, in characters. */
export const MAX_ERROR_TEXT = 64 * 1024

/**
 * Collects the errors of all items, in order, and stops when they exceed the text of one response: a body of 3 MiB can
 * contain a million mistakes.
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
    if (said > MAX_ERROR_TEXT) break
  }
  return found
}

/** Returns the first errors whose total text is at most `most` characters, and always at least one error. */
export function limitErrors<T extends StatusCause>(errors: readonly T[], most: number): readonly T[] {
  let said = 0
  const end = errors.findIndex(({ field = '', message = '' }) => {
    said += field.length + message.length
    return said > most
  })
  return end < 0 ? errors : errors.slice(0, Math.max(1, end))
}

export const toCause = ({ type, field, message }: FieldError): StatusCause => ({ reason: type, message, field })

/** Returns `<field>: <message>` for one error and `[a, b]` for several. Repeated texts appear once; the causes keep all. */
export function aggregate(errors: readonly FieldError[]): string {
  const texts = [...new Set(errors.map(({ field, message }) => `${field}: ${message}`))]
  return texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`
}
