/** Redacts objects for logs and for error messages that quote the request. */
import { LAST_APPLIED } from '../annotations.ts'
import type { JsonValue } from '../types.ts'
import { REDACTED } from '../value/credentialtext.ts'
import { isObject, own } from '../value/walk.ts'
import type { KindSchema, Schema } from './schema.ts'
import { memberSchema } from './schema.ts'

const isScalar = (schema: Schema): boolean => !['object', 'map', 'list'].includes(schema.type)

/** Also redacts values of an unexpected shape, which could contain anything. */
function redactValue(value: JsonValue, schema: Schema | undefined): JsonValue {
  if (value === null) return value
  if (schema === undefined || schema.writeOnly) return REDACTED
  if (Array.isArray(value)) {
    return schema.type === 'list' ? value.map((item) => redactValue(item, schema.items)) : REDACTED
  }
  if (!isObject(value)) return isScalar(schema) ? value : REDACTED
  if (schema.type !== 'object' && schema.type !== 'map') return REDACTED
  const members = Object.entries(value).map(([name, member]): [string, JsonValue] => [
    name,
    redactValue(member, memberSchema(schema, name)),
  ])
  return Object.fromEntries(members)
}

function redactMetadata(metadata: JsonValue): JsonValue {
  if (!isObject(metadata)) return redactValue(metadata, undefined)
  const annotations = own(metadata, 'annotations')
  if (!isObject(annotations) || !Object.hasOwn(annotations, LAST_APPLIED)) return metadata
  return { ...metadata, annotations: { ...annotations, [LAST_APPLIED]: REDACTED } }
}

/**
 * Returns a copy in which `<redacted>` replaces every write-only value, and every value that the schema does not describe
 * or whose shape differs: `spec.Key` may contain the value intended for `spec.key`. Keeps the names of members.
 */
export function redactJson(value: JsonValue, kind: KindSchema): JsonValue {
  if (!isObject(value)) return redactValue(value, undefined)
  const members = Object.entries(value).map(([name, member]): [string, JsonValue] => {
    if (name === 'apiVersion' || name === 'kind') return [name, member]
    if (name === 'metadata') return [name, redactMetadata(member)]
    return [name, redactValue(member, own<Schema>({ ...kind }, name))]
  })
  return Object.fromEntries(members)
}
