/**
 * Encodes and decodes FieldsV1, the JSON form of a field set in `metadata.managedFields`. A leaf is `{}`; `.` marks a member
 * that has descendants. The input is untrusted.
 * Source: sigs.k8s.io/structured-merge-diff fieldpath/serialize.go.
 */

import { parseJson } from '../encoding/json.ts'
import type { JsonObject, JsonValue } from '../types.ts'
import { type FieldElement, fieldElement, indexElement, keyElement, valueElement } from './element.ts'
import { type FieldNode, type FieldSet, sortNodes } from './set.ts'

/** Thrown if the value is not valid FieldsV1 or exceeds the limits. */
export class FieldsV1Error extends Error {
  override readonly name = 'FieldsV1Error'
}

/** Far deeper than any schema. */
const MAX_DEPTH = 64
/** More fields than an object of about 1 MiB can contain. */
const MAX_NODES = 100_000

/** Encodes a set in canonical order: `JSON.stringify` of the result equals Go's output. */
export function serializeFieldsV1(set: FieldSet): JsonObject {
  const result: JsonObject = {}
  for (const { element, member, below } of sortNodes(set)) {
    const inner = serializeFieldsV1(below)
    result[element.id] = member && below.size > 0 ? { '.': {}, ...inner } : inner
  }
  return result
}

interface Budget {
  nodes: number
}

function parseItem(text: string): JsonValue {
  try {
    return parseJson(text).value
  } catch {
    throw new FieldsV1Error('a list item is not identified by JSON')
  }
}

const isScalar = (value: JsonValue): boolean => value === null || typeof value !== 'object'

function parseKey(text: string): FieldElement {
  const value = parseItem(text)
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw new FieldsV1Error('a key is not an object')
  const pairs = Object.entries(value)
  if (pairs.length === 0 || pairs.some(([, one]) => !isScalar(one))) {
    throw new FieldsV1Error('a key contains a value that is not a scalar')
  }
  return keyElement(pairs)
}

/** Parses a member name; returns undefined for a type of element that only a later version may know. */
function parseElement(text: string): FieldElement | undefined {
  const content = text.slice(2)
  if (text[1] !== ':') throw new FieldsV1Error('a member has no colon')
  switch (text[0]) {
    case 'f':
      if (content === '__proto__') throw new FieldsV1Error('a field cannot have this name')
      return fieldElement(content)
    case 'k':
      return parseKey(content)
    case 'v': {
      const value = parseItem(content)
      if (!isScalar(value)) throw new FieldsV1Error('an item of a set is not a scalar')
      return valueElement(value)
    }
    case 'i':
      if (!/^-?\d{1,15}$/.test(content)) throw new FieldsV1Error('an index is not a number')
      return indexElement(Number(content))
    default:
      return undefined
  }
}

function parseNode(element: FieldElement, value: JsonValue, depth: number, budget: Budget): FieldNode {
  const below = parseBelow(value, depth + 1, budget)
  const marked = value !== null && Object.hasOwn(value as JsonObject, '.')
  return { element, member: marked || below.size === 0, below }
}

function parseBelow(value: JsonValue, depth: number, budget: Budget): FieldSet {
  if (value === null) return new Map()
  if (typeof value !== 'object' || Array.isArray(value)) throw new FieldsV1Error('a field is not an object')
  if (depth > MAX_DEPTH) throw new FieldsV1Error('too deep')
  const result = new Map<string, FieldNode>()
  for (const [name, inner] of Object.entries(value)) {
    budget.nodes++
    if (budget.nodes > MAX_NODES) throw new FieldsV1Error('too many fields')
    const element = name === '.' ? undefined : parseElement(name)
    if (element === undefined) continue
    result.set(element.id, parseNode(element, inner, depth, budget))
  }
  return result
}

/** Decodes FieldsV1 and skips unknown types of elements. Throws FieldsV1Error if the value is otherwise invalid. */
export const parseFieldsV1 = (value: JsonValue): FieldSet => parseBelow(value, 0, { nodes: 0 })
