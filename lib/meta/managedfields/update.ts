/**
 * Who owns which fields after a write, and what server-side apply makes of an object: merge, removal of what an applier
 * no longer applies, conflicts.
 * Source: sigs.k8s.io/structured-merge-diff merge/update.go.
 */

import type { FieldPath } from '../structuredmerge/element.ts'
import { type Comparison, compare, toFieldSet } from '../structuredmerge/fieldsof.ts'
import { merge, removeFields } from '../structuredmerge/merge.ts'
import {
  difference,
  EMPTY,
  type FieldNode,
  type FieldSet,
  intersection,
  paths,
  recursiveDifference,
  union,
  unionOf,
} from '../structuredmerge/set.ts'
import { type At, asObject, isDeclared, stepSchema } from '../structuredmerge/typed.ts'
import type { JsonObject, JsonValue } from '../types.ts'
import { byBytes } from '../value/byteorder.ts'
import { deepEqual } from '../value/equal.ts'
import type { Manager, Managers } from './managedfields.ts'

/** Somebody else owns a field that an apply would change. */
export interface Conflict {
  id: string
  manager: Manager
  path: FieldPath
}

/** Fields that a write cannot reach; changes of them do not count. */
export type Unreachable = FieldSet

function differences(live: JsonObject, next: JsonObject, schema: At, unreachable: Unreachable): Comparison {
  const { added, modified, removed } = compare(live, next, schema)
  return {
    added: recursiveDifference(added, unreachable),
    modified: recursiveDifference(modified, unreachable),
    removed: recursiveDifference(removed, unreachable),
  }
}

const changed = ({ added, modified }: Comparison): FieldSet => union(modified, added)

/** Everybody but the acting manager loses what was changed or removed; who owns nothing is no manager. */
function deprive(managers: Managers, comparison: Comparison, acting: string): Map<string, Manager> {
  const lost = union(changed(comparison), comparison.removed)
  const result = new Map<string, Manager>()
  for (const [id, manager] of managers) {
    const fields = id === acting ? manager.fields : difference(manager.fields, lost)
    if (fields.size > 0) result.set(id, { ...manager, fields })
  }
  return result
}

/**
 * After any write but apply: `taken` is what the write added or changed; nobody owns that any more, nor what it removed.
 */
export function afterUpdate(
  live: JsonObject,
  updated: JsonObject,
  managers: Managers,
  schema: At,
  unreachable: Unreachable,
): { managers: Map<string, Manager>; taken: FieldSet } {
  const comparison = differences(live, updated, schema, unreachable)
  return { managers: deprive(managers, comparison, ''), taken: changed(comparison) }
}

/** With every declared field on the way to a member: an emptied struct goes with its content, a key of a map does not. */
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
 * `merged` without what `last` owned and nobody owns now. What this manager never applied stays, whoever owns it.
 * Containers that lose their content but belong to somebody become null: validation then refuses the apply (outside of
 * metadata), as it does in kube-apiserver.
 */
function prune(merged: JsonObject, last: FieldSet, owned: FieldSet, schema: At): JsonValue {
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
    Array.from(paths(intersection(manager.fields, taken)), (path) => ({ id, manager, path })),
  )
}

/** What an apply comes to. `object` is undefined when nothing changes but ownership. */
export type Applied =
  | { type: 'applied'; object: JsonObject | undefined; managers: Map<string, Manager> }
  | { type: 'conflicts'; conflicts: Conflict[] }

/** A configuration that has been validated, and the manager that applies it (`fields` are not looked at). */
export interface Application {
  live: JsonObject
  config: JsonObject
  managers: Managers
  id: string
  manager: Manager
  /** Take fields from others instead of reporting conflicts. */
  force: boolean
  schema: At
  unreachable: Unreachable
}

/**
 * Server-side apply: the live object with the configuration merged in and without what this manager applied before and
 * does not any more. Conflicts, unless forced, are all that others own of what would be added or changed.
 */
export function applyConfiguration(application: Application): Applied {
  const { live, config, managers, id, manager, force, schema, unreachable } = application
  const last = managers.get(id)?.fields ?? EMPTY
  const fields = recursiveDifference(toFieldSet(config, schema), unreachable)
  const claimed = new Map(managers).set(id, { ...manager, fields })
  const merged = asObject(merge(live, config, schema)) ?? live
  const next = last.size === 0 ? merged : pruned(merged, last, claimed, schema)
  const comparison = differences(live, next, schema, unreachable)
  const conflicts = force ? [] : conflictsOf(claimed, changed(comparison), id)
  if (conflicts.length > 0) return { type: 'conflicts', conflicts }
  const object = deepEqual(live, next) ? undefined : next
  return { type: 'applied', object, managers: deprive(claimed, comparison, id) }
}

function pruned(merged: JsonObject, last: FieldSet, claimed: Managers, schema: At): JsonObject {
  const owned = unionOf(Array.from(claimed.values(), ({ fields }) => fields))
  return asObject(prune(merged, last, owned, schema)) ?? merged
}
