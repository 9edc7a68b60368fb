/**
 * Validates values against a schema, with kube-apiserver's messages for custom resources.
 * Source: k8s.io/kube-openapi/pkg/validation/validate (which check runs when), k8s.io/apiextensions-apiserver
 * (apiserver/validation, apiserver/schema/listtype), answers of a kube-apiserver 1.34.4.
 */
import { formatValue } from '../encoding/badvalue.ts'
import { type Floats, holdsFloat, NO_FLOATS } from '../encoding/floats.ts'
import { floatText, quote } from '../encoding/gotext.ts'
import { fitsInt64 } from '../encoding/strconv.ts'
import { type FieldError, type FieldErrorType, findingsOf, required, tooLong, tooMany } from '../errors/fielderror.ts'
import type { JsonObject, JsonValue } from '../types.ts'
import { byBytes } from '../value/byteorder.ts'
import { REDACTED } from '../value/credentialtext.ts'
import { deepEqual } from '../value/equal.ts'
import { child, isObject, own, sortedEntries } from '../value/walk.ts'
import { isDateTime, isUri, MAX_PATTERN_LENGTH, matchesPattern } from './formats.ts'
import { duplicateItems } from './lists.ts'
import {
  type IntegerSchema,
  type KindSchema,
  type ListSchema,
  type MapSchema,
  memberSchema,
  type ObjectSchema,
  type Schema,
  type StringSchema,
} from './schema.ts'

/** `field` is the path in the cause, `name` the path in the message; they differ on the status endpoint. */
interface FieldPlace {
  field: string
  name: string
  /** True inside a write-only field, whose values no message may show. */
  hidden: boolean
  floats: Floats
}

function shownAt(place: FieldPlace, value: JsonValue): string {
  if (place.hidden) return REDACTED
  return isNumber(value) && place.floats.has(place.field) ? floatText(Number(value)) : formatValue(value)
}

const finding = (type: FieldErrorType, place: FieldPlace, value: JsonValue, detail: string): FieldError => ({
  type,
  field: place.field,
  message: `Invalid value: ${shownAt(place, value)}: ${place.name} in body ${detail}`,
})

const memberOf = (place: FieldPlace, member: string): FieldPlace => ({
  ...place,
  field: child(place.field, member),
  name: child(place.name, member),
})

const itemOf = (place: FieldPlace, index: number): FieldPlace => ({
  ...place,
  field: `${place.field}[${index}]`,
  name: `${place.name}[${index}]`,
})

const TYPE_NAMES = {
  string: 'string',
  integer: 'integer',
  boolean: 'boolean',
  object: 'object',
  map: 'object',
  list: 'array',
}

const isNumber = (value: JsonValue): value is number | bigint => typeof value === 'number' || typeof value === 'bigint'

function schemaType(value: JsonValue, { field, floats }: FieldPlace): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (!isNumber(value)) return typeof value
  const isWhole = typeof value === 'bigint' ? fitsInt64(value) : Number.isSafeInteger(value)
  return isWhole && !floats.has(field) ? 'integer' : 'number'
}

/** Reports whether a floating-point number is exactly an integer, which is valid for integer fields. */
const isWholeFloat = (value: JsonValue): boolean => Number.isSafeInteger(value)

/** `Invalid value: "string": spec.ttl in body must be of type integer: "string"`. Names of types need no redaction. */
const wrongType = (place: FieldPlace, expected: string, actual: string): FieldError =>
  finding('FieldValueTypeInvalid', place, actual, `must be of type ${expected}: "${actual}"`)

/** Returns go-openapi's name for the type of a value where the schema requires a string with a format. */
function formatOf(type: string): string {
  if (type === 'array') return type
  if (type === 'integer') return 'int64'
  return type === 'number' ? 'float64' : ''
}

function checkType(value: JsonValue, schema: Schema, place: FieldPlace): FieldError[] {
  const expected = TYPE_NAMES[schema.type]
  const actual = schemaType(value, place)
  if (actual === expected || (expected === 'integer' && isWholeFloat(value))) return []
  const format = schema.type === 'string' ? schema.format : undefined
  if (format === undefined || value === null) return [wrongType(place, expected, actual)]
  return [wrongType(place, format, formatOf(actual))]
}

const FORMATS = { 'date-time': isDateTime, uri: isUri }

/** Reports only the first violated bound, as go-openapi does. Counts characters, although the message says bytes. */
function checkBounds(value: string, schema: StringSchema, place: FieldPlace): FieldError[] {
  const { minLength = 0, maxLength = schema.pattern ? MAX_PATTERN_LENGTH : Number.POSITIVE_INFINITY, pattern } = schema
  const length = value.length > maxLength || minLength > 0 ? [...value].length : value.length
  const bad = (detail: string): FieldError[] => [finding('FieldValueInvalid', place, value, detail)]
  if (length > maxLength) return [tooLong(place.field, maxLength)]
  if (length < minLength) return bad(`should be at least ${minLength} chars long`)
  return pattern === undefined || matchesPattern(pattern, value) ? [] : bad(`should match '${pattern}'`)
}

