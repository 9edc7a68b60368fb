/**
 * Validates an applied configuration: apply rejects unknown fields instead of dropping them, because it could not own them.
 * The messages are those that kubectl users see.
 * Source: sigs.k8s.io/structured-merge-diff typed/validate.go.
 */

import { formatGoSyntax, formatV, typeName } from '../encoding/gotext.ts'
import type { ListSchema, ObjectSchema, Schema } from '../schema/schema.ts'
import { memberSchema } from '../schema/schema.ts'
import type { JsonValue } from '../types.ts'
import { REDACTED } from '../value/credentialtext.ts'
import { isObject, sortedEntries } from '../value/walk.ts'
import { elementText, fieldElement, indexElement } from './element.ts'
import { isDeclared, itemElement } from './typed.ts'

/** Limits quoted values, so that a message is not larger than the request. */
const SHOWN = 256

const shown = (text: string): string => (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text)

interface Finding {
  path: string
  message: string
  isDuplicate?: true
}

function validateList(value: JsonValue, schema: ListSchema, path: string, found: Finding[]): void {
  if (!Array.isArray(value)) {
    found.push({ path, message: `expected list, got ${shown(`&{${formatV(value)}}`)}` })
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

/** Reports whether the schema contains a write-only field. A value of a wrong shape in its place may contain a secret. */
const holdsWriteOnly = (schema: Schema): boolean =>
  schema.writeOnly !== undefined ||
  (schema.type === 'object' && Object.values(schema.properties).some((one) => holdsWriteOnly(one)))

/** Reports whether any member is allowed: in maps and in objects without declared members (`fieldsV1`). */
const isFree = (schema: Schema): boolean => schema.type !== 'object' || Object.keys(schema.properties).length === 0

function validateMembers(value: JsonValue, schema: Schema, path: string, found: Finding[]): void {
  if (!isObject(value)) {
    const got = holdsWriteOnly(schema) ? REDACTED : shown(`&{${formatV(value)}}`)
    found.push({ path, message: `expected map, got ${got}` })
    return
  }
  const free = isFree(schema)
  for (const [name, one] of sortedEntries(value)) {
    const at = path + elementText(fieldElement(name))
    if (!free && !isDeclared(schema, name)) {
      found.push({ path: at, message: 'field not declared in schema' })
      return
    }
    const inner = memberSchema(schema, name)
    if (inner) validate(one, inner, at, found)
  }
}

/** Returns Go's message for a value that is not a scalar of this type; undefined if the value is valid. */
function scalarMessage(value: JsonValue, schema: Schema): string | undefined {
  const { type } = schema
  // structured-merge-diff accepts any scalar as a time.
  if (type === 'string' && schema.format === 'date-time') {
    return typeof value === 'object' ? `expected any scalar, got ${shown(`&{${formatV(value)}}`)}` : undefined
  }
  if (type === 'string' && typeof value !== 'string') {
    return `expected string, got ${shown(`&value.valueUnstructured{Value:${formatGoSyntax(value)}}`)}`
  }
  if (type === 'integer' && typeof value !== 'number' && typeof value !== 'bigint') {
    return `expected numeric (int or float), got ${typeName(value)}`
  }
  if (type === 'boolean' && typeof value !== 'boolean') return `expected boolean, got ${shown(`&{${formatV(value)}}`)}`
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

/** Reports whether every value has its schema's type, so that ownership can be computed. Allows duplicates. */
export function isTyped(object: JsonValue, schema: ObjectSchema): boolean {
  const found: Finding[] = []
  validate(object, schema, '', found)
  return found.every(({ isDuplicate }) => isDuplicate)
}

/**
 * Returns all errors as one text, or undefined if the configuration matches its schema. Rejects duplicates in sets and map
 * lists, and accepts null anywhere. Names only the first undeclared member of each object.
 */
export function configurationErrors(config: JsonValue, schema: ObjectSchema): string | undefined {
  const found: Finding[] = []
  validate(config, schema, '', found)
  const texts = found.map(({ path, message }) => (path ? `${path}: ${message}` : message))
  if (texts.length <= 1) return texts[0]
  return ['errors:', ...texts.map((text) => `  ${text}`)].join('\n')
}
