/**
 * Decodes `metadata` as Go decodes JSON into the struct ObjectMeta.
 * Source: k8s.io/apimachinery/pkg/apis/meta/v1/types.go.
 */
import { decodeGoStruct, type GoStruct, type GoType } from '../encoding/gostruct.ts'
import type { JsonValue, ObjectMeta } from '../types.ts'

const text: GoType = { kind: 'string', type: 'string' }
/** A string that is encoded even when empty. */
const requiredText: GoType = { kind: 'string', type: 'string', keepZero: true }
const uid: GoType = { kind: 'string', type: 'types.UID' }
const flag: GoType = { kind: 'bool', type: 'bool', keepZero: true }
const time: GoType = { kind: 'time', type: 'string' }
const texts: GoType = { kind: 'list', type: '[]string', items: requiredText }
const textMap: GoType = { kind: 'map', type: 'map[string]string', items: requiredText }

const ownerReference: GoStruct = {
  kind: 'struct',
  type: 'v1.OwnerReference',
  fields: {
    apiVersion: requiredText,
    kind: requiredText,
    name: requiredText,
    uid: { ...uid, keepZero: true },
    controller: flag,
    blockOwnerDeletion: flag,
  },
}

const managedFieldsEntry: GoStruct = {
  kind: 'struct',
  type: 'v1.ManagedFieldsEntry',
  fields: {
    manager: text,
    operation: { kind: 'string', type: 'v1.ManagedFieldsOperationType' },
    apiVersion: text,
    time,
    fieldsType: text,
    fieldsV1: { kind: 'raw', type: 'v1.FieldsV1' },
    subresource: text,
  },
}

const objectMeta: GoStruct = {
  kind: 'struct',
  type: 'v1.ObjectMeta',
  fields: {
    name: text,
    generateName: text,
    namespace: text,
    selfLink: text,
    uid,
    resourceVersion: text,
    generation: { kind: 'int64', type: 'int64' },
    creationTimestamp: time,
    deletionTimestamp: time,
    deletionGracePeriodSeconds: { kind: 'int64', type: 'int64', keepZero: true },
    labels: textMap,
    annotations: textMap,
    ownerReferences: { kind: 'list', type: '[]v1.OwnerReference', items: ownerReference },
    finalizers: texts,
    managedFields: { kind: 'list', type: '[]v1.ManagedFieldsEntry', items: managedFieldsEntry },
  },
}

/**
 * Decodes the `metadata` of a body; absent and null values become empty metadata. Drops selfLink, which has been unused since
 * Kubernetes 1.20. The result shares nothing with the input. Throws GoDecodeError with Go's message. With `lenient`, it omits
 * malformed members instead, as for the result of an apply, whose types have been checked already. `unknown` contains at most
 * 100 paths from the root (`metadata.ownerReferences[0].foo`).
 */
export function decodeMeta(
  value: JsonValue | undefined,
  { lenient = false } = {},
): { metadata: ObjectMeta; unknown: string[] } {
  const { value: decoded, unknown } = decodeGoStruct(value ?? null, objectMeta, { path: 'metadata', lenient })
  const { selfLink: _, ...metadata } = decoded
  // The table above has the members and types of ObjectMeta.
  return { metadata: metadata as ObjectMeta, unknown }
}
