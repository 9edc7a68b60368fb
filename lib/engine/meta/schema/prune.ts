/**
 * Drops the unknown fields of an object that a client sent, and reports them.
 * Source: k8s.io/apiextensions-apiserver/pkg/apiserver/schema/{pruning,defaulting}.
 */

import { MAX_FINDINGS, shortName } from '../encoding/jsonscanner.ts'
import type { JsonObject, JsonValue } from '../types.ts'
import { byBytes } from '../value/byteorder.ts'
import { child, isObject } from '../value/walk.ts'
import type { KindSchema, Schema } from './schema.ts'
import { memberSchema } from './schema.ts'

interface Pruned {
  /** The known fields of `spec` and `status`; shares nothing with the input. */
  object: JsonObject
  /** Paths of dropped fields in byte order, at most 100, with names cut to 256 characters: `spec.rules[0].foo`. */
  unknown: string[]
  /** Deprecated fields in use, sorted, without the fields inside them. */
  deprecated: { path: string; instead: string }[]
}

interface Walk extends Omit<Pruned, 'object'> {
  keepNulls: boolean
}

/** Limits the reported paths, because a client can send any number of fields. */
function drop(path: string, { unknown }: Walk): void {
  if (unknown.length < MAX_FINDINGS) unknown.push(path)
}

const below = (path: string, name: string): string => child(path, shortName(name))

/** Prunes a value without a schema: all members are unknown, so it visits lists and empties objects. */
function pruneUndescribed(value: JsonValue, path: string, walk: Walk): JsonValue {
  if (Array.isArray(value)) return value.map((item, index) => pruneUndescribed(item, `${path}[${index}]`, walk))
  if (!isObject(value)) return value
  for (const name of Object.keys(value)) drop(below(path, name), walk)
  return {}
}

function pruneObject(object: JsonObject, schema: Schema, path: string, walk: Walk): JsonObject {
  const kept = Object.entries(object).flatMap(([name, value]): [string, JsonValue][] => {
    const described = memberSchema(schema, name)
    const at = below(path, name)
    if (!described) {
      drop(at, walk)
      return []
    }
    if (described.readOnly || (value === null && !walk.keepNulls)) return []
    return [[name, pruneValue(value, described, at, walk)]]
  })
  return Object.fromEntries(kept)
}

/** Reports whether a field is unused: some clients send every field of a struct, empty ones too. */
const isUnused = (value: JsonValue): boolean =>
  typeof value === 'object' && value !== null ? Object.keys(value).length === 0 : !value

function pruneValue(value: JsonValue, schema: Schema, path: string, walk: Walk): JsonValue {
  if (schema.deprecated !== undefined && !isUnused(value)) {
    walk.deprecated.push({ path, instead: schema.deprecated })
    // The warning about this field covers the fields inside it.
    return pruneInside(value, schema, path, { ...walk, deprecated: [] })
  }
  return pruneInside(value, schema, path, walk)
}

function pruneInside(value: JsonValue, schema: Schema, path: string, walk: Walk): JsonValue {
  if (isObject(value)) return pruneObject(value, schema, path, walk)
  if (!Array.isArray(value)) return value
  return value.map((item, index) => {
    const at = `${path}[${index}]`
    return schema.type === 'list' ? pruneValue(item, schema.items, at, walk) : pruneUndescribed(item, at, walk)
  })
}

/**
 * Prunes everything except apiVersion, kind and metadata. Keeps values of a wrong type, which validation reports; fields
 * inside them are unknown. Also keeps null list items, and with `keepNulls` null members, which server-side apply rejects
 * later. Drops computed (readOnly) fields without a report.
 */
export function prune(object: JsonObject, kind: KindSchema, { keepNulls = false } = {}): Pruned {
  const walk: Walk = { keepNulls, unknown: [], deprecated: [] }
  const { apiVersion: _, kind: __, metadata: ___, ...rest } = object
  const properties: Record<string, Schema> = { ...kind }
  const pruned = pruneObject(rest, { type: 'object', description: '', properties }, '', walk)
  return {
    object: pruned,
    unknown: walk.unknown.sort(byBytes),
    deprecated: walk.deprecated.sort((one, other) => byBytes(one.path, other.path)),
  }
}

/** Returns the warning about a deprecated field, in the form of Kubernetes' built-in kinds. */
export const deprecationWarning = (version: string, { path, instead }: Pruned['deprecated'][number]): string =>
  `${path}: deprecated since ${version}; use ${instead} instead`
