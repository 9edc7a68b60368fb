/**
 * Finds duplicate items in lists of type set (equal values) and map (equal keys).
 * Source: k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype.
 */

import { formatValue } from '../encoding/badvalue.ts'
import { type Floats, NO_FLOATS } from '../encoding/floats.ts'
import { encodeGoJson, floatText } from '../encoding/gotext.ts'
import { duplicate, type FieldError, findingsOf, invalid } from '../errors/fielderror.ts'
import type { JsonObject, JsonValue } from '../types.ts'
import { child, isObject, own, sortedEntries } from '../value/walk.ts'
import type { ListSchema, Schema } from './schema.ts'
import { memberSchema } from './schema.ts'

/** Returns the index of the second occurrence of each repeated value. */
function secondOnes(values: readonly JsonValue[]): number[] {
  const seen = new Map<string, number>()
  return values.flatMap((value, index) => {
    const text = encodeGoJson(value)
    const times = (seen.get(text) ?? 0) + 1
    seen.set(text, times)
    return times === 2 ? [index] : []
  })
}

/** Returns the key members of a list item; a null item has none. */
function keysOf(item: JsonValue, { keys = [] }: ListSchema): JsonObject {
  if (!isObject(item)) return {}
  const found = keys.flatMap((key): [string, JsonValue][] => {
    const value = own(item, key)
    return value === undefined ? [] : [[key, value]]
  })
  return Object.fromEntries(found)
}

/** Returns the error for an item that is not an object. A number that the body writes in floating point is shown as one. */
function strangerError(value: JsonValue, field: string, floats: Floats): FieldError {
  const error = invalid(field, value, 'must be an object for an array of list-type map')
  if (!floats.has(field)) return error
  return { ...error, message: error.message.replace(formatValue(value), floatText(Number(value))) }
}

function ownDuplicates(items: readonly JsonValue[], schema: ListSchema, path: string, floats: Floats): FieldError[] {
  if (schema.listType === 'atomic') return []
  if (schema.listType === 'set') {
    return findingsOf(secondOnes(items), (index) => [duplicate(`${path}[${index}]`, items[index] ?? null)])
  }
  const stranger = items.findIndex((item) => item !== null && !isObject(item))
  if (stranger >= 0) {
    return [strangerError(items[stranger] ?? null, `${path}[${stranger}]`, floats)]
  }
  const keys = items.map((item) => keysOf(item, schema))
  return findingsOf(secondOnes(keys), (index) => [duplicate(`${path}[${index}]`, keys[index] ?? null)])
}

/**
 * Returns the duplicates in `value`, recursively. Ignores values of a wrong type and write-only values. `floats` are the numbers
 * that the body writes in floating point.
 */
export function duplicateItems(
  value: JsonValue,
  schema: Schema,
  path: string,
  floats: Floats = NO_FLOATS,
): FieldError[] {
  if (schema.writeOnly) return []
  if (Array.isArray(value) && schema.type === 'list') {
    const below = findingsOf(value, (item, index) => duplicateItems(item, schema.items, `${path}[${index}]`, floats))
    return [...ownDuplicates(value, schema, path, floats), ...below]
  }
  if (!isObject(value)) return []
  return findingsOf(sortedEntries(value), ([name, member]) => {
    const described = memberSchema(schema, name)
    return described ? duplicateItems(member, described, child(path, name), floats) : []
  })
}
