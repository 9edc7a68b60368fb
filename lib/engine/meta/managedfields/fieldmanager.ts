/**
 * Maintains field ownership (`metadata.managedFields`) for every write and implements server-side apply.
 * All functions are pure: they do not change their arguments, and their results share parts with them.
 * Source: k8s.io/apimachinery util/managedfields/internal, k8s.io/apiserver endpoints/handlers/fieldmanager.
 */

import { GoDecodeError } from '../encoding/gostruct.ts'
import { quote } from '../encoding/gotext.ts'
import { rfc3339 } from '../encoding/time.ts'
import { applyConflict, badRequest, plainError } from '../errors/status.ts'
import { groupVersion, parseGroupVersion } from '../groupversion.ts'
import { decodeMeta } from '../object/decodemeta.ts'
import type { ObjectSchema } from '../schema/schema.ts'
import { type FieldPath, fieldElement, pathText } from '../structuredmerge/element.ts'
import { difference, EMPTY, hasPath, setOf, union } from '../structuredmerge/set.ts'
import { configurationErrors, isTyped } from '../structuredmerge/typecheck.ts'
import { asObject, isEmptyOrNull } from '../structuredmerge/typed.ts'
import type { GroupVersionKind, JsonObject, JsonValue, KubeObject } from '../types.ts'
import { deepEqual } from '../value/equal.ts'
import { KUBECTL, lastAppliedFields, updateLastApplied } from './lastapplied.ts'
import {
  capUpdaters,
  decodeManagers,
  encodeManagers,
  isReset,
  type Manager,
  type Managers,
  managedFieldsOf,
  managerIdentity,
} from './managedfields.ts'
import { type Applied, applyConfiguration, type Conflict, updateOwnership } from './ownership.ts'

/** The parameters that updates and applies share. */
interface ManagedWrite {
  /** The name from the request or its User-Agent; '' becomes `unknown`. */
  manager: string
  subresource: '' | 'status'
  now: Date
  gvk: GroupVersionKind
  /** The schema of whole objects of the kind: `wholeObject(…)`. */
  schema: ObjectSchema
  /** The stored object; undefined on creation. */
  live: KubeObject | undefined
}

interface UpdateWrite extends ManagedWrite {
  /** The object to store, with the managedFields of the request. */
  updated: KubeObject
}

interface ApplyWrite extends ManagedWrite {
  /** The decoded body of the request. */
  config: JsonObject
  force: boolean
}

const path = (...names: string[]): FieldPath => names.map(fieldElement)

/**
 * The fields that a write to the object, or to its status, cannot own. A status write owns the metadata it sends although
 * it is not stored, as with custom resources.
 */
const UNREACHABLE = {
  '': setOf(path('status')),
  status: setOf(path('spec')),
}

/** Fields without an owner: identity and server-owned fields. */
const NEVER_OWNED = setOf(
  path('apiVersion'),
  path('kind'),
  path('metadata'),
  ...[
    'name',
    'namespace',
    'creationTimestamp',
    'selfLink',
    'uid',
    'clusterName',
    'generation',
    'managedFields',
    'resourceVersion',
  ].map((name) => path('metadata', name)),
)

const BEFORE_FIRST_APPLY = 'before-first-apply'

const actor = (
  { manager, subresource, gvk }: ManagedWrite,
  operation: 'Apply' | 'Update',
): Omit<Manager, 'fields' | 'time'> => ({
  manager: manager || 'unknown',
  operation,
  apiVersion: groupVersion(gvk),
  subresource,
})

/** Returns the object without managedFields, which have no owner and are not compared. */
function plainObject(object: KubeObject | undefined, { gvk }: ManagedWrite): JsonObject {
  if (object === undefined) return { apiVersion: groupVersion(gvk), kind: gvk.kind }
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata }
}

const requestedFields = (object: KubeObject | undefined): JsonValue | undefined => object && managedFieldsOf(object)

function withManagers(object: JsonObject, managers: Managers): KubeObject {
  const { managedFields: _, ...metadata } = asObject(object.metadata) ?? {}
  const managedFields = encodeManagers(managers)
  const written = { ...object, metadata: { ...metadata, ...(managedFields.length > 0 && { managedFields }) } }
  return written as KubeObject
}

