/**
 * Defines the Kubernetes API objects as they appear in JSON.
 * Those that are read and written as plain JSON are types, not interfaces: TypeScript assigns only a type to `JsonObject`.
 * Source: specification section 2, k8s.io/apimachinery meta/v1.
 */

/** A JSON value. Integers outside ±(2^53-1) are `bigint`, so that every int64 survives a round trip exactly. */
export type JsonValue = null | boolean | number | bigint | string | JsonValue[] | JsonObject

/** A JSON object. Members are always own properties; the decoder rejects a member named `__proto__`. */
export interface JsonObject {
  [member: string]: JsonValue
}

/** Identifies a kind of object by its `apiVersion` and `kind`. */
export interface GroupVersionKind {
  group: string
  version: string
  kind: string
}

/** Identifies a resource without its version, as error messages do: `lamps.example.test`. */
export interface GroupResource {
  group: string
  resource: string
}

export type OwnerReference = {
  apiVersion: string
  kind: string
  name: string
  uid: string
  controller?: boolean
  blockOwnerDeletion?: boolean
}

export type ManagedFieldsEntry = {
  manager?: string
  operation?: 'Apply' | 'Update'
  apiVersion?: string
  /** RFC 3339, in whole seconds, UTC. */
  time?: string
  fieldsType?: 'FieldsV1'
  fieldsV1?: JsonObject
  subresource?: string
}

/** Specification section 2.2. All times are RFC 3339 strings in UTC, in whole seconds. */
export type ObjectMeta = {
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

/** An API object of any kind. The kind's schema describes `spec` and `status`. */
export type KubeObject = {
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

/** The response that carries no object: an error, or a successful delete. */
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
