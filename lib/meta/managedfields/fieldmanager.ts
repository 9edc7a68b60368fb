/**
 * Field management of every write: who owns what afterwards (`metadata.managedFields`), and server-side apply.
 * Pure; objects that are passed in stay as they are, objects that come back share parts with them.
 * Source: k8s.io/apimachinery util/managedfields/internal, k8s.io/apiserver endpoints/handlers/fieldmanager.
 */

import { GoDecodeError } from '../encoding/gostruct.ts'
import { quoted } from '../encoding/gotext.ts'
import { rfc3339 } from '../encoding/time.ts'
import { applyConflict, badRequest, plainError } from '../errors/status.ts'
import { groupVersion, parseGroupVersion } from '../groupversion.ts'
import { decodeMeta } from '../object/decode.ts'
import type { ObjectSchema } from '../schema/schema.ts'
import { type FieldPath, fieldElement, pathText } from '../structuredmerge/element.ts'
import { difference, EMPTY, has, setOf, union } from '../structuredmerge/set.ts'
import { asObject, isEmpty } from '../structuredmerge/typed.ts'
import { configurationErrors, isTyped } from '../structuredmerge/validate.ts'
import type { GroupVersionKind, JsonObject, JsonValue, KubeObject } from '../types.ts'
import { deepEqual } from '../value/equal.ts'
import { clientSideApplied, followApplied, KUBECTL } from './lastapplied.ts'
import {
  capUpdaters,
  decodeManagers,
  encodeManagers,
  identity,
  isReset,
  type Manager,
  type Managers,
  managedFieldsOf,
} from './managedfields.ts'
import { type Applied, afterUpdate, applyConfiguration, type Conflict } from './update.ts'

/** What both kinds of writes say. */
interface Write {
  /** Of the request or its User-Agent; '' becomes `unknown`. */
  manager: string
  subresource: '' | 'status'
  now: Date
  gvk: GroupVersionKind
  /** Of whole objects of the kind: `wholeObject(…)`. */
  schema: ObjectSchema
}

export interface UpdateWrite extends Write {
  /** What is stored, undefined on creation. */
  live: KubeObject | undefined
  /** What is to be stored; its managedFields are what the request says of them. */
  updated: KubeObject
}

export interface ApplyWrite extends Write {
  live: KubeObject | undefined
  /** The decoded body of the request. */
  config: JsonObject
  force: boolean
}

const path = (...names: string[]): FieldPath => names.map(fieldElement)

/**
 * What a write to the object, or to its status, cannot own. Metadata that comes with a status is not stored, and is
 * owned nevertheless: so it is with custom resources.
 */
const UNREACHABLE = {
  '': setOf(path('status')),
  status: setOf(path('spec')),
}

/** What nobody owns: identity, and what only the server writes. */
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
  { manager, subresource, gvk }: Write,
  operation: 'Apply' | 'Update',
): Omit<Manager, 'fields' | 'time'> => ({
  manager: manager || 'unknown',
  operation,
  apiVersion: groupVersion(gvk),
  subresource,
})

/** As plain JSON, without its managedFields: nobody owns them, and they are no part of what is compared. */
function plainObject(object: KubeObject | undefined, { gvk }: Write): JsonObject {
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

/** The managers before an update: those the request names on the object itself, else the stored ones. */
function managersBefore({ live, updated, subresource, gvk, schema }: UpdateWrite): Managers {
  const stored = () => decodeManagers(requestedFields(live), groupVersion(gvk), schema) ?? new Map()
  if (subresource !== '') return stored()
  const requested = requestedFields(updated)
  if (isReset(requested)) return new Map()
  const managers = decodeManagers(requested, groupVersion(gvk), schema)
  return managers === undefined || managers.size === 0 ? stored() : managers
}

/** Books what the change from `live` to `updated` touches on the acting manager. */
function book(live: JsonObject, updated: JsonObject, managers: Managers, write: Write): Managers {
  const { managers: others, taken } = afterUpdate(live, updated, managers, write.schema, UNREACHABLE[write.subresource])
  const fields = difference(taken, NEVER_OWNED)
  const acting = actor(write, 'Update')
  const id = identity(acting)
  if (fields.size > 0) {
    const previous = others.get(id)?.fields ?? EMPTY
    others.set(id, { ...acting, time: rfc3339(write.now), fields: union(fields, previous) })
  }
  return capUpdaters(others)
}

/**
 * `updated` with the managedFields that it has after a create, PUT, JSON or merge patch. An object that is stored
 * without any stays so: only creation and the first apply start tracking. One with values of other types than the
 * schema's has none, even where the values are in a part that this write does not store; nor one that is said to be of
 * another kind, or to have managers of another version.
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
  return withManagers(next, untracked ? before : book(plainObject(live, write), next, before, write))
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
 * The configuration with what the endpoint says of its type in the place of what is left out. One without any member says
 * nothing: it would take away all that its manager has applied.
 */
function ofType(config: JsonObject, gvk: GroupVersionKind): JsonObject {
  if (Object.keys(config).length === 0) return config
  return {
    ...config,
    ...(isLeftOut(config.apiVersion) && { apiVersion: groupVersion(gvk) }),
    ...(isLeftOut(config.kind) && { kind: gvk.kind }),
  }
}

/** Whether Go reads it as the managers of an object: where one is none, there are none. */
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
  const where = subresource ? ` with subresource ${quoted(subresource)}` : ''
  return `${quoted(manager)}${where}${operation === 'Update' ? ` using ${apiVersion}` : ''}`
}

