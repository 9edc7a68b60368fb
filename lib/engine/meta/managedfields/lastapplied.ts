/**
 * Migrates objects from client-side to server-side apply: fields in kubectl's last-applied annotation do not conflict with
 * `kubectl apply --server-side`, which then updates the annotation.
 * Source: k8s.io/apimachinery util/managedfields/internal (lastappliedmanager.go, lastappliedupdater.go).
 */
import { annotationBytes, LAST_APPLIED, MAX_ANNOTATION_BYTES } from '../annotations.ts'
import { encodeGoJson } from '../encoding/gotext.ts'
import { parseJson } from '../encoding/json.ts'
import { DecodeError } from '../encoding/jsonscanner.ts'
import type { ObjectSchema } from '../schema/schema.ts'
import { compareObjects, toFieldSet } from '../structuredmerge/fieldsof.ts'
import { difference, type FieldSet } from '../structuredmerge/set.ts'
import { configurationErrors } from '../structuredmerge/typecheck.ts'
import { asObject } from '../structuredmerge/typed.ts'
import type { JsonObject, JsonValue } from '../types.ts'
import { own } from '../value/walk.ts'

/** The only manager with this migration; any other name opts out. */
export const KUBECTL = 'kubectl'

function annotationsOf(object: JsonObject): JsonObject | undefined {
  return asObject(asObject(object.metadata)?.annotations)
}

function lastApplied(object: JsonObject): string {
  const annotations = annotationsOf(object)
  const text = own(annotations ?? {}, LAST_APPLIED)
  return typeof text === 'string' ? text : ''
}

function decode(text: string): JsonValue {
  try {
    return parseJson(text).value
  } catch (error) {
    if (error instanceof DecodeError) return null
    throw error
  }
}

/** Returns the annotation's fields that are unchanged in the object; undefined if it is absent, invalid or of another kind. */
export function lastAppliedFields(live: JsonObject, apiVersion: string, schema: ObjectSchema): FieldSet | undefined {
  const text = lastApplied(live)
  const config = text === '' ? undefined : asObject(decode(text))
  if (config?.apiVersion !== apiVersion || config.kind !== live.kind) return undefined
  if (configurationErrors(config, schema) !== undefined) return undefined
  const { added, modified, removed } = compareObjects(config, live, schema)
  return [added, modified, removed].reduce(difference, toFieldSet(config, schema))
}

function withoutAnnotation(config: JsonObject): JsonObject {
  const annotations = annotationsOf(config)
  if (annotations === undefined) return config
  const { [LAST_APPLIED]: _, ...others } = annotations
  return { ...config, metadata: { ...asObject(config.metadata), annotations: others } }
}

/**
 * Updates the object's annotation, if it has one, to the configuration just applied, or removes the annotation if the
 * configuration is too large.
 */
export function updateLastApplied(object: JsonObject, config: JsonObject): JsonObject {
  if (lastApplied(object) === '') return object
  const text = `${encodeGoJson(withoutAnnotation(config))}\n`
  const { [LAST_APPLIED]: _, ...others } = annotationsOf(object) ?? {}
  const annotations = { ...others, [LAST_APPLIED]: text }
  const kept = annotationBytes(annotations) > MAX_ANNOTATION_BYTES ? others : annotations
  return { ...object, metadata: { ...asObject(object.metadata), annotations: kept } }
}