function checkString(value: string, schema: StringSchema, place: FieldPlace): FieldError[] {
  const { format } = schema
  const errors = checkBounds(value, schema, place)
  if (format === undefined || FORMATS[format](value)) return errors
  const text = `must be of type ${format}: ${place.hidden ? REDACTED : quote(value)}`
  return [...errors, finding('FieldValueTypeInvalid', place, value, text)]
}

const INT32 = { minimum: -(2 ** 31), maximum: 2 ** 31 - 1 }

/** Unlike custom resources, enforces the range of `int32`: a larger value could not be passed on. */
function checkNumber(value: number | bigint, schema: IntegerSchema, place: FieldPlace): FieldError[] {
  const { minimum, maximum } = { ...(schema.format === 'int32' && INT32), ...schema }
  const bad = (detail: string): FieldError[] => [finding('FieldValueInvalid', place, value, detail)]
  if (minimum !== undefined && value < minimum) return bad(`should be greater than or equal to ${minimum}`)
  if (maximum !== undefined && value > maximum) return bad(`should be less than or equal to ${maximum}`)
  return []
}

function checkItems(items: JsonValue[], schema: ListSchema, place: FieldPlace): FieldError[] {
  const { maxItems = Number.POSITIVE_INFINITY } = schema
  const errors = findingsOf(items, (item, index) => check(item, undefined, schema.items, itemOf(place, index)))
  if (items.length > maxItems) errors.push(tooMany(place.field, items.length, maxItems))
  return errors
}

function checkMembers(
  object: JsonObject,
  old: JsonValue | undefined,
  schema: ObjectSchema | MapSchema,
  place: FieldPlace,
): FieldError[] {
  const before = isObject(old) ? old : {}
  const errors = findingsOf(sortedEntries(object), ([name, value]) => {
    const described = memberSchema(schema, name)
    return described ? check(value, own(before, name), described, memberOf(place, name)) : []
  })
  const names = schema.type === 'object' ? [...(schema.required ?? [])].sort(byBytes) : []
  const missing = names.filter((name) => !Object.hasOwn(object, name))
  return [...errors, ...missing.map((name) => required(memberOf(place, name).field))]
}

function checkValue(value: JsonValue, old: JsonValue | undefined, schema: Schema, place: FieldPlace): FieldError[] {
  return [
    ...checkType(value, schema, place),
    ...(typeof value === 'string' && schema.type === 'string' ? checkString(value, schema, place) : []),
    ...(isNumber(value) && schema.type === 'integer' ? checkNumber(value, schema, place) : []),
    ...(Array.isArray(value) && schema.type === 'list' ? checkItems(value, schema, place) : []),
    ...(schema.type === 'string' ? checkEnum(value, schema, place) : []),
    ...(isObject(value) && (schema.type === 'object' || schema.type === 'map')
      ? checkMembers(value, old, schema, place)
      : []),
  ]
}

function checkEnum(value: JsonValue, { enum: allowed }: StringSchema, place: FieldPlace): FieldError[] {
  if (allowed === undefined || allowed.some((one) => one === value)) return []
  const supported = allowed.map((one) => quote(one)).join(', ')
  const message = `Unsupported value: ${shownAt(place, value)}: supported values: ${supported}`
  return [{ type: 'FieldValueNotSupported', field: place.field, message }]
}

/** Skips unchanged values, so that a stricter schema does not block unrelated changes. */
function check(value: JsonValue, old: JsonValue | undefined, schema: Schema, place: FieldPlace): FieldError[] {
  if (old !== undefined && deepEqual(value, old) && !holdsFloat(value, place.field, place.floats)) return []
  return checkValue(value, old, schema, schema.writeOnly ? { ...place, hidden: true } : place)
}

/** The parts of an object that validation reads. */
interface Validatable {
  spec?: JsonValue
  status?: JsonValue
}

/** Reports whether an object needs this part: strategies read what the schema requires of it without asking whether it is there. */
export const isRequired = (part: ObjectSchema | undefined): boolean => (part?.required ?? []).length > 0

/**
 * Returns the errors in spec and status: first invalid values by path, then duplicate list items. `subresource: 'status'`
 * validates only status and shortens the paths in messages (`conditions[0].type in body`), as kube-apiserver does. With
 * `old`, skips unchanged values. Redacts the values of write-only fields. `floats` are the numbers that the body writes
 * as floating point.
 */
export function validateSchema(
  object: Validatable,
  schema: KindSchema,
  subresource: '' | 'status' = '',
  old?: Validatable,
  floats: Floats = NO_FLOATS,
): FieldError[] {
  const parts = subresource === 'status' ? (['status'] as const) : (['spec', 'status'] as const)
  const values = parts.flatMap((part) => {
    const [value, described] = [object[part], schema[part]]
    if (value === undefined) return part === 'spec' && isRequired(described) ? [required(part)] : []
    if (!described) return []
    const name = subresource === 'status' ? '' : part
    return check(value, old?.[part], described, { field: part, name, hidden: false, floats })
  })
  const duplicates = parts.flatMap((part) => {
    const [value, described, before] = [object[part], schema[part], old?.[part]]
    if (value === undefined || !described) return []
    const wasBroken = before !== undefined && duplicateItems(before, described, part).length > 0
    return wasBroken ? [] : duplicateItems(value, described, part, floats)
  })
  return [...values, ...duplicates]
}
