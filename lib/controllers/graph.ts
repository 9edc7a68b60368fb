/**
 * Who owns whom. An owner reference names a kind, a name and a uid; the owner is in the dependent's namespace, or in none.
 * Source: k8s.io/kubernetes pkg/controller/garbagecollector (isDangling, classifyReferences, blockingDependents).
 */
import { groupVersion } from '../meta/groupversion.ts'
import type { KubeObject, ObjectMeta, OwnerReference } from '../meta/types.ts'
import { FOREGROUND, ORPHAN } from '../registry/delete.ts'
import { type Dependent, dependentsOf } from '../registry/owners.ts'
import { keyOf, type Store } from '../registry/store.ts'
import type { Storage, Stored } from '../storage/interface.ts'

export interface Graph {
  /** Every kind that can own or be owned. */
  stores: readonly Store[]
  storage: Storage
}

/** A place where an object may be. */
export interface Place {
  store: Store
  key: string
}

/** An object where it is. */
export interface Node extends Place {
  stored: Stored
}

export const metadataOf = ({ stored }: Pick<Node, 'stored'>): ObjectMeta => stored.object.metadata

const has = (finalizer: string, { finalizers }: ObjectMeta): boolean => finalizers?.includes(finalizer) === true

/** Being deleted, once its dependents have let go of it. Of the collector's two finalizers, what is deleted has one at most. */
export const isOrphaning = (metadata: ObjectMeta): boolean =>
  metadata.deletionTimestamp !== undefined && has(ORPHAN, metadata)

/** Being deleted, once the dependents that block it are gone. */
export const isWaiting = (metadata: ObjectMeta): boolean =>
  metadata.deletionTimestamp !== undefined && has(FOREGROUND, metadata)

/** Where a dependent is; undefined for a resource that is not served any more. */
export function placeOf({ stores }: Graph, { resource, key }: Dependent): Place | undefined {
  const store = stores.find(({ kind }) => kind.plural === resource)
  return store && { store, key }
}

/**
 * Where the owner has to be. Undefined where nobody can say whether it exists: its kind is not known, or it is in some
 * namespace and its dependent in none. Such dependents are kept.
 */
export function ownerPlace(
  { stores }: Graph,
  { apiVersion, kind: name, name: owner }: OwnerReference,
  { metadata: { namespace = '' } }: KubeObject,
): Place | undefined {
  const store = stores.find(({ kind }) => kind.kind === name && groupVersion(kind) === apiVersion)
  if (!store) return undefined
  if (store.kind.scope === 'Cluster') return { store, key: keyOf('', owner) }
  return namespace ? { store, key: keyOf(namespace, owner) } : undefined
}

/** The object, not older than a revision at which it is known to have changed. */
export async function nodeAt(place: Place | undefined, notOlderThan?: number): Promise<Node | undefined> {
  if (!place) return undefined
  const { store, key } = place
  const stored = await store.storage.get(store.kind.table, key, { ...(notOlderThan && { notOlderThan }) })
  return stored && { store, key, stored }
}

const samePlace = (one: Place | undefined, other: Place): boolean =>
  one?.store.kind.plural === other.store.kind.plural && one.key === other.key

/** Whether the dependent has a blocking reference to this very owner. */
function blocks(graph: Graph, dependent: Node, owner: Node): boolean {
  return (metadataOf(dependent).ownerReferences ?? []).some(
    (reference) =>
      reference.uid === metadataOf(owner).uid &&
      reference.blockOwnerDeletion === true &&
      samePlace(ownerPlace(graph, reference, dependent.stored.object), owner),
  )
}

async function* blockersOf(graph: Graph, owner: Node): AsyncGenerator<Node, void, void> {
  for await (const page of dependentsOf(graph.storage, metadataOf(owner).uid ?? '')) {
    for (const one of page) {
      const dependent = await nodeAt(placeOf(graph, one))
      if (dependent && blocks(graph, dependent, owner)) yield dependent
    }
  }
}

/** How many objects are looked at to find out whether waiting goes in a circle. */
const maxCircle = 1000

/** Whether `waiting` waits for `owner`, directly or by way of others that wait. */
async function waitsFor(graph: Graph, waiting: Node, owner: Node): Promise<boolean> {
  const { uid: wanted } = metadataOf(owner)
  const seen = new Set([metadataOf(waiting).uid])
  const queue = [waiting]
  for (const one of queue) {
    if (!isWaiting(metadataOf(one))) continue
    for await (const blocker of blockersOf(graph, one)) {
      const { uid } = metadataOf(blocker)
      if (uid === wanted) return true
      if (seen.has(uid)) continue
      if (seen.size === maxCircle) return false
      seen.add(uid)
      queue.push(blocker)
    }
  }
  return false
}

/**
 * Whether a dependent keeps this waiting owner. One that waits for the owner itself does not: of objects that own each
 * other in a circle, one has to go first.
 */
export async function isBlocked(graph: Graph, owner: Node): Promise<boolean> {
  for await (const blocker of blockersOf(graph, owner)) {
    if (!(await waitsFor(graph, blocker, owner))) return true
  }
  return false
}
