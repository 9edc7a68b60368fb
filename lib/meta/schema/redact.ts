/** Objects as they may be shown to anybody: in logs, and in errors that quote what was sent. */
import { LAST_APPLIED } from '../annotations.ts'
import type { JsonValue } from '../types.ts'
import { REDACTED } from '../value/credentials.ts'
import { isObject, own } from '../value/walk.ts'
import type { KindSchema, Schema } from './schema.ts'
import { memberSchema } from './schema.ts'

const isScalar = (schema: Schema): boolean => !['object', 'map', 'list'].includes(schema.type)

/** What stands where a value of another shape belongs may be anything, so it is not shown either. */
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
 * A copy in which every write-only value reads `<redacted>`, and so does every value that the kind does not describe or
 * that has another shape: `spec.Key` may hold what was meant for `spec.key`. Names of members stay.
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
