/**
 * Deletes objects whose owners are all gone. Releases owners that are being deleted once their dependents are gone
 * (foreground) or unlinked (orphan). Every step reads the current state and writes on the condition that the relevant part
 * has not changed. So steps can be repeated, interrupted and run concurrently, and constant changes of the rest of an object
 * do not stop the collector.
 * Source: k8s.io/kubernetes pkg/controller/garbagecollector (attemptToDeleteItem, processDeletingDependentsItem, orphanDependents).
 */

import type { Deadline } from '../meta/errors/deadline.ts'
import { conflict, MODIFIED, StatusError } from '../meta/errors/status.ts'
import { updateManagers } from '../meta/managedfields/fieldmanager.ts'
import { isSameOwner } from '../meta/object/ownerreferences.ts'
import type { ObjectMeta, OwnerReference } from '../meta/types.ts'
import { deleteObject, FOREGROUND, ORPHAN } from '../registry/delete.ts'
import { groupResource, type RequestContext } from '../registry/kind.ts'
import { managerArguments } from '../registry/managerarguments.ts'
import { dependentsOf } from '../registry/owners.ts'
import { forEach, type HasTime } from '../registry/parallel.ts'
import { updateObject } from '../registry/update.ts'
import type { Stored } from '../storage/interface.ts'
import {
  dependentKey,
  existsUnstored,
  type Graph,
  isBlocked,
  isOrphaning,
  isUnchanged,
  isWaiting,
  type Node,
  type NodeKey,
  nodeAt,
  nodeMetadata,
  ownerKey,
} from './graph.ts'

export interface Collector extends Graph {
  hasTime: HasTime
  /** The deadline of the invocation. */
  deadline: Deadline
  /** Returns the context of a request of a user who may do everything. */
  contextOf(user: `system:controller:${string}`): RequestContext
  /** Called for every write. `deleted` includes objects that finalizers keep. */
  wrote(what: 'deleted' | 'unlinked' | 'released'): void
}

/** The name of the manager in managedFields, and of the user. */
const manager = 'garbage-collector'

const contextOf = (collector: Collector) => collector.contextOf(`system:controller:${manager}`)

/** How often a step is tried if other writers change the object at the same time. */
const maxAttempts = 5

const codeOf = (error: unknown): number | undefined => (error instanceof StatusError ? error.status.code : undefined)

/** Runs `step` on the live object, again after a conflict. Does nothing if the object is gone. */
async function onLive(
  place: NodeKey | undefined,
  step: (node: Node) => Promise<void>,
  notOlderThan?: number,
): Promise<void> {
  for (let tries = 1; ; tries++) {
    const node = await nodeAt(place, notOlderThan)
    if (!node) return
    try {
      return await step(node)
    } catch (error) {
      if (codeOf(error) === 404) return
      if (codeOf(error) !== 409 || tries === maxAttempts) throw error
    }
  }
}

const nameOf = (node: Node) => {
  const { namespace = '', name = '' } = nodeMetadata(node)
  return { namespace, name }
}

/** Updates the metadata like any client. Throws 409 if `check` refuses the live object. */
async function edit(
  collector: Collector,
  node: Node,
  change: (metadata: ObjectMeta) => ObjectMeta,
  check = asIn(node),
): Promise<void> {
  const { store } = node
  const { uid = '' } = nodeMetadata(node)
  const context = contextOf(collector)
  await updateObject(
    store,
    {
      ...nameOf(node),
      subresource: '',
      verb: 'update',
      uid,
      check,
      transform: (live) => {
        const updated = { ...live, metadata: change(live.metadata) }
        return {
          object: updateManagers({ ...managerArguments(store.kind, manager, context.now), live, updated }),
          secrets: [],
        }
      },
    },
    context,
  )
}

/** Returns the check that the relevant part of an object is unchanged since `node` was read. It throws 409. */
const asIn =
  ({ stored, store }: Node) =>
  (live: Stored): void => {
    if (isUnchanged(live.object, stored.object)) return
    throw conflict(groupResource(store.kind), live.object.metadata.name ?? '', MODIFIED)
  }

/** Removes owner references; `check` as for `edit`. */
async function unlink(
  collector: Collector,
  node: Node,
  drop: (reference: OwnerReference) => boolean,
  check?: () => void,
): Promise<void> {
  if (!nodeMetadata(node).ownerReferences?.some(drop)) return
  const change = ({ ownerReferences = [], ...metadata }: ObjectMeta) => {
    const kept = ownerReferences.filter((one) => !drop(one))
    return { ...metadata, ...(kept.length > 0 && { ownerReferences: kept }) }
  }
  await edit(collector, node, change, check)
  collector.wrote('unlinked')
}

