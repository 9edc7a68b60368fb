/**
 * Decodes and encodes `metadata.managedFields`, and limits the number of its managers.
 * Source: k8s.io/apimachinery util/managedfields/internal (managedfields.go, capmanagers.go).
 */

import { decodeTime, normalizeTime, TimeParseError } from '../encoding/time.ts'
import { fieldElement } from '../structuredmerge/element.ts'
import { FieldsV1Error, parseFieldsV1, serializeFieldsV1 } from '../structuredmerge/fieldsv1.ts'
import { EMPTY, type FieldNode, type FieldSet, recursiveDifference, setOf, unionOf } from '../structuredmerge/set.ts'
import { type At, asList, asObject, isLeaf, stepSchema } from '../structuredmerge/typed.ts'
import type { JsonObject, JsonValue, ManagedFieldsEntry } from '../types.ts'
import { byBytes } from '../value/byteorder.ts'

/** One owner of fields. Members that the entry omits are ''; `time` is in RFC 3339. */
export interface Manager {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  readonly apiVersion: string
  readonly subresource: string
  readonly time?: string | undefined
  readonly fields: FieldSet
}

/** Managers by identity. */
export type Managers = ReadonlyMap<string, Manager>

/** Returns the identity of a manager. It omits an applier's version, so that an applier keeps its fields across versions. */
export const managerIdentity = ({
  manager,
  operation,
  apiVersion,
  subresource,
}: Omit<Manager, 'fields' | 'time'>): string =>
  JSON.stringify({
    ...(manager && { manager }),
    operation,
    ...(operation === 'Update' && { apiVersion }),
    ...(subresource && { subresource }),
  })

/**
 * Restricts a decoded set to the fields that can be owned: drops write-only fields, and replaces fields inside an atomic
 * list or map by the whole, which may have been granular when the set was written.
 */
function ownable(set: FieldSet, schema: At): FieldSet {
  const result = new Map<string, FieldNode>()
  for (const [id, node] of set) {
    const at = stepSchema(schema, node.element)
    if (at?.writeOnly !== undefined) continue
    if (at !== undefined && isLeaf(at)) {
      result.set(id, { element: node.element, member: true, below: new Map() })
      continue
    }
    const below = ownable(node.below, at)
    if (node.member || below.size > 0) result.set(id, { ...node, below })
  }
  return result
}

const textOrNothing = (value: JsonValue | undefined): string | undefined =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : undefined

function decodeEntry(value: JsonValue, schema: At): Manager | undefined {
  const entry = asObject(value)
  if (entry === undefined || entry.fieldsType !== 'FieldsV1') return undefined
  const { operation, apiVersion } = entry
  const [manager, subresource, time] = [entry.manager, entry.subresource, entry.time].map(textOrNothing)
  if (manager === undefined || subresource === undefined || time === undefined) return undefined
  if ((operation !== 'Apply' && operation !== 'Update') || typeof apiVersion !== 'string' || !apiVersion)
    return undefined
  try {
    const fields = ownable(parseFieldsV1(entry.fieldsV1 ?? null), schema)
    return { manager, operation, apiVersion, subresource, time: time ? normalizeTime(time) : undefined, fields }
  } catch (error) {
    if (error instanceof FieldsV1Error || error instanceof TimeParseError) return undefined
    throw error
  }
}

/**
 * Decodes a list of entries, including entries without fields. Returns undefined if any entry is invalid. If several
 * entries share an identity, the last one wins. Entries of a version other than `apiVersion` own nothing, because their
 * fields are no longer served.
 */
export function decodeManagers(list: JsonValue | undefined, apiVersion: string, schema: At): Managers | undefined {
  const result = new Map<string, Manager>()
  if (list === undefined || list === null) return result
  for (const entry of asList(list) ?? [null]) {
    const manager = decodeEntry(entry, schema)
    if (manager === undefined) return undefined
    result.set(managerIdentity(manager), manager.apiVersion === apiVersion ? manager : { ...manager, fields: EMPTY })
  }
  return result
}

