/**
 * Removes write-only fields from an object before any other processing, so that storage, patches, selectors and field
 * ownership never see a secret. The schema declares these fields.
 */
import { LAST_APPLIED } from '../annotations.ts'
import { parseJson, stringify } from '../encoding/json.ts'
import { DecodeError } from '../encoding/jsonscanner.ts'
import { decodeMeta } from '../object/decodemeta.ts'
import type { JsonObject, JsonValue, KubeObject } from '../types.ts'
import { holdsCredential } from '../value/credentialtext.ts'
import { isObject, own } from '../value/walk.ts'
import { prune } from './prune.ts'
import type { KindSchema, ObjectSchema, Schema } from './schema.ts'

/** The value of a write-only field in a request; never stored in the object and never logged. */
export interface Secret {
  /** Member names from the root: `['spec', 'key']`. */
  path: readonly string[]
  value: JsonValue
}

interface WriteOnlyField {
  path: readonly string[]
  schema: Schema
}

function fieldsBelow(schema: Schema, path: readonly string[], insideList: boolean): WriteOnlyField[] {
  if (schema.writeOnly) {
    // List items have no stable path, so the value of one item could be stored for another.
    if (insideList) throw new Error(`write-only field ${path.join('.')} is inside a list or map`)
    return [{ path, schema }]
  }
  if (schema.type === 'list') return fieldsBelow(schema.items, path, true)
  if (schema.type === 'map') return fieldsBelow(schema.values, path, true)
  if (schema.type !== 'object') return []
  return Object.entries(schema.properties).flatMap(([name, one]) => fieldsBelow(one, [...path, name], insideList))
}

const known = new WeakMap<KindSchema, readonly WriteOnlyField[]>()

/**
 * Returns the write-only fields of a kind. Throws if the schema declares one inside a list or map. Cached per kind, so every
 * request may call it.
 */
export function writeOnlyFields(kind: KindSchema): readonly WriteOnlyField[] {
  const fields = known.get(kind) ?? findFields(kind)
  known.set(kind, fields)
  return fields
}

function findFields({ spec, status }: KindSchema): WriteOnlyField[] {
  const parts: [string, ObjectSchema | undefined][] = [
    ['spec', spec],
    ['status', status],
  ]
  return parts.flatMap(([name, schema]) => (schema ? fieldsBelow(schema, [name], false) : []))
}

function valueAt(object: JsonValue, path: readonly string[]): JsonValue | undefined {
  return path.reduce<JsonValue | undefined>((at, name) => (isObject(at) ? own(at, name) : undefined), object)
}

/** Returns the object without the member at the path. Copies along the path and shares all other members. */
function removeAt(object: JsonObject, [name = '', ...rest]: readonly string[]): JsonObject {
  const members = Object.entries(object).flatMap(([member, value]): [string, JsonValue][] => {
    if (member !== name) return [[member, value]]
    return rest.length > 0 && isObject(value) ? [[member, removeAt(value, rest)]] : []
  })
  return Object.fromEntries(members)
}

function withValue(object: JsonObject, [name = '', ...rest]: readonly string[], value: JsonValue): JsonObject {
  const below = own(object, name)
  const inner = rest.length > 0 ? withValue(isObject(below) ? below : {}, rest, value) : value
  return { ...object, [name]: inner }
}

const cut = (object: JsonObject, schema: KindSchema): JsonObject =>
  writeOnlyFields(schema).reduce<JsonObject>(
    (rest, { path }) => (valueAt(rest, path) === undefined ? rest : removeAt(rest, path)),
    object,
  )

/** Reports whether all parents of a write-only field are objects, so that the field can be found. */
const reachable = (object: JsonObject, { path }: WriteOnlyField): boolean =>
  path.slice(0, -1).every((_, index) => {
    const value = valueAt(object, path.slice(0, index + 1)) ?? null
    return value === null || isObject(value)
  })

/**
 * Removes from a manifest the write-only values, the fields that neither metadata nor the kind describes (`Spec`, `items`,
 * `spec.Key`) and a nested manifest.
 */
function cutManifest(manifest: JsonObject, schema: KindSchema): JsonObject {
  const { spec: _, status: __, ...rest } = manifest
  const pruned = prune(manifest, schema, { keepNulls: true })
  const { metadata, unknown } = decodeMeta(rest.metadata, { lenient: true })
  const isKnown = unknown.length === 0 && isObject(rest.metadata ?? {})
  const type = Object.entries(rest).filter(([name]) => name === 'apiVersion' || name === 'kind')
  const own = isKnown ? rest.metadata : (metadata as JsonObject)
  const known =
    pruned.unknown.length === 0 && isKnown
      ? manifest
      : { ...Object.fromEntries(type), ...(own !== undefined && { metadata: own }), ...pruned.object }
  const nested = ['metadata', 'annotations', LAST_APPLIED]
  return cut(valueAt(known, nested) === undefined ? known : removeAt(known, nested), schema)
}

/**
 * Removes the secrets from kubectl's copy of the manifest. Returns undefined if a credential remains. Also returns
 * undefined if the text is not a JSON object or does not match the kind, because it could then contain anything. Does not
 * change text without secrets.
 */
function cutLastApplied(text: string, schema: KindSchema): string | undefined {
  try {
    const { value, duplicates } = parseJson(text)
    if (!isObject(value) || !writeOnlyFields(schema).every((field) => reachable(value, field))) return undefined
    const rest = cutManifest(value, schema)
    if (holdsCredential(stringify(rest))) return undefined
    if (rest === value && duplicates.length === 0) return text
    return stringify(rest) + (text.endsWith('\n') ? '\n' : '')
  } catch (error) {
    if (error instanceof DecodeError) return undefined
    throw error
  }
}

/** Cleans the last-applied annotation, and removes one that is not a string: applied metadata may be any JSON. */
function cleanAnnotations(object: JsonObject, schema: KindSchema): JsonObject {
  const text = valueAt(object, ['metadata', 'annotations', LAST_APPLIED])
  if (text === undefined || (writeOnlyFields(schema).length === 0 && !holdsCredential(String(text)))) return object
  const clean = typeof text === 'string' ? cutLastApplied(text, schema) : undefined
  if (clean === text) return object
  if (clean !== undefined) return withValue(object, ['metadata', 'annotations', LAST_APPLIED], clean)
  const rest = removeAt(object, ['metadata', 'annotations', LAST_APPLIED])
  const annotations = valueAt(rest, ['metadata', 'annotations'])
  return isObject(annotations) && Object.keys(annotations).length === 0
    ? removeAt(rest, ['metadata', 'annotations'])
    : rest
}

const isBlank = (value: JsonValue): boolean => value === null || value === ''

/**
 * Separates the write-only values from an object and cleans kubectl's last-applied annotation. Absent, null and empty values
 * are not secrets and leave stored values unchanged. Removes an annotation that is not a JSON object.
 */
export function splitWriteOnly(object: KubeObject, schema: KindSchema): { object: KubeObject; secrets: Secret[] } {
  const secrets = writeOnlyFields(schema).flatMap(({ path }): Secret[] => {
    const value = valueAt(object, path)
    return value === undefined || isBlank(value) ? [] : [{ path, value }]
  })
  return { object: cleanAnnotations(cut(object, schema), schema) as KubeObject, secrets }
}

/** Restores write-only values, for validation and for the single response that returns them. */
export function joinWriteOnly(object: KubeObject, secrets: readonly Secret[]): KubeObject {
  return secrets.reduce<JsonObject>((joined, { path, value }) => withValue(joined, path, value), object) as KubeObject
}
