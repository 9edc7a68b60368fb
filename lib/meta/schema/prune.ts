/**
 * Drops what a kind does not have from an object that a client sent, and says what that was.
 * Source: k8s.io/apiextensions-apiserver/pkg/apiserver/schema/{pruning,defaulting}.
 */

import { MAX_FINDINGS, shortName } from '../encoding/jsonscanner.ts'
import type { JsonObject, JsonValue } from '../types.ts'
import { byBytes } from '../value/byteorder.ts'
import { child, isObject } from '../value/walk.ts'
import type { KindSchema, Schema } from './schema.ts'
import { memberSchema } from './schema.ts'

export interface PruneOptions {
  /** Keeps members that are null (server-side apply refuses them later); they are dropped otherwise. */
  keepNulls?: boolean
}

export interface Pruned {
  /** `spec` and `status` as far as they are known; shares nothing with the input. */
  object: JsonObject
  /** Paths of dropped fields, sorted by bytes, at most 100, with names cut to 256 characters: `spec.scope.roles[0].foo`. */
  unknown: string[]
  /** Deprecated fields in use, sorted: what is inside one is not named again. */
  deprecated: { path: string; instead: string }[]
}

interface Walk {
  keepNulls: boolean
  unknown: string[]
  deprecated: { path: string; instead: string }[]
}

/** Paths are long where names are, and there may be any number of both. */
function drop(path: string, { unknown }: Walk): void {
  if (unknown.length < MAX_FINDINGS) unknown.push(path)
}

const below = (path: string, name: string): string => child(path, shortName(name))

/** A value of any shape where the schema describes none: no member is known, so lists are followed and objects emptied. */
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

/** Clients that write every field of a struct do not use those that they leave empty. */
const isEmpty = (value: JsonValue): boolean =>
  typeof value === 'object' && value !== null ? Object.keys(value).length === 0 : !value

function pruneValue(value: JsonValue, schema: Schema, path: string, walk: Walk): JsonValue {
  if (schema.deprecated !== undefined && !isEmpty(value)) {
    walk.deprecated.push({ path, instead: schema.deprecated })
    // Whoever is told to leave a field need not hear of the fields inside it.
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
 * Prunes everything beside apiVersion, kind and metadata. Values of a wrong type stay, for validation to name them; what
 * is inside them is unknown. Null list items stay too. Computed (readOnly) fields go silently.
 */
export function prune(object: JsonObject, kind: KindSchema, { keepNulls = false }: PruneOptions = {}): Pruned {
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

/** The text of the Warning header for a deprecated field, in the form of Kubernetes' own kinds. */
export const deprecationWarning = (version: string, { path, instead }: Pruned['deprecated'][number]): string =>
  `${path}: deprecated since ${version}; use ${instead} instead`