/** Reports whether a request resets ownership: it sends a list with a single empty entry. */
export function isReset(list: JsonValue | undefined): boolean {
  const [entry, ...others] = asList(list) ?? []
  const members = asObject(entry)
  return members !== undefined && others.length === 0 && Object.keys(members).length === 0
}

const seconds = ({ time }: Manager): number => (time === undefined ? 0 : decodeTime(time).getTime() / 1000)

interface Timed {
  id: string
  manager: Manager
  /** Unix time in seconds, parsed once for sorting. */
  at: number
}

const timed = (managers: Managers): Timed[] =>
  Array.from(managers, ([id, manager]) => ({ id, manager, at: seconds(manager) }))

const inOutputOrder = (one: Timed, other: Timed): number => {
  const [a, b] = [one.manager, other.manager]
  return (
    byBytes(a.operation, b.operation) ||
    one.at - other.at ||
    byBytes(a.manager, b.manager) ||
    byBytes(a.apiVersion, b.apiVersion) ||
    byBytes(a.subresource, b.subresource)
  )
}

/** Encodes the managers in Kubernetes' order: Apply before Update, then the oldest first. */
export const encodeManagers = (managers: Managers): ManagedFieldsEntry[] =>
  timed(managers)
    .filter(({ manager: { fields } }) => fields.size > 0)
    .sort(inOutputOrder)
    .map(({ manager: { manager, operation, apiVersion, subresource, time, fields } }) => ({
      ...(manager && { manager }),
      operation,
      apiVersion,
      ...(time !== undefined && { time }),
      fieldsType: 'FieldsV1',
      fieldsV1: serializeFieldsV1(fields),
      ...(subresource && { subresource }),
    }))

/** Returns the entries of a field that the server removes from an object: an apply of it would conflict with who owned it. */
export function disown(entries: readonly ManagedFieldsEntry[], ...path: string[]): ManagedFieldsEntry[] {
  const gone = setOf(path.map(fieldElement))
  return entries.flatMap((entry) => {
    const left = recursiveDifference(parseFieldsV1(entry.fieldsV1 ?? {}), gone)
    return left.size > 0 ? [{ ...entry, fieldsV1: serializeFieldsV1(left) }] : []
  })
}

const MAX_UPDATERS = 10
const BUCKET = 'ancient-changes'

/**
 * Limits Update managers to ten: merges the oldest into one called `ancient-changes`, with the time of the newest among
 * them. Apply managers do not count.
 */
export function capUpdaters(managers: Managers): Managers {
  const updaters = timed(managers).filter(({ manager }) => manager.operation === 'Update')
  if (updaters.length <= MAX_UPDATERS) return managers
  updaters.sort((a, b) => a.at - b.at || byBytes(a.id, b.id))
  const result = new Map(managers)
  const [oldest, ...rest] = updaters
  if (oldest === undefined) return managers
  const bucket: Manager = { ...oldest.manager, manager: BUCKET, subresource: '' }
  const bucketId = managerIdentity(bucket)
  const taken: FieldSet[] = []
  for (const { id, manager } of rest.slice(0, updaters.length - MAX_UPDATERS)) {
    const known = result.get(bucketId)
    // If the bucket is younger than the oldest manager, merge that manager into the bucket, never the bucket itself.
    const gone = known === undefined || id === bucketId ? oldest : { id, manager }
    if (taken.length === 0) taken.push((known ?? manager).fields)
    taken.push(gone.manager.fields)
    result.delete(gone.id)
    result.delete(id)
    result.set(bucketId, { ...bucket, time: manager.time, fields: EMPTY })
  }
  const time = result.get(bucketId)?.time
  return result.set(bucketId, { ...bucket, time, fields: unionOf(taken) })
}

/** Returns the managedFields of an object, which a client may have sent: any JSON. */
export const managedFieldsOf = (object: JsonObject): JsonValue | undefined => asObject(object.metadata)?.managedFields
