/**
 * Sets of paths to fields, as tries. All operations work path by path: without `.a` the set still has `.a.b`. Sets are
 * values: operations share parts of their arguments and change none; only a set under construction is inserted into.
 * Source: sigs.k8s.io/structured-merge-diff fieldpath/set.go.
 */
import { compareElements, type FieldElement, type FieldPath } from './element.ts'

/** Nodes by the id of their element. Invariant: a node is a member itself or has something below. */
export type FieldSet = ReadonlyMap<string, FieldNode>

export interface FieldNode {
  readonly element: FieldElement
  /** Whether the path that ends here is in the set. */
  readonly member: boolean
  readonly below: FieldSet
}

interface GrowingNode extends FieldNode {
  member: boolean
  below: Map<string, GrowingNode>
}

/** A set that still grows. */
export type GrowingSet = Map<string, GrowingNode>

/** Nobody's fields. */
export const EMPTY: FieldSet = new Map()

/** Adds one path; nothing happens for the empty path, since nobody owns a whole object. */
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

/** The set of these paths. */
export function setOf(...paths: readonly FieldPath[]): FieldSet {
  const set: GrowingSet = new Map()
  for (const path of paths) insert(set, path)
  return set
}

/** Whether the path itself is in the set; what lies below it says nothing. */
export function has(set: FieldSet, path: FieldPath): boolean {
  let nodes = set
  let node: FieldNode | undefined
  for (const element of path) {
    node = nodes.get(element.id)
    if (node === undefined) return false
    nodes = node.below
  }
  return node?.member ?? false
}

/** The paths of either. */
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

/** The paths of any of the sets. Looks at each node of them once, however many there are. */
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

/** Keeps of each node what `change` makes of it; nodes without membership and without anything below vanish. */
function each(set: FieldSet, change: (node: FieldNode) => FieldNode | undefined): FieldSet {
  const result = new Map<string, FieldNode>()
  for (const [id, node] of set) {
    const changed = change(node)
    if (changed !== undefined && (changed.member || changed.below.size > 0)) result.set(id, changed)
  }
  return result
}

/** The paths of both. */
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

/** The paths of `a` that are not in `b`; what lies below those stays (see `recursiveDifference`). */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  if (b.size === 0) return a
  return each(a, (node) => {
    const other = b.get(node.element.id)
    if (other === undefined) return node
    return { element: node.element, member: node.member && !other.member, below: difference(node.below, other.below) }
  })
}

/** Without the paths of `b` and everything below them. */
export function recursiveDifference(a: FieldSet, b: FieldSet): FieldSet {
  if (b.size === 0) return a
  return each(a, (node) => {
    const other = b.get(node.element.id)
    if (other === undefined) return node
    if (other.member) return undefined
    return { element: node.element, member: node.member, below: recursiveDifference(node.below, other.below) }
  })
}

/** Siblings in canonical order. */
export const inOrder = (set: FieldSet): FieldNode[] =>
  [...set.values()].sort((a, b) => compareElements(a.element, b.element))

/** All paths; of siblings first those that are members, then what lies below, as conflicts are listed. */
export function* paths(set: FieldSet, prefix: FieldPath = []): Generator<FieldPath> {
  const nodes = inOrder(set)
  for (const { element, member } of nodes) if (member) yield [...prefix, element]
  for (const { element, below } of nodes) if (below.size > 0) yield* paths(below, [...prefix, element])
}
