/**
 * Who owns whom. An owner reference names a kind, a name and a uid; the owner is in the dependent's namespace, or in none.
 * Source: k8s.io/kubernetes pkg/controller/garbagecollector (isDangling, classifyReferences, blockingDependents).
 */

import { groupVersion } from '../meta/groupversion.ts'
import type { KubeObject, ObjectMeta, OwnerReference } from '../meta/types.ts'
import { deepEqual } from '../meta/value/equal.ts'
import { FOREGROUND, ORPHAN } from '../registry/delete.ts'
import { type Dependent, dependentsOf } from '../registry/owners.ts'
import { forEach, type HasTime } from '../registry/parallel.ts'
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

const counting = ({ metadata: { uid, ownerReferences = [], finalizers = [], deletionTimestamp } }: KubeObject) => ({
  uid,
  ownerReferences,
  finalizers,
  deletionTimestamp,
})

/** Whether two states of an object are the same in all that counts for the garbage collector. */
export const isUnchanged = (one: KubeObject, other: KubeObject): boolean => deepEqual(counting(one), counting(other))

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

/** How many owners are looked at to find out whether waiting goes in a circle. */
const maxCircle = 1000

/**
 * The uids of those that wait for `owner`, directly or by way of others that wait. Looked for upwards, from the dependent
 * to its few owners: downwards, everything that hangs below would have to be read again for each dependent.
 */
async function waitingFor(graph: Graph, owner: Node): Promise<ReadonlySet<string | undefined>> {
  const found = new Set([metadataOf(owner).uid])
  const asked = new Set<string>()
  const queue = [owner]
  for (const node of queue) {
    for (const reference of metadataOf(node).ownerReferences ?? []) {
      const { uid, blockOwnerDeletion } = reference
      const place = ownerPlace(graph, reference, node.stored.object)
      const id = `${place?.store.kind.plural}/${place?.key} ${uid}`
      if (blockOwnerDeletion !== true || asked.has(id)) continue
      if (asked.size === maxCircle) return found
      asked.add(id)
      const above = await nodeAt(place)
      if (!above || metadataOf(above).uid !== uid || !isWaiting(metadataOf(above)) || found.has(uid)) continue
      found.add(uid)
      queue.push(above)
    }
  }
  return found
}

/**
 * Whether a dependent keeps this waiting owner. One that waits for the owner itself does not: of objects that own each
 * other in a circle, one has to go first. Throws OutOfTime where there is no time to look at all dependents.
 */
export async function isBlocked(graph: Graph & { hasTime: HasTime }, owner: Node): Promise<boolean> {
  let circle: Promise<ReadonlySet<string | undefined>> | undefined
  let isHeld = false
  for await (const page of dependentsOf(graph.storage, metadataOf(owner).uid ?? '')) {
    await forEach(page, graph.hasTime, async (one) => {
      if (isHeld) return
      const dependent = await nodeAt(placeOf(graph, one))
      if (!dependent || !blocks(graph, dependent, owner)) return
      if (isWaiting(metadataOf(dependent))) {
        circle ??= waitingFor(graph, owner)
        if ((await circle).has(metadataOf(dependent).uid)) return
      }
      isHeld = true
    })
    if (isHeld) return true
  }
  return false
}
