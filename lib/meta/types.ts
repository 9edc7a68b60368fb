/**
 * The shapes of Kubernetes API objects as they travel as JSON.
 * Source: specification section 2, k8s.io/apimachinery meta/v1.
 */

/** A JSON value. Integers outside ±(2^53-1) are `bigint`, so that every int64 survives a round trip exactly. */
export type JsonValue = null | boolean | number | bigint | string | JsonValue[] | JsonObject

/** A JSON object. Members are always own properties; the decoder refuses a member named `__proto__`. */
export interface JsonObject {
  [member: string]: JsonValue
}

/** Names a kind of object: what `apiVersion` and `kind` say together. */
export interface GroupVersionKind {
  group: string
  version: string
  kind: string
}

/** Names a resource without its version, as error texts do: `ownedaccesskeys.management.platform`. */
export interface GroupResource {
  group: string
  resource: string
}

export interface OwnerReference {
  apiVersion: string
  kind: string
  name: string
  uid: string
  controller?: boolean
  blockOwnerDeletion?: boolean
}

export interface ManagedFieldsEntry {
  manager?: string
  operation?: 'Apply' | 'Update'
  apiVersion?: string
  /** RFC 3339, whole seconds, UTC. */
  time?: string
  fieldsType?: 'FieldsV1'
  fieldsV1?: JsonObject
  subresource?: string
}

/** Specification section 2.2. All times are RFC 3339 text, UTC, whole seconds. */
export interface ObjectMeta {
  name?: string
  generateName?: string
  namespace?: string
  uid?: string
  resourceVersion?: string
  generation?: number
  creationTimestamp?: string
  deletionTimestamp?: string
  deletionGracePeriodSeconds?: number
  labels?: Record<string, string>
  annotations?: Record<string, string>
  ownerReferences?: OwnerReference[]
  finalizers?: string[]
  managedFields?: ManagedFieldsEntry[]
}

/** Any object of the API. `spec` and `status` are as the kind's schema describes them. */
export interface KubeObject {
  apiVersion: string
  kind: string
  metadata: ObjectMeta
  spec?: JsonObject
  status?: JsonObject
}

export interface StatusCause {
  reason?: string
  message?: string
  field?: string
}

export interface StatusDetails {
  name?: string
  group?: string
  kind?: string
  uid?: string
  causes?: StatusCause[]
  retryAfterSeconds?: number
}

/** The answer to everything that is not an object: errors, and successful deletes. */
export interface Status {
  kind: 'Status'
  apiVersion: 'v1'
  metadata: { continue?: string }
  status: 'Success' | 'Failure'
  message?: string
  reason?: string
  details?: StatusDetails
  code?: number
}