/** Removes a finalizer of the collector. If it was the last one, the object is removed too. */
async function release(collector: Collector, node: Node, finalizer: string): Promise<void> {
  await edit(collector, node, ({ finalizers = [], ...metadata }) => {
    const kept = finalizers.filter((one) => one !== finalizer)
    return { ...metadata, ...(kept.length > 0 && { finalizers: kept }) }
  })
  collector.wrote('released')
}

/** The state of an owner. `unknown`: it cannot be determined whether the owner exists. */
type Standing = 'solid' | 'dangling' | 'waiting' | 'unknown'

async function standingOf(collector: Collector, reference: OwnerReference, { stored }: Node): Promise<Standing> {
  const place = ownerKey(collector, reference, stored.object)
  if (!place) {
    const exists = existsUnstored(collector, reference, stored.object)
    return exists === undefined ? 'unknown' : exists ? 'solid' : 'dangling'
  }
  const owner = await nodeAt(place)
  if (!owner || nodeMetadata(owner).uid !== reference.uid) return 'dangling'
  return isWaiting(nodeMetadata(owner)) ? 'waiting' : 'solid'
}

async function hasDependents({ storage }: Collector, node: Node): Promise<boolean> {
  const { value = [] } = await dependentsOf(storage, nodeMetadata(node).uid ?? '', 1).next()
  return value.length > 0
}

/** Deletes an object without existing owners. If some owner exists, removes the references to the others. */
async function collect(collector: Collector, node: Node): Promise<void> {
  const { uid, deletionTimestamp, ownerReferences = [] } = nodeMetadata(node)
  if (deletionTimestamp !== undefined || ownerReferences.length === 0 || uid === undefined) return
  const standings = await Promise.all(ownerReferences.map((one) => standingOf(collector, one, node)))
  if (standings.includes('unknown')) return
  if (standings.includes('solid')) {
    const lost = ownerReferences.filter((_, index) => standings[index] !== 'solid')
    await unlink(collector, node, (one) => lost.some((other) => isSameOwner(one, other)))
    return
  }
  const foreground = standings.includes('waiting') && (await hasDependents(collector, node))
  const options = { check: asIn(node), ...(foreground && { propagationPolicy: 'Foreground' as const }) }
  await deleteObject(node.store, nameOf(node), options, contextOf(collector))
  collector.wrote('deleted')
}

/** Runs `step` on every object that has a reference to this uid. */
async function eachDependent(collector: Collector, uid: string, step: (node: Node) => Promise<void>): Promise<void> {
  for await (const page of dependentsOf(collector.storage, uid)) {
    await forEach(page, collector.hasTime, (one) => onLive(dependentKey(collector, one), step))
  }
}

/** Checks the dependents of an owner that is gone. */
export const collectDependents = (collector: Collector, uid: string): Promise<void> =>
  eachDependent(collector, uid, (dependent) => collect(collector, dependent))

/** Releases a waiting owner that no dependent blocks. */
export const releaseUnblocked = (collector: Collector, place: NodeKey): Promise<void> =>
  onLive(place, async (owner) => {
    if (!isWaiting(nodeMetadata(owner)) || (await isBlocked(collector, owner))) return
    await release(collector, owner, FOREGROUND)
  })

/** Checks one object, as a dependent and as an owner. */
export const checkObject = (collector: Collector, place: NodeKey, notOlderThan?: number): Promise<void> =>
  onLive(place, (node) => lookAt(collector, node), notOlderThan)

async function lookAt(collector: Collector, node: Node): Promise<void> {
  const { uid = '' } = nodeMetadata(node)
  if (isOrphaning(nodeMetadata(node))) {
    const isThis = (one: OwnerReference) => one.uid === uid
    // Unlink unconditionally: other changes of the dependent do not matter.
    await eachDependent(collector, uid, (dependent) => unlink(collector, dependent, isThis, () => undefined))
    await release(collector, node, ORPHAN)
  } else if (isWaiting(nodeMetadata(node))) {
    // Release the owner even if a dependent that does not block it cannot be deleted.
    await collectDependents(collector, uid).finally(() => releaseUnblocked(collector, node))
  } else {
    await collect(collector, node)
  }
}
