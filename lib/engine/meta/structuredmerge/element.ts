/**
 * Defines the elements of field paths, as FieldsV1 encodes them: `f:NAME`, `k:{"KEY":VALUE}`, `v:VALUE`, `i:INDEX`.
 * Source: sigs.k8s.io/structured-merge-diff fieldpath (serialize-pe.go, element.go).
 */

import { encodeGoJson, quote } from '../encoding/gotext.ts'
import type { JsonValue } from '../types.ts'
import { byBytes } from '../value/byteorder.ts'

/**
 * One element of a path. `id` is its text in FieldsV1; equal elements have equal ids. A `key` identifies a list item by its
 * keys (sorted by name, without absent keys), a `value` an item of a set.
 */
export type FieldElement =
  | { readonly type: 'field'; readonly id: string; readonly name: string }
  | { readonly type: 'key'; readonly id: string; readonly pairs: readonly (readonly [string, JsonValue])[] }
  | { readonly type: 'value'; readonly id: string; readonly value: JsonValue }
  | { readonly type: 'index'; readonly id: string; readonly index: number }

export type FieldPath = readonly FieldElement[]

// Kubernetes' JSON encoder has no short escapes \b and \f here.
const elementJson = (value: JsonValue): string =>
  encodeGoJson(value).replace(/\\(.)/g, (pair, one) => (one === 'b' ? '\\u0008' : one === 'f' ? '\\u000c' : pair))

/** Returns the element of an object's member. */
export const fieldElement = (name: string): FieldElement => ({ type: 'field', id: `f:${name}`, name })

/** Returns the element of a list item with these keys, in any order. */
export function keyElement(pairs: readonly (readonly [string, JsonValue])[]): FieldElement {
  const sorted = [...pairs].sort(([a], [b]) => byBytes(a, b))
  const text = sorted.map(([name, value]) => `${elementJson(name)}:${elementJson(value)}`)
  return { type: 'key', id: `k:{${text.join(',')}}`, pairs: sorted }
}

/** Returns the element of a set's item. */
export const valueElement = (value: JsonValue): FieldElement => ({
  type: 'value',
  id: `v:${elementJson(value)}`,
  value,
})

/** Returns the element of an index, which occurs in FieldsV1 of other writers and in messages. */
export const indexElement = (index: number): FieldElement => ({ type: 'index', id: `i:${index}`, index })

const TYPES = ['field', 'key', 'value', 'index']

function valueRank(value: JsonValue): number {
  if (value === null) return 5
  if (Array.isArray(value)) return 3
  return { number: 0, bigint: 0, string: 1, boolean: 2, object: 4 }[typeof value as string] ?? 4
}

function compareValues(a: JsonValue, b: JsonValue): number {
  const rank = valueRank(a)
  if (rank !== valueRank(b)) return rank - valueRank(b)
  if (typeof a === 'string' && typeof b === 'string') return byBytes(a, b)
  if (rank === 0 && a !== null && b !== null) return a < b ? -1 : a > b ? 1 : 0
  return byBytes(encodeGoJson(a), encodeGoJson(b))
}

function comparePairs(a: readonly (readonly [string, JsonValue])[], b: readonly (readonly [string, JsonValue])[]) {
  for (const [i, [name, value]] of a.entries()) {
    const other = b[i]
    if (other === undefined) return 1
    const order = byBytes(name, other[0]) || compareValues(value, other[1])
    if (order !== 0) return order
  }
  return a.length - b.length
}

/** Compares siblings in canonical order: fields, keys, values, indexes; each by content. */
export function compareElements(a: FieldElement, b: FieldElement): number {
  if (a.type === 'field' && b.type === 'field') return byBytes(a.name, b.name)
  if (a.type === 'key' && b.type === 'key') return comparePairs(a.pairs, b.pairs)
  if (a.type === 'value' && b.type === 'value') return compareValues(a.value, b.value)
  if (a.type === 'index' && b.type === 'index') return a.index - b.index
  return TYPES.indexOf(a.type) - TYPES.indexOf(b.type)
}

function valueText(value: JsonValue): string {
  if (typeof value === 'string') return quote(value)
  if (Array.isArray(value)) return `[${value.map(valueText).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value)
      .map(([name, one]) => `${name}=${valueText(one)}`)
      .join('')
  }
  return String(value)
}

/** Formats an element for messages: `.name`, `[role="r1"]`, `[="a"]`, `[0]`. */
export function elementText(element: FieldElement): string {
  switch (element.type) {
    case 'field':
      return `.${element.name}`
    case 'key':
      return `[${element.pairs.map(([name, value]) => `${name}=${valueText(value)}`).join(',')}]`
    case 'value':
      return `[=${valueText(element.value)}]`
    case 'index':
      return `[${element.index}]`
  }
}

/** Formats a path for messages: `.spec.conditions[type="Ready"].status`. */
export const pathText = (path: FieldPath): string => path.map(elementText).join('')
