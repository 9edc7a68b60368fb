/**
 * Merges an applied configuration into an object and removes fields from an object. Does not change its inputs; results
 * share unchanged parts with them.
 * Source: sigs.k8s.io/structured-merge-diff typed/merge.go, typed/remove.go.
 */

import type { ListSchema } from '../schema/schema.ts'
import { memberSchema } from '../schema/schema.ts'
import type { JsonObject, JsonValue } from '../types.ts'
import { own } from '../value/walk.ts'
import { type FieldElement, fieldElement } from './element.ts'
import type { FieldSet } from './set.ts'
import { type At, asList, asObject, isEmptyOrNull, isLeaf, itemElement } from './typed.ts'

type Maybe = JsonValue | undefined

interface MergeItem {
  element: FieldElement
  value: JsonValue
}

const named = (items: readonly JsonValue[], schema: ListSchema): MergeItem[] =>
  items.flatMap((value) => {
    const element = itemElement(schema, value)
    return typeof element === 'string' ? [] : [{ element, value }]
  })

/** Indexes items by id. Duplicates become null, because it is ambiguous which of them to merge with an applied item. */
function index(items: readonly MergeItem[]): Map<string, JsonValue> {
  const result = new Map<string, JsonValue>()
  for (const { element, value } of items) result.set(element.id, result.has(element.id) ? null : value)
  return result
}

/**
 * Merges lists in one pass: items of the configuration keep its order, and other items keep their position relative to the
 * common items. `next` is the next common item.
 */
function mergeItems(live: readonly JsonValue[], config: readonly JsonValue[], schema: ListSchema): JsonValue[] {
  const [left, right] = [named(live, schema), named(config, schema)]
  const [inLive, inConfig] = [index(left), index(right)]
  const common = right.filter(({ element }) => inLive.has(element.id)).map(({ element }) => element.id)
  const result: JsonValue[] = []
  const taken = new Set<string>()
  const emit = (a: Maybe, b: Maybe): void => {
    const merged = mergeConfiguration(a, b, schema.items)
    if (merged !== undefined) result.push(merged)
  }
  let next = 0
  for (let l = 0, r = 0; l < left.length || r < right.length; ) {
    const [mine, theirs] = [left[l], right[r]]
    const id = mine?.element.id
    if (mine !== undefined && id !== undefined) {
      const both = inConfig.has(id)
      if (theirs !== undefined && both && id !== theirs.element.id && next < common.length && common[next] !== id) {
        l++
        continue
      }
      if (!both) {
        emit(mine.value, undefined)
        l++
        continue
      }
      if (taken.has(id) || id === theirs?.element.id) l++
    }
    if (theirs === undefined) continue
    const { element, value } = theirs
    taken.add(element.id)
    emit(inLive.get(element.id), value)
    r++
    if (common[next] === element.id) next++
  }
  return result
}

function mergeMembers(live: JsonObject, config: JsonObject, schema: At): JsonObject {
  const result: JsonObject = {}
  for (const name of new Set([...Object.keys(live), ...Object.keys(config)])) {
    const merged = mergeConfiguration(own(live, name), own(config, name), memberSchema(schema, name))
    if (merged !== undefined) result[name] = merged
  }
  return result
}

/** Merges `config` into `live`. Keeps fields that only one of them has, and prefers the leaves of the configuration. */
export function mergeConfiguration(live: Maybe, config: Maybe, schema: At): Maybe {
  if (config === undefined) return live
  if (live === undefined || isLeaf(schema)) return config
  if (schema?.type === 'list') {
    const [a, b] = [asList(live) ?? [], asList(config) ?? []]
    return a.length === 0 && b.length === 0 ? config : mergeItems(a, b, schema)
  }
  const [a, b] = [asObject(live) ?? {}, asObject(config) ?? {}]
  return isEmptyOrNull(a) && isEmptyOrNull(b) ? config : mergeMembers(a, b, schema)
}

function removeFromItems(items: readonly JsonValue[], fields: FieldSet, schema: ListSchema): JsonValue[] {
  return items.flatMap((item) => {
    const element = itemElement(schema, item)
    const node = typeof element === 'string' ? undefined : fields.get(element.id)
    if (node === undefined) return [item]
    return node.member ? [] : [removeFields(item, node.below, schema.items)]
  })
}

function removeFromMembers(value: JsonObject, fields: FieldSet, schema: At): JsonObject {
  const result: JsonObject = {}
  for (const [name, one] of Object.entries(value)) {
    const node = fields.get(fieldElement(name).id)
    if (node === undefined) result[name] = one
    else if (!node.member) result[name] = removeFields(one, node.below, memberSchema(schema, name))
  }
  return result
}

/** Removes these members and list items from `value`. A container that loses all its content becomes null. */
export function removeFields(value: JsonValue, fields: FieldSet, schema: At): JsonValue {
  if (fields.size === 0 || isLeaf(schema)) return value
  const content =
    schema?.type === 'list'
      ? removeFromItems(asList(value) ?? [], fields, schema)
      : removeFromMembers(asObject(value) ?? {}, fields, schema)
  return isEmptyOrNull(content) ? null : content
}