/** Conflicts come sorted by manager, so those of one stand together. */
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

/** kubectl takes over what it applied on the client side before; what remains are the conflicts. */
function merged(write: ApplyWrite, live: JsonObject, managers: Managers): Applied {
  const { config, manager, force, schema, subresource, gvk } = write
  const acting: Manager = { ...actor(write, 'Apply'), fields: EMPTY }
  const id = identity(acting)
  const previous = managers.get(id)
  const timed = { ...acting, time: previous?.time }
  const unreachable = UNREACHABLE[subresource]
  const application = { live, config, managers, id, manager: timed, schema, unreachable }
  const result = applyConfiguration({ ...application, force })
  if (result.type === 'applied' || manager !== KUBECTL) return result
  const own = clientSideApplied(live, groupVersion(gvk), schema)
  const conflicts = own ? result.conflicts.filter(({ path }) => !has(own, path)) : result.conflicts
  return conflicts.length > 0 ? { type: 'conflicts', conflicts } : applyConfiguration({ ...application, force: true })
}

/** As Kubernetes reads metadata: a member that is null or has no content is none. */
function tidied(object: JsonObject): JsonObject {
  const metadata = Object.entries(asObject(object.metadata) ?? {})
  return { ...object, metadata: Object.fromEntries(metadata.filter(([, value]) => !isEmpty(value))) }
}

/**
 * The object that an apply makes of the live one. Throws 400 for a body of another kind or with managedFields, 500 (as
 * Kubernetes does) for one that does not fit its schema, 409 with all conflicts. Status, resourceVersion and uid are
 * merged as applied: what they mean is up to the caller. The entry's time is `now` only if the object changes.
 */
export function apply(write: ApplyWrite): KubeObject {
  validateConfig(write)
  const { live, config, manager, gvk, schema, now } = write
  const before = plainObject(live, write)
  const stored = decodeManagers(requestedFields(live), groupVersion(gvk), schema)
  if (stored === undefined) throw plainError('failed to decode managed fields')
  const first = { ...write, manager: BEFORE_FIRST_APPLY }
  const managers = stored.size > 0 ? stored : book(plainObject(undefined, write), before, stored, first)
  const result = merged(write, before, managers)
  if (result.type === 'conflicts') refuse(result.conflicts)
  const id = identity(actor(write, 'Apply'))
  const acting = result.managers.get(id)
  if (acting) {
    const fields = difference(acting.fields, NEVER_OWNED)
    if (fields.size === 0) result.managers.delete(id)
    else result.managers.set(id, { ...acting, fields, time: result.object ? rfc3339(now) : acting.time })
  }
  const object = tidied(result.object ?? before)
  return withManagers(manager === KUBECTL ? followApplied(object, config) : object, result.managers)
}

/**
 * Whether two states of an object differ in nothing but the times of their managedFields: such a write is none, and the
 * old object stands.
 */
export function sameButForTimes(old: KubeObject, next: KubeObject): boolean {
  const timeless = ({ metadata: { managedFields, ...metadata }, ...rest }: KubeObject) => ({
    ...rest,
    metadata: { ...metadata, managedFields: (managedFields ?? []).map(({ time: _, ...entry }) => entry) },
  })
  return deepEqual(timeless(old), timeless(next))
}
