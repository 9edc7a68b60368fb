/**
 * Implements sets of field paths as tries. Operations treat each path separately: removing `.a` keeps `.a.b`. Sets are
 * immutable: operations share parts of their arguments but do not change them. Only `insert` changes a set, while building it.
 * Source: sigs.k8s.io/structured-merge-diff fieldpath/set.go.
 */
import { compareElements, type FieldElement, type FieldPath } from './element.ts'

/** Nodes by the id of their element. Invariant: each node is a member or has descendants. */
export type FieldSet = ReadonlyMap<string, FieldNode>

export interface FieldNode {
  readonly element: FieldElement
  /** True if the set contains the path to this node. */
  readonly member: boolean
  readonly below: FieldSet
}

interface GrowingNode extends FieldNode {
  member: boolean
  below: Map<string, GrowingNode>
}

/** A set under construction. */
export type GrowingSet = Map<string, GrowingNode>

/** The empty set. */
export const EMPTY: FieldSet = new Map()

/** Adds one path. Ignores the empty path, because nobody owns a whole object. */
export function insert(set: GrowingSet, path: FieldPath): void {
  let nodes = set
  for (const [depth, element] of path.entries()) {
    let node = nodes.get(element.id)
    if (node === undefined) {
      node = { element, member: false, below: new Map() }
      nodes.set(element.id, node)
    }
    if (depth === path.length - 1) node.member = true
    nodes = node.below
  }
}

/** Returns the set of these paths. */
export function setOf(...paths: readonly FieldPath[]): FieldSet {
  const set: GrowingSet = new Map()
  for (const path of paths) insert(set, path)
  return set
}

/** Reports whether the set contains exactly this path; its descendants do not count. */
export function hasPath(set: FieldSet, path: FieldPath): boolean {
  let nodes = set
  let node: FieldNode | undefined
  for (const element of path) {
    node = nodes.get(element.id)
    if (node === undefined) return false
    nodes = node.below
  }
  return node?.member ?? false
}

/** Returns the paths in either set. */
export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a.size === 0) return b
  if (b.size === 0) return a
  const result = new Map(a)
  for (const [id, node] of b) {
    const other = a.get(id)
    result.set(
      id,
      other === undefined
        ? node
        : { element: node.element, member: node.member || other.member, below: union(other.below, node.below) },
    )
  }
  return result
}

/** Returns the paths in any of the sets. Visits each node once, however many sets there are. */
export function unionOf(sets: Iterable<FieldSet>): FieldSet {
  const result: GrowingSet = new Map()
  for (const set of sets) include(result, set)
  return result
}

function include(into: GrowingSet, set: FieldSet): void {
  for (const [id, { element, member, below }] of set) {
    const node = into.get(id) ?? { element, member: false, below: new Map() }
    into.set(id, node)
    node.member ||= member
    include(node.below, below)
  }
}

/** Maps each node with `change`, and drops nodes that are neither members nor have descendants. */
function each(set: FieldSet, change: (node: FieldNode) => FieldNode | undefined): FieldSet {
  const result = new Map<string, FieldNode>()
  for (const [id, node] of set) {
    const changed = change(node)
    if (changed !== undefined && (changed.member || changed.below.size > 0)) result.set(id, changed)
  }
  return result
}

/** Returns the paths in both sets. */
export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  return each(a, (node) => {
    const other = b.get(node.element.id)
    return (
      other && {
        element: node.element,
        member: node.member && other.member,
        below: intersection(node.below, other.below),
      }
    )
  })
}

/** Returns the paths in `a` that are not in `b`. Keeps descendants of paths in `b` (see `recursiveDifference`). */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  if (b.size === 0) return a
  return each(a, (node) => {
    const other = b.get(node.element.id)
    if (other === undefined) return node
    return { element: node.element, member: node.member && !other.member, below: difference(node.below, other.below) }
  })
}

/** Returns the paths in `a` without those in `b` and their descendants. */
export function recursiveDifference(a: FieldSet, b: FieldSet): FieldSet {
  if (b.size === 0) return a
  return each(a, (node) => {
    const other = b.get(node.element.id)
    if (other === undefined) return node
    if (other.member) return undefined
    return { element: node.element, member: node.member, below: recursiveDifference(node.below, other.below) }
  })
}

/** Returns siblings in canonical order. */
export const sortNodes = (set: FieldSet): FieldNode[] =>
  [...set.values()].sort((a, b) => compareElements(a.element, b.element))

/** Yields all paths in the order of conflicts: first the siblings that are members, then their descendants. */
export function* walkPaths(set: FieldSet, prefix: FieldPath = []): Generator<FieldPath> {
  const nodes = sortNodes(set)
  for (const { element, member } of nodes) if (member) yield [...prefix, element]
  for (const { element, below } of nodes) if (below.size > 0) yield* walkPaths(below, [...prefix, element])
}
