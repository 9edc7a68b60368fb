/** Objects as they may be shown to anybody: in logs, and in errors that quote what was sent. */
import type { KindSchema } from './prune.ts'
import type { Schema } from './schema.ts'
import type { JsonValue } from './types.ts'
import { isObject, own } from './walk.ts'

export const REDACTED = '<redacted>'

/** kubectl's copy of the manifest, which may hold any field of the object as text. */
export const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

function redactValue(value: JsonValue, schema: Schema | undefined): JsonValue {
  if (value === null) return value
  if (schema === undefined || schema.writeOnly) return REDACTED
  if (Array.isArray(value)) {
    return value.map((item) => redactValue(item, schema.type === 'list' ? schema.items : undefined))
  }
  if (!isObject(value)) return value
  const members = Object.entries(value).map(([name, member]): [string, JsonValue] => {
    if (schema.type === 'map') return [name, redactValue(member, schema.values)]
    return [name, redactValue(member, schema.type === 'object' ? own(schema.properties, name) : undefined)]
  })
  return Object.fromEntries(members)
}

function redactMetadata(metadata: JsonValue): JsonValue {
  if (!isObject(metadata)) return redactValue(metadata, undefined)
  const annotations = own(metadata, 'annotations')
  if (!isObject(annotations) || !Object.hasOwn(annotations, LAST_APPLIED)) return metadata
  return { ...metadata, annotations: { ...annotations, [LAST_APPLIED]: REDACTED } }
}

/**
 * A copy in which every write-only value reads `<redacted>`, and so does every value that the kind does not describe:
 * `spec.Key` may hold what was meant for `spec.key`. Names of members stay.
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