/** Returns the managers before an update: those in the request unless it writes a subresource, otherwise the stored ones. */
function managersBefore({ live, updated, subresource, gvk, schema }: UpdateWrite): Managers {
  const stored = () => decodeManagers(requestedFields(live), groupVersion(gvk), schema) ?? new Map()
  if (subresource !== '') return stored()
  const requested = requestedFields(updated)
  if (isReset(requested)) return new Map()
  const managers = decodeManagers(requested, groupVersion(gvk), schema)
  return managers === undefined || managers.size === 0 ? stored() : managers
}

/** Assigns the fields that differ between `live` and `updated` to the acting manager. */
function takeOwnership(live: JsonObject, updated: JsonObject, managers: Managers, write: ManagedWrite): Managers {
  const { managers: others, taken } = updateOwnership(
    live,
    updated,
    managers,
    write.schema,
    UNREACHABLE[write.subresource],
  )
  const fields = difference(taken, NEVER_OWNED)
  const acting = actor(write, 'Update')
  const id = managerIdentity(acting)
  if (fields.size > 0) {
    const previous = others.get(id)?.fields ?? EMPTY
    others.set(id, { ...acting, time: rfc3339(write.now), fields: union(fields, previous) })
  }
  return capUpdaters(others)
}

/**
 * Sets the managedFields of `updated` after a create, PUT, JSON patch or merge patch. A stored object without managedFields
 * remains untracked: only creation and the first apply start tracking. The result has no managedFields if a value has
 * a type other than its schema's, even in a part that this write does not store. The same applies to an object of
 * another kind, or with managers of another version.
 */
export function updateManagers(write: UpdateWrite): KubeObject {
  const { live, updated, schema } = write
  const before = managersBefore(write)
  const untracked = before.size === 0 && live !== undefined
  const next = plainObject(updated, write)
  const version = groupVersion(write.gvk)
  const isForeign = updated.apiVersion !== version || updated.kind !== write.gvk.kind
  const hasForeign = [...before.values()].some(({ apiVersion }) => apiVersion !== version)
  if (isForeign || hasForeign || !isTyped(next, schema)) return withManagers(next, new Map())
  return withManagers(next, untracked ? before : takeOwnership(plainObject(live, write), next, before, write))
}

const printed = ({ group, version, kind }: GroupVersionKind): string =>
  `${group ? `${group}/${version}` : `/${version}`}, Kind=${kind}`

function kindOf({ apiVersion, kind }: JsonObject): GroupVersionKind {
  const text = typeof apiVersion === 'string' ? apiVersion : ''
  if (text.split('/').length > 2) return { group: '', version: '', kind: '' }
  return { ...parseGroupVersion(text), kind: typeof kind === 'string' ? kind : '' }
}

const isLeftOut = (value: JsonValue | undefined): boolean => value === undefined || value === null || value === ''

/**
 * Adds the endpoint's apiVersion and kind where the configuration omits them. An empty configuration stays empty and is
 * rejected: it would remove everything that its manager has applied.
 */
function ofType(config: JsonObject, gvk: GroupVersionKind): JsonObject {
  if (Object.keys(config).length === 0) return config
  return {
    ...config,
    ...(isLeftOut(config.apiVersion) && { apiVersion: groupVersion(gvk) }),
    ...(isLeftOut(config.kind) && { kind: gvk.kind }),
  }
}

/** Reports whether Go decodes the value as managedFields: one invalid entry invalidates the list. */
function areEntries(managedFields: JsonValue | undefined): boolean {
  if (!Array.isArray(managedFields) || !managedFields.every((one) => asObject(one))) return false
  try {
    decodeMeta({ managedFields })
    return true
  } catch (error) {
    if (error instanceof GoDecodeError) return false
    throw error
  }
}

function validateConfig({ config, gvk, schema }: ApplyWrite): void {
  if (printed(kindOf(ofType(config, gvk))) !== printed(gvk)) {
    throw badRequest(`invalid object type: ${printed(kindOf(config))}`)
  }
  const metadata = asObject(config.metadata) ?? {}
  if (areEntries(metadata.managedFields)) throw badRequest('metadata.managedFields must be nil')
  const errors = configurationErrors(config, schema)
  if (errors === undefined) return
  const [namespace, name] = [metadata.namespace, metadata.name].map((one) => (typeof one === 'string' ? one : ''))
  throw plainError(`failed to create typed patch object (${namespace}/${name}; ${printed(gvk)}): ${errors}`)
}

