/**
 * What is wrong with an applied configuration: apply cannot drop what it does not understand, since it could not own it.
 * The texts are those that users of kubectl see.
 * Source: sigs.k8s.io/structured-merge-diff typed/validate.go.
 */

import { plain, syntax, typeName } from '../encoding/gotext.ts'
import type { ListSchema, ObjectSchema, Schema } from '../schema/schema.ts'
import { memberSchema } from '../schema/schema.ts'
import type { JsonValue } from '../types.ts'
import { byBytes } from '../value/byteorder.ts'
import { REDACTED } from '../value/credentials.ts'
import { isObject } from '../value/walk.ts'
import { elementText, fieldElement, indexElement } from './element.ts'
import { isDeclared, itemElement } from './typed.ts'

/** Longer values are cut: a message must not be larger than the request. */
const SHOWN = 256

const shown = (text: string): string => (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text)

interface Finding {
  path: string
  message: string
  isDuplicate?: true
}

function validateList(value: JsonValue, schema: ListSchema, path: string, found: Finding[]): void {
  if (!Array.isArray(value)) {
    found.push({ path, message: `expected list, got ${shown(`&{${plain(value)}}`)}` })
    return
  }
  const seen = new Set<string>()
  for (const [i, item] of value.entries()) {
    const element = schema.listType === 'atomic' ? indexElement(i) : itemElement(schema, item)
    if (typeof element === 'string') {
      found.push({ path, message: `element ${i}: ${element}` })
      return
    }
    if (seen.has(element.id)) {
      found.push({ path, message: `duplicate entries for key ${elementText(element)}`, isDuplicate: true })
    }
    seen.add(element.id)
    validate(item, schema.items, path + elementText(element), found)
  }
}

/** What stands where such an object belongs may be, or hold, a value that is never shown. */
const holdsWriteOnly = (schema: Schema): boolean =>
  schema.writeOnly !== undefined ||
  (schema.type === 'object' && Object.values(schema.properties).some((one) => holdsWriteOnly(one)))

/** Maps may have any member, and so may an object of which none is declared (`fieldsV1`). */
const isFree = (schema: Schema): boolean => schema.type !== 'object' || Object.keys(schema.properties).length === 0

function validateMembers(value: JsonValue, schema: Schema, path: string, found: Finding[]): void {
  if (!isObject(value)) {
    const got = holdsWriteOnly(schema) ? REDACTED : shown(`&{${plain(value)}}`)
    found.push({ path, message: `expected map, got ${got}` })
    return
  }
  const free = isFree(schema)
  for (const [name, one] of Object.entries(value).sort(([a], [b]) => byBytes(a, b))) {
    const at = path + elementText(fieldElement(name))
    if (!free && !isDeclared(schema, name)) {
      found.push({ path: at, message: 'field not declared in schema' })
      return
    }
    const inner = memberSchema(schema, name)
    if (inner) validate(one, inner, at, found)
  }
}

/** What Go would have said of a value that is no scalar of this type; undefined where it is one. */
function scalarMessage(value: JsonValue, schema: Schema): string | undefined {
  const { type } = schema
  // So it is with times.
  if (type === 'string' && schema.format === 'date-time') {
    return typeof value === 'object' ? `expected any scalar, got ${shown(`&{${plain(value)}}`)}` : undefined
  }
  if (type === 'string' && typeof value !== 'string') {
    return `expected string, got ${shown(`&value.valueUnstructured{Value:${syntax(value)}}`)}`
  }
  if (type === 'integer' && typeof value !== 'number' && typeof value !== 'bigint') {
    return `expected numeric (int or float), got ${typeName(value)}`
  }
  if (type === 'boolean' && typeof value !== 'boolean') return `expected boolean, got ${shown(`&{${plain(value)}}`)}`
  return undefined
}

function validate(value: JsonValue, schema: Schema, path: string, found: Finding[]): void {
  if (value === null) return
  if (schema.type === 'list') validateList(value, schema, path, found)
  else if (schema.type === 'object' || schema.type === 'map') validateMembers(value, schema, path, found)
  else {
    const message = scalarMessage(value, schema)
    if (message !== undefined) found.push({ path, message })
  }
}

/** Whether whose fields are in the object can be told: everything has the type of its schema. Duplicates do no harm. */
export function isTyped(object: JsonValue, schema: ObjectSchema): boolean {
  const found: Finding[] = []
  validate(object, schema, '', found)
  return found.every(({ isDuplicate }) => isDuplicate)
}

/**
 * undefined where the configuration fits its schema, else all findings as one text. Duplicates in sets and lists with
 * keys are findings; null fits everything; of the undeclared members of one object only the first is named.
 */
export function configurationErrors(config: JsonValue, schema: ObjectSchema): string | undefined {
  const found: Finding[] = []
  validate(config, schema, '', found)
  const texts = found.map(({ path, message }) => (path ? `${path}: ${message}` : message))
  if (texts.length <= 1) return texts[0]
  return ['errors:', ...texts.map((text) => `  ${text}`)].join('\n')
}
