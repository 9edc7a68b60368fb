/**
 * Relates objects to their schema for structured merge: finds declared fields and the elements that identify list items.
 * Source: sigs.k8s.io/structured-merge-diff typed/helpers.go, k8s.io/apimachinery meta/v1 (list and map types).
 */

import { quote } from '../encoding/gotext.ts'
import { objectMetaSchema } from '../schema/objectmeta.ts'
import {
  type KindSchema,
  type ListSchema,
  memberSchema,
  type ObjectSchema,
  object,
  type Schema,
  string,
} from '../schema/schema.ts'
import type { JsonObject, JsonValue } from '../types.ts'
import { defined } from '../value/defined.ts'
import { isObject } from '../value/walk.ts'
import { type FieldElement, fieldElement, keyElement, valueElement } from './element.ts'

/** The schema at a node; undefined for a member that the schema does not declare. */
export type At = Schema | undefined

const { ownerReferences } = objectMetaSchema.properties

/** The schema of metadata in Kubernetes' field manager, which allows selfLink and references without a uid. */
const metadata = {
  ...objectMetaSchema,
  properties: {
    ...objectMetaSchema.properties,
    selfLink: string('Without a meaning.'),
    ownerReferences: { ...ownerReferences, keyDefaults: { uid: '' } },
  },
} as const

const wholeObjects = new WeakMap<KindSchema, ObjectSchema>()

/** Returns the schema of whole objects of a kind. Cached per kind, so every write may call it. */
export function wholeObject(kind: KindSchema): ObjectSchema {
  const known = wholeObjects.get(kind)
  if (known) return known
  const { spec, status } = kind
  const types = { apiVersion: string('Group and version.'), kind: string('Kind.') }
  const whole = object('An object.', { ...types, metadata, ...defined({ spec, status }) })
  wholeObjects.set(kind, whole)
  return whole
}

/** Returns the value if it is an object: the field manager treats any other value as absent. */
export const asObject = (value: JsonValue | undefined): JsonObject | undefined => (isObject(value) ? value : undefined)

/** Returns the value if it is a list. */
export const asList = (value: JsonValue | undefined): JsonValue[] | undefined =>
  Array.isArray(value) ? value : undefined

/** Reports whether the member is a declared field rather than a key of a map. */
export const isDeclared = (schema: At, name: string): boolean =>
  schema?.type === 'object' && Object.hasOwn(schema.properties, name)

/** Returns the schema of the child that the element identifies. */
export function stepSchema(schema: At, element: FieldElement): At {
  if (element.type === 'field') return memberSchema(schema, element.name)
  return schema?.type === 'list' && element.type === 'key' ? schema.items : undefined
}

/** Reports whether a node is owned as a whole: scalars, atomic lists and maps, and undeclared members. */
export function isLeaf(schema: At): boolean {
  if (schema === undefined) return true
  if (schema.type === 'list') return schema.listType === 'atomic'
  return schema.type === 'object' || schema.type === 'map' ? schema.atomic === true : true
}

/** Reports whether the value is an empty list, an empty map or null. */
export const isEmptyOrNull = (value: JsonValue | undefined): boolean =>
  value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0)

function keyedItem(item: JsonValue, { keys = [], keyDefaults = {} }: ListSchema): FieldElement | string {
  if (item === null) return 'associative list with keys may not have a null element'
  const value = asObject(item)
  if (value === undefined) return 'associative list with keys may not have non-map elements'
  const pairs = keys.flatMap((name): [string, JsonValue][] => {
    const one = Object.hasOwn(value, name) ? value[name] : keyDefaults[name]
    return one === undefined ? [] : [[name, one]]
  })
  if (pairs.length === 0) {
    const names = `[${keys.map(quote).join(' ')}]`
    return `associative list with keys has an element that omits all key fields ${names} (and doesn't have default values for any key fields)`
  }
  return keyElement(pairs)
}

/** Returns the element of a list item in a set or map list, or the reason why it has none. */
export function itemElement(schema: ListSchema, item: JsonValue): FieldElement | string {
  if (schema.listType === 'map') return keyedItem(item, schema)
  if (item === null) return "associative list without keys has an element that's an explicit null"
  if (Array.isArray(item)) return 'not supported: associative list with lists as elements'
  if (typeof item === 'object') return "associative list without keys has an element that's a map type"
  return valueElement(item)
}

/** Groups items by their element, in order of first appearance. Omits items without an element. */
export function byElement(
  schema: ListSchema,
  items: readonly JsonValue[],
): Map<string, { element: FieldElement; items: JsonValue[] }> {
  const result = new Map<string, { element: FieldElement; items: JsonValue[] }>()
  for (const item of items) {
    const element = itemElement(schema, item)
    if (typeof element === 'string') continue
    const known = result.get(element.id)
    if (known) known.items.push(item)
    else result.set(element.id, { element, items: [item] })
  }
  return result
}

/** Returns the members that field sets may contain: nobody owns write-only fields. */
export const visibleMembers = (
  schema: At,
  names: Iterable<string>,
): { element: FieldElement; at: At; name: string }[] =>
  Array.from(names, (name) => ({ name, element: fieldElement(name), at: memberSchema(schema, name) })).filter(
    ({ at }) => at?.writeOnly === undefined,
  )