function managerText({ manager, operation, apiVersion, subresource }: Manager): string {
  const where = subresource ? ` with subresource ${quote(subresource)}` : ''
  return `${quote(manager)}${where}${operation === 'Update' ? ` using ${apiVersion}` : ''}`
}

/** Groups the conflicts by manager; they arrive sorted. */
function conflictMessage(conflicts: readonly Conflict[]): string {
  const [first] = conflicts
  if (first && conflicts.length === 1) {
    return `Apply failed with 1 conflict: conflict with ${managerText(first.manager)}: ${pathText(first.path)}`
  }
  const lines = conflicts.flatMap(({ id, manager, path }, i) => [
    ...(conflicts[i - 1]?.id === id ? [] : [`conflicts with ${managerText(manager)}:`]),
    `- ${pathText(path)}`,
  ])
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`
}

function refuse(conflicts: readonly Conflict[]): never {
  const causes = conflicts.map(({ manager, path }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${managerText(manager)}`,
    field: pathText(path),
  }))
  throw applyConflict(conflictMessage(conflicts), causes)
}

/** Merges the configuration. kubectl takes over the fields that it applied client-side before, without a conflict. */
function mergeApplied(write: ApplyWrite, live: JsonObject, managers: Managers): Applied {
  const { config, manager, force, schema, subresource, gvk } = write
  const acting: Manager = { ...actor(write, 'Apply'), fields: EMPTY }
  const id = managerIdentity(acting)
  const previous = managers.get(id)
  const timed = { ...acting, time: previous?.time }
  const unreachable = UNREACHABLE[subresource]
  const application = { live, config, managers, id, manager: timed, schema, unreachable }
  const result = applyConfiguration({ ...application, force })
  if (result.type === 'applied' || manager !== KUBECTL) return result
  const own = lastAppliedFields(live, groupVersion(gvk), schema)
  const conflicts = own ? result.conflicts.filter(({ path }) => !hasPath(own, path)) : result.conflicts
  return conflicts.length > 0 ? { type: 'conflicts', conflicts } : applyConfiguration({ ...application, force: true })
}

/** Drops null and empty members of metadata, as Kubernetes does. */
function tidy(object: JsonObject): JsonObject {
  const metadata = Object.entries(asObject(object.metadata) ?? {})
  return { ...object, metadata: Object.fromEntries(metadata.filter(([, value]) => !isEmptyOrNull(value))) }
}

/**
 * Applies a configuration to the live object. Throws 400 for a configuration of another kind or with managedFields, and
 * 409 with all conflicts. Throws 500, as Kubernetes does, for one that does not match its schema. Merges status,
 * resourceVersion and uid like other fields; the caller interprets them. Sets the entry's time to `now` only if the
 * object changes.
 */
export function serverSideApply(write: ApplyWrite): KubeObject {
  validateConfig(write)
  const { live, config, manager, gvk, schema, now } = write
  const before = plainObject(live, write)
  const stored = decodeManagers(requestedFields(live), groupVersion(gvk), schema)
  if (stored === undefined) throw plainError('failed to decode managed fields')
  const first = { ...write, manager: BEFORE_FIRST_APPLY }
  const managers = stored.size > 0 ? stored : takeOwnership(plainObject(undefined, write), before, stored, first)
  const result = mergeApplied(write, before, managers)
  if (result.type === 'conflicts') refuse(result.conflicts)
  const id = managerIdentity(actor(write, 'Apply'))
  const acting = result.managers.get(id)
  if (acting) {
    const fields = difference(acting.fields, NEVER_OWNED)
    if (fields.size === 0) result.managers.delete(id)
    else result.managers.set(id, { ...acting, fields, time: result.object ? rfc3339(now) : acting.time })
  }
  const object = tidy(result.object ?? before)
  return withManagers(manager === KUBECTL ? updateLastApplied(object, config) : object, result.managers)
}

/**
 * Reports whether two states of an object differ at most in the times of their managedFields: such a write is a no-op, and
 * the old object remains.
 */
export function sameButForTimes(old: KubeObject, next: KubeObject): boolean {
  const timeless = ({ metadata: { managedFields, ...metadata }, ...rest }: KubeObject) => ({
    ...rest,
    metadata: { ...metadata, managedFields: (managedFields ?? []).map(({ time: _, ...entry }) => entry) },
  })
  return deepEqual(timeless(old), timeless(next))
}
