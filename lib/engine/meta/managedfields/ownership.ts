/**
 * Computes field ownership after a write and the result of server-side apply: merges the configuration, removes the fields
 * that its applier no longer applies, and detects conflicts.
 * Source: sigs.k8s.io/structured-merge-diff merge/update.go.
 */

import type { FieldPath } from '../structuredmerge/element.ts'
import { type Comparison, compareObjects, toFieldSet } from '../structuredmerge/fieldsof.ts'
import { mergeConfiguration, removeFields } from '../structuredmerge/merge.ts'
import {
  difference,
  EMPTY,
  type FieldNode,
  type FieldSet,
  intersection,
  recursiveDifference,
  union,
  unionOf,
  walkPaths,
} from '../structuredmerge/set.ts'
import { type At, asObject, isDeclared, stepSchema } from '../structuredmerge/typed.ts'
import type { JsonObject, JsonValue } from '../types.ts'
import { byBytes } from '../value/byteorder.ts'
import { deepEqual } from '../value/equal.ts'
import type { Manager, Managers } from './managedfields.ts'

/** A field that an apply would change but another manager owns. */
export interface Conflict {
  id: string
  manager: Manager
  path: FieldPath
}

/** Compares the objects, except in the fields that a write cannot change. */
function differences(live: JsonObject, next: JsonObject, schema: At, unreachable: FieldSet): Comparison {
  const { added, modified, removed } = compareObjects(live, next, schema)
  return {
    added: recursiveDifference(added, unreachable),
    modified: recursiveDifference(modified, unreachable),
    removed: recursiveDifference(removed, unreachable),
  }
}

const changed = ({ added, modified }: Comparison): FieldSet => union(modified, added)

/** Removes changed and deleted fields from all managers except the acting one, and drops managers without fields. */
function dropOwnership(managers: Managers, comparison: Comparison, acting: string): Map<string, Manager> {
  const lost = union(changed(comparison), comparison.removed)
  const result = new Map<string, Manager>()
  for (const [id, manager] of managers) {
    const fields = id === acting ? manager.fields : difference(manager.fields, lost)
    if (fields.size > 0) result.set(id, { ...manager, fields })
  }
  return result
}

/**
 * Updates ownership after any write except apply: `taken` contains the added and changed fields. No manager in the result
 * owns them or the removed fields.
 */
export function updateOwnership(
  live: JsonObject,
  updated: JsonObject,
  managers: Managers,
  schema: At,
  unreachable: FieldSet,
): { managers: Map<string, Manager>; taken: FieldSet } {
  const comparison = differences(live, updated, schema, unreachable)
  return { managers: dropOwnership(managers, comparison, ''), taken: changed(comparison) }
}

/** Adds the declared parents of all members: pruning removes an emptied struct with its content, but keeps a map's key. */
function withStructs(set: FieldSet, schema: At): FieldSet {
  const result = new Map<string, FieldNode>()
  for (const [id, node] of set) {
    const { element } = node
    const struct = element.type === 'field' && isDeclared(schema, element.name)
    const below = withStructs(node.below, stepSchema(schema, element))
    result.set(id, { element, member: node.member || (struct && below.size > 0), below })
  }
  return result
}

/**
 * Removes from `merged` the fields in `last` that nobody owns now. Keeps all fields that this manager never applied.
 * A container that loses its content but still has an owner becomes null: validation then rejects the apply (outside of
 * metadata), as kube-apiserver does.
 */
function removeUnowned(merged: JsonObject, last: FieldSet, owned: FieldSet, schema: At): JsonValue {
  const all = withStructs(toFieldSet(merged, schema), schema)
  const mine = withStructs(last, schema)
  const present = (value: JsonValue): FieldSet => withStructs(toFieldSet(value, schema), schema)
  const without = removeFields(merged, mine, schema)
  const kept = union(present(without), withStructs(owned, schema))
  const withOwned = removeFields(merged, difference(all, kept), schema)
  return removeFields(merged, intersection(difference(all, present(withOwned)), mine), schema)
}

function conflictsOf(managers: Managers, taken: FieldSet, acting: string): Conflict[] {
  const others = [...managers].filter(([id]) => id !== acting).sort(([a], [b]) => byBytes(a, b))
  return others.flatMap(([id, manager]) =>
    Array.from(walkPaths(intersection(manager.fields, taken)), (path) => ({ id, manager, path })),
  )
}

/** The result of an apply. `object` is undefined if only ownership changes. */
export type Applied =
  | { type: 'applied'; object: JsonObject | undefined; managers: Map<string, Manager> }
  | { type: 'conflicts'; conflicts: Conflict[] }

/** A validated configuration and the manager that applies it, whose `fields` are ignored. */
interface Application {
  live: JsonObject
  config: JsonObject
  managers: Managers
  id: string
  manager: Manager
  /** Takes fields from other managers instead of reporting conflicts. */
  force: boolean
  schema: At
  /** Fields that the write cannot change; differences in them are ignored. */
  unreachable: FieldSet
}

/**
 * Merges the configuration into the live object and removes the fields that this manager applied before but no longer
 * applies. Unless forced, returns a conflict for each added or changed field that another manager owns.
 */
export function applyConfiguration(application: Application): Applied {
  const { live, config, managers, id, manager, force, schema, unreachable } = application
  const last = managers.get(id)?.fields ?? EMPTY
  const fields = recursiveDifference(toFieldSet(config, schema), unreachable)
  const claimed = new Map(managers).set(id, { ...manager, fields })
  const merged = asObject(mergeConfiguration(live, config, schema)) ?? live
  const next = last.size === 0 ? merged : pruneUnapplied(merged, last, claimed, schema)
  const comparison = differences(live, next, schema, unreachable)
  const conflicts = force ? [] : conflictsOf(claimed, changed(comparison), id)
  if (conflicts.length > 0) return { type: 'conflicts', conflicts }
  const object = deepEqual(live, next) ? undefined : next
  return { type: 'applied', object, managers: dropOwnership(claimed, comparison, id) }
}

function pruneUnapplied(merged: JsonObject, last: FieldSet, claimed: Managers, schema: At): JsonObject {
  const owned = unionOf(Array.from(claimed.values(), ({ fields }) => fields))
  return asObject(removeUnowned(merged, last, owned, schema)) ?? merged
}
