/**
 * Computes the field set of an object and the differences between two objects.
 * Source: sigs.k8s.io/structured-merge-diff typed/tofieldset.go, typed/compare.go.
 */

import type { ListSchema } from '../schema/schema.ts'
import type { JsonValue } from '../types.ts'
import { deepEqual } from '../value/equal.ts'
import { own } from '../value/walk.ts'
import type { FieldPath } from './element.ts'
import { type FieldSet, type GrowingSet, insert } from './set.ts'
import { type At, asList, asObject, byElement, isDeclared, isEmptyOrNull, isLeaf, visibleMembers } from './typed.ts'

function addListFields(value: JsonValue, schema: ListSchema, path: FieldPath, set: GrowingSet): void {
  for (const { element, items } of byElement(schema, asList(value) ?? []).values()) {
    const [first] = items
    if (items.length === 1 && first !== undefined) addFields(first, schema.items, [...path, element], set)
    insert(set, [...path, element])
  }
}

function addMemberFields(value: JsonValue, schema: At, path: FieldPath, set: GrowingSet): void {
  const members = asObject(value) ?? {}
  for (const { name, element, at } of visibleMembers(schema, Object.keys(members))) {
    const one = members[name] ?? null
    const inner = [...path, element]
    addFields(one, at, inner, set)
    const emptyMap = one === null || (asObject(one) !== undefined && isEmptyOrNull(one))
    if (emptyMap || !isDeclared(schema, name)) insert(set, inner)
  }
}

function addFields(value: JsonValue, schema: At, path: FieldPath, set: GrowingSet): void {
  if (isLeaf(schema)) insert(set, path)
  else if (schema?.type === 'list') addListFields(value, schema, path, set)
  else addMemberFields(value, schema, path, set)
}

/**
 * Returns the fields of a configuration, which its applier owns: leaves, empty maps, list items and map keys. Containers
 * with content are implied. Duplicate list items form one leaf.
 */
export function toFieldSet(value: JsonValue, schema: At): FieldSet {
  const set: GrowingSet = new Map()
  addFields(value, schema, [], set)
  return set
}

/** Paths that only the second object has, paths whose values differ, and paths that only the first object has. */
export interface Comparison {
  added: FieldSet
  modified: FieldSet
  removed: FieldSet
}

type Growing = Record<keyof Comparison, GrowingSet>

type Maybe = JsonValue | undefined

function compareLeaf(a: Maybe, b: Maybe, path: FieldPath, result: Growing): void {
  if (a === undefined) insert(result.added, path)
  else if (b === undefined) insert(result.removed, path)
  else if (!deepEqual(a, b)) insert(result.modified, path)
}

/** Compares lists item by item, but duplicates as one leaf. */
function compareItems(a: Maybe, b: Maybe, schema: ListSchema, path: FieldPath, result: Growing): void {
  const before = byElement(schema, asList(a) ?? [])
  const after = byElement(schema, asList(b) ?? [])
  for (const [id, { element }] of new Map([...before, ...after])) {
    const [old, now] = [before.get(id)?.items ?? [], after.get(id)?.items ?? []]
    const inner = [...path, element]
    if (old.length <= 1 && now.length <= 1) {
      compareNodes(old[0], now[0], schema.items, inner, result)
    } else if (old.length > 1 && now.length > 1) {
      if (!deepEqual(old, now)) insert(result.modified, inner)
    } else if (old.length > 1) {
      if (now.length === 1) compareNodes(undefined, now[0], schema.items, inner, result)
      insert(result.removed, inner)
    } else {
      if (old.length === 1) compareNodes(old[0], undefined, schema.items, inner, result)
      insert(result.added, inner)
    }
  }
}

function compareMembers(a: Maybe, b: Maybe, schema: At, path: FieldPath, result: Growing): void {
  const [before, after] = [asObject(a) ?? {}, asObject(b) ?? {}]
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  for (const { name, element, at } of visibleMembers(schema, names)) {
    compareNodes(own(before, name), own(after, name), at, [...path, element], result)
  }
}

const isBlank = (value: Maybe, schema: At): boolean =>
  isEmptyOrNull(schema?.type === 'list' ? asList(value) : asObject(value))

function compareNodes(a: Maybe, b: Maybe, schema: At, path: FieldPath, result: Growing): void {
  if (a === undefined && b === undefined) return
  // Compare empty containers as a leaf, so that {} differs from null and from an absent value.
  if (isLeaf(schema) || (isBlank(a, schema) && isBlank(b, schema))) {
    compareLeaf(a, b, path, result)
    return
  }
  if (schema?.type === 'list') compareItems(a, b, schema, path, result)
  else compareMembers(a, b, schema, path, result)
  if (a === undefined) insert(result.added, path)
  else if (b === undefined) insert(result.removed, path)
}

/** Compares two objects. Adds and removes containers with their content; a container in both objects never differs itself. */
export function compareObjects(a: JsonValue, b: JsonValue, schema: At): Comparison {
  const result: Growing = { added: new Map(), modified: new Map(), removed: new Map() }
  compareNodes(a, b, schema, [], result)
  return result
}
