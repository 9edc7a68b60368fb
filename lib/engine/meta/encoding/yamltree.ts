/**
 * Builds values from a stream of YAML nodes, with Go's rules for duplicate keys, merge keys and aliases. Copies the target of
 * an alias, so that no object is shared, and limits the total size of the copies.
 * Source: go.yaml.in/yaml/v2 (decode.go), sigs.k8s.io/yaml.
 */

import type { JsonObject, JsonValue } from '../types.ts'
import { isObject } from '../value/walk.ts'
import { DecodeError, MAX_DEPTH, MAX_FINDINGS, MAX_VALUES, TOO_MANY_VALUES } from './jsonscanner.ts'
import { memberName, scalarValue } from './yamlscalar.ts'

/** One node of the stream. `at` is the offset in the text; `tag` is a full name or ''; `anchor` is a name or ''. */
export type YamlNode =
  | { type: 'scalar'; at: number; anchor: string; tag: string; text: string; plain: boolean }
  | { type: 'sequence' | 'mapping'; at: number; anchor: string }
  | { type: 'alias'; at: number; anchor: string }
  | { type: 'end' }

interface DuplicateKey {
  /** The offset of the value that replaces an earlier one. */
  at: number
  /** The key as Go formats it: strings in quotes, numbers and booleans without. */
  key: JsonValue
}

/** Limits the total size that aliases add, in nodes and characters, to that of a request body. */
const ALIAS_BUDGET = 3 * 2 ** 20

const MERGE_TAG = 'tag:yaml.org,2002:merge'

/** Builds the value of one document. Later keys replace earlier ones, and merged keys replace all keys before them. */
export function buildTree(nodes: Iterator<YamlNode>): { value: JsonValue; duplicates: DuplicateKey[] } {
  /** Anchors; one without a value belongs to a collection that is still open. */
  const anchors = new Map<string, JsonValue | undefined>()
  const duplicates: DuplicateKey[] = []
  let budget = ALIAS_BUDGET
  let values = 0

  const next = (): YamlNode => nodes.next().value ?? { type: 'end' }

  const copy = (value: JsonValue, depth: number): JsonValue => {
    budget -= typeof value === 'string' ? value.length + 1 : 1
    if (budget < 0 || ++values > MAX_VALUES) throw new DecodeError('yaml: document contains excessive aliasing')
    if (typeof value !== 'object' || value === null) return value
    if (depth >= MAX_DEPTH) throw new DecodeError('exceeded max depth')
    if (Array.isArray(value)) return value.map((one) => copy(one, depth + 1))
    const result: JsonObject = {}
    for (const [member, one] of Object.entries(value)) {
      budget -= member.length
      result[member] = copy(one, depth + 1)
    }
    return result
  }

  const aliased = (anchor: string, depth: number): JsonValue => {
    if (!anchors.has(anchor)) throw new DecodeError('yaml: unknown anchor referenced')
    const value = anchors.get(anchor)
    if (value === undefined) throw new DecodeError('yaml: anchor value contains itself')
    return copy(value, depth)
  }

  const build = (node: YamlNode, depth: number): JsonValue => {
    if (node.type === 'end') return null
    if (node.type === 'alias') return aliased(node.anchor, depth)
    if (node.anchor !== '') anchors.set(node.anchor, undefined)
    const value = content(node, depth)
    if (node.anchor !== '') anchors.set(node.anchor, value)
    return value
  }

  const content = (node: Exclude<YamlNode, { type: 'end' | 'alias' }>, depth: number): JsonValue => {
    if (++values > MAX_VALUES) throw new DecodeError(`yaml: ${TOO_MANY_VALUES}`)
    if (node.type === 'scalar') return scalarValue(node.text, node.plain, node.tag)
    if (depth >= MAX_DEPTH) throw new DecodeError('exceeded max depth')
    return node.type === 'sequence' ? sequence(depth + 1) : mapping(depth + 1)
  }

  const sequence = (depth: number): JsonValue[] => {
    const result: JsonValue[] = []
    for (let node = next(); node.type !== 'end'; node = next()) result.push(build(node, depth))
    return result
  }

  const mapping = (depth: number): JsonObject => {
    const result: JsonObject = {}
    const set = (key: JsonValue, value: JsonValue, at: number): void => {
      const name = memberName(key)
      if (Object.hasOwn(result, name) && duplicates.length < MAX_FINDINGS) duplicates.push({ at, key })
      result[name] = value
    }
    for (let node = next(); node.type !== 'end'; node = next()) {
      if (isMerge(node)) {
        const source = next()
        const merged = build(source, depth)
        // In a list, the first map takes precedence, so merge it last.
        for (const one of source.type === 'sequence' && Array.isArray(merged) ? merged.reverse() : [merged]) {
          if (!isObject(one)) {
            throw new DecodeError('yaml: map merge requires map or sequence of maps as the value')
          }
          for (const [name, value] of Object.entries(one)) set(name, value, offset(source))
        }
      } else {
        const key = build(node, depth)
        const value = next()
        set(key, build(value, depth), offset(value))
      }
    }
    return result
  }

  return { value: build(next(), 0), duplicates }
}

const isMerge = (node: YamlNode): boolean =>
  node.type === 'scalar' && node.text === '<<' && (node.tag === MERGE_TAG || (node.plain && node.tag === ''))

const offset = (node: YamlNode): number => (node.type === 'end' ? 0 : node.at)
