/**
 * Resolves owner references. A reference has a kind, a name and a uid; the owner is in the namespace of the dependent, or
 * cluster-scoped.
 * Source: k8s.io/kubernetes pkg/controller/garbagecollector (isDangling, classifyReferences, blockingDependents).
 */

import type { KubeObject, ObjectMeta, OwnerReference } from '../meta/types.ts'
import { deepEqual } from '../meta/value/equal.ts'
import { FOREGROUND, ORPHAN } from '../registry/delete.ts'
import { type Dependent, dependentsOf } from '../registry/owners.ts'
import { forEach, type HasTime } from '../registry/parallel.ts'
import { type NamedKind, namesKind, namesLists } from '../registry/references.ts'
import { objectKey, type Store } from '../registry/store.ts'
import type { Storage, Stored } from '../storage/interface.ts'

export interface Graph {
  /** Every kind that can own or be owned. */
  stores: readonly Store[]
  storage: Storage
  /** The kinds of which nothing is stored. With `uidOf`, every valid name is that of an object. */
  unstored: readonly { kind: NamedKind; uidOf?(name: string): string }[]
}

/** The kind and key of an object, which may not exist. */
export interface NodeKey {
  store: Store
  key: string
}

/** A stored object and its place. */
export interface Node extends NodeKey {
  stored: Stored
}

export const nodeMetadata = ({ stored }: Pick<Node, 'stored'>): ObjectMeta => stored.object.metadata

const hasFinalizer = (finalizer: string, { finalizers }: ObjectMeta): boolean =>
  finalizers?.includes(finalizer) === true

/** Reports whether the object is being deleted and orphans its dependents. It has at most one of the two finalizers. */
export const isOrphaning = (metadata: ObjectMeta): boolean =>
  metadata.deletionTimestamp !== undefined && hasFinalizer(ORPHAN, metadata)

/** Reports whether the object is being deleted and waits for the dependents that block it. */
export const isWaiting = (metadata: ObjectMeta): boolean =>
  metadata.deletionTimestamp !== undefined && hasFinalizer(FOREGROUND, metadata)

const counting = ({ metadata: { uid, ownerReferences = [], finalizers = [], deletionTimestamp } }: KubeObject) => ({
  uid,
  ownerReferences,
  finalizers,
  deletionTimestamp,
})

/** Reports whether two states of an object are equal in everything that the garbage collector uses. */
export const isUnchanged = (one: KubeObject, other: KubeObject): boolean => deepEqual(counting(one), counting(other))

/** Returns the place of a dependent; undefined for a resource that is no longer served. */
export function dependentKey({ stores }: Graph, { resource, key }: Dependent): NodeKey | undefined {
  const store = stores.find(({ kind }) => kind.plural === resource)
  return store && { store, key }
}

/**
 * Returns the place of an owner. Undefined if it cannot be determined whether the owner exists: its kind is unknown, or it is
 * namespaced and its dependent is not. Such dependents are kept.
 */
export function ownerKey(
  { stores }: Graph,
  reference: OwnerReference,
  { metadata: { namespace = '' } }: KubeObject,
): NodeKey | undefined {
  const store = stores.find(({ kind }) => namesKind(kind, reference))
  if (!store) return undefined
  if (store.kind.scope === 'Cluster') return { store, key: objectKey('', reference.name) }
  return namespace ? { store, key: objectKey(namespace, reference.name) } : undefined
}

/** Reports whether an owner exists of which no object is stored, such as a list. Undefined for one of another kind. */
export function existsUnstored(
  { stores, unstored }: Graph,
  reference: OwnerReference,
  { metadata: { namespace = '' } }: KubeObject,
): boolean | undefined {
  const found = unstored.find(({ kind }) => namesKind(kind, reference))
  if (found) return found.uidOf?.(reference.name) === reference.uid
  return [...unstored, ...stores].some(({ kind }) => namesLists(kind, reference, namespace)) ? false : undefined
}

/** Reads the object, not older than a revision at which it is known to have changed. */
export async function nodeAt(place: NodeKey | undefined, notOlderThan?: number): Promise<Node | undefined> {
  if (!place) return undefined
  const { store, key } = place
  const stored = await store.storage.get(store.kind.table, key, { ...(notOlderThan && { notOlderThan }) })
  return stored && { store, key, stored }
}

/** Reports whether the dependent has a blocking reference to this owner. */
function blocks(graph: Graph, dependent: Node, owner: Node): boolean {
  return (nodeMetadata(dependent).ownerReferences ?? []).some((reference) => {
    if (reference.uid !== nodeMetadata(owner).uid || reference.blockOwnerDeletion !== true) return false
    const place = ownerKey(graph, reference, dependent.stored.object)
    return place?.store.kind.plural === owner.store.kind.plural && place.key === owner.key
  })
}

/** The most owners to read in search of a cycle. */
const maxCircle = 1000

/**
 * Returns the uids of the waiting objects that `owner` itself blocks, directly or through other waiting objects. Follows the
 * few owner references upwards: downwards, it would have to read all dependents again for each dependent.
 */
async function waitingFor(graph: Graph, owner: Node): Promise<ReadonlySet<string | undefined>> {
  const found = new Set([nodeMetadata(owner).uid])
  const asked = new Set<string>()
  const queue = [owner]
  for (const node of queue) {
    for (const reference of nodeMetadata(node).ownerReferences ?? []) {
      const { uid, blockOwnerDeletion } = reference
      const place = ownerKey(graph, reference, node.stored.object)
      const id = `${place?.store.kind.plural}/${place?.key} ${uid}`
      if (blockOwnerDeletion !== true || asked.has(id)) continue
      if (asked.size === maxCircle) return found
      asked.add(id)
      const above = await nodeAt(place)
      if (!above || nodeMetadata(above).uid !== uid || !isWaiting(nodeMetadata(above)) || found.has(uid)) continue
      found.add(uid)
      queue.push(above)
    }
  }
  return found
}

/**
 * Reports whether a dependent blocks this waiting owner. A dependent that waits, and that the owner itself blocks, does not
 * count: in a cycle of owners, one object must be removed first. Throws OutOfTime if there is no time for all dependents.
 */
export async function isBlocked(graph: Graph & { hasTime: HasTime }, owner: Node): Promise<boolean> {
  let circle: Promise<ReadonlySet<string | undefined>> | undefined
  let isHeld = false
  for await (const page of dependentsOf(graph.storage, nodeMetadata(owner).uid ?? '')) {
    await forEach(page, graph.hasTime, async (one) => {
      if (isHeld) return
      const dependent = await nodeAt(dependentKey(graph, one))
      if (!dependent || !blocks(graph, dependent, owner)) return
      if (isWaiting(nodeMetadata(dependent))) {
        circle ??= waitingFor(graph, owner)
        if ((await circle).has(nodeMetadata(dependent).uid)) return
      }
      isHeld = true
    })
    if (isHeld) return true
  }
  return false
}
