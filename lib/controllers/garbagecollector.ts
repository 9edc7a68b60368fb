/**
 * The garbage collector: deletes objects whose owners are all gone, and lets go of owners that are being deleted once their
 * dependents are gone (foreground) or released (orphan). Every step looks at what is stored now and writes under the
 * condition that what counts of it still is so: steps can be repeated, interrupted, and done by several at once, and whoever
 * changes the rest of an object all the time does not keep the collector from it.
 * Source: k8s.io/kubernetes pkg/controller/garbagecollector (attemptToDeleteItem, processDeletingDependentsItem, orphanDependents).
 */
import type { Deadline } from '../meta/errors/deadline.ts'
import { conflict, MODIFIED, StatusError } from '../meta/errors/status.ts'
import { updateManagers } from '../meta/managedfields/fieldmanager.ts'
import { isSameOwner } from '../meta/object/ownerreferences.ts'
import { wholeObject } from '../meta/structuredmerge/typed.ts'
import type { KubeObject, ObjectMeta, OwnerReference } from '../meta/types.ts'
import { FOREGROUND, ORPHAN, remove } from '../registry/delete.ts'
import { groupResource } from '../registry/kind.ts'
import { dependentsOf } from '../registry/owners.ts'
import { forEach, type HasTime } from '../registry/parallel.ts'
import { update } from '../registry/update.ts'
import { controllerContext } from './context.ts'
import {
  type Graph,
  isBlocked,
  isOrphaning,
  isUnchanged,
  isWaiting,
  metadataOf,
  type Node,
  nodeAt,
  ownerPlace,
  type Place,
  placeOf,
} from './graph.ts'

export interface Collector extends Graph {
  now(): Date
  hasTime: HasTime
  /** Of the invocation. */
  deadline: Deadline
  /** Hears of everything that is written: `deleted` includes what finalizers still hold. */
  wrote(what: 'deleted' | 'unlinked' | 'released'): void
}

/** The name in managedFields and of the user. */
const manager = 'garbage-collector'

/** How often a step begins again because others change the object at the same time. */
const maxTries = 5

const codeOf = (error: unknown): number | undefined => (error instanceof StatusError ? error.status.code : undefined)

/** Runs `step` on the object as it is; again after a conflict, not at all when it is gone. */
async function onLive(
  place: Place | undefined,
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
      if (codeOf(error) !== 409 || tries === maxTries) throw error
    }
  }
}

const nameOf = (node: Node) => {
  const { namespace = '', name = '' } = metadataOf(node)
  return { namespace, name }
}

/** An ordinary update of the metadata, if the object is still what `stands` says; else a 409. */
async function edit(
  collector: Collector,
  node: Node,
  change: (metadata: ObjectMeta) => ObjectMeta,
  stands: (live: KubeObject) => boolean = asIn(node),
): Promise<void> {
  const { store } = node
  const { group, version, kind, schema } = store.kind
  const { uid = '' } = metadataOf(node)
  const now = collector.now()
  await update(
    store,
    {
      ...nameOf(node),
      subresource: '',
      verb: 'update',
      uid,
      transform: (live) => {
        if (!stands(live)) throw conflict(groupResource(store.kind), nameOf(node).name, MODIFIED)
        const updated = { ...live, metadata: change(live.metadata) }
        const gvk = { group, version, kind }
        const write = { manager, subresource: '', now, gvk, schema: wholeObject(schema) } as const
        return { object: updateManagers({ ...write, live, updated }), secrets: [] }
      },
    },
    controllerContext(manager, now, collector.deadline),
  )
}

/** Whether an object is still what it was in `node`, in all that counts. */
const asIn =
  ({ stored }: Node) =>
  (live: KubeObject): boolean =>
    isUnchanged(live, stored.object)

/** Takes owner references away; `stands` as for `edit`. */
async function unlink(
  collector: Collector,
  node: Node,
  drop: (reference: OwnerReference) => boolean,
  stands?: () => boolean,
): Promise<void> {
  if (!metadataOf(node).ownerReferences?.some(drop)) return
  const change = ({ ownerReferences = [], ...metadata }: ObjectMeta) => {
    const kept = ownerReferences.filter((one) => !drop(one))
    return { ...metadata, ...(kept.length > 0 && { ownerReferences: kept }) }
  }
  await edit(collector, node, change, stands)
  collector.wrote('unlinked')
}

/** Takes a finalizer of the collector away; without others, the object goes with it. */
async function release(collector: Collector, node: Node, finalizer: string): Promise<void> {
  await edit(collector, node, ({ finalizers = [], ...metadata }) => {
    const kept = finalizers.filter((one) => one !== finalizer)
    return { ...metadata, ...(kept.length > 0 && { finalizers: kept }) }
  })
  collector.wrote('released')
}

/** `unknown`: nobody can say whether the owner exists. */
type Standing = 'solid' | 'dangling' | 'waiting' | 'unknown'

async function standingOf(collector: Collector, reference: OwnerReference, { stored }: Node): Promise<Standing> {
  const place = ownerPlace(collector, reference, stored.object)
  if (!place) return 'unknown'
  const owner = await nodeAt(place)
  if (!owner || metadataOf(owner).uid !== reference.uid) return 'dangling'
  return isWaiting(metadataOf(owner)) ? 'waiting' : 'solid'
}

async function hasDependents({ storage }: Collector, node: Node): Promise<boolean> {
  const { value = [] } = await dependentsOf(storage, metadataOf(node).uid ?? '', 1).next()
  return value.length > 0
}

/** Deletes an object that no owner keeps; one that an owner keeps loses its references to the others. */
async function collect(collector: Collector, node: Node): Promise<void> {
  const { uid, deletionTimestamp, ownerReferences = [] } = metadataOf(node)
  if (deletionTimestamp !== undefined || ownerReferences.length === 0 || uid === undefined) return
  const standings = await Promise.all(ownerReferences.map((one) => standingOf(collector, one, node)))
  if (standings.includes('unknown')) return
  if (standings.includes('solid')) {
    const lost = ownerReferences.filter((_, index) => standings[index] !== 'solid')
    await unlink(collector, node, (one) => lost.some((other) => isSameOwner(one, other)))
    return
  }
  const foreground = standings.includes('waiting') && (await hasDependents(collector, node))
  const options = { stands: asIn(node), ...(foreground && { propagationPolicy: 'Foreground' as const }) }
  await remove(node.store, nameOf(node), options, controllerContext(manager, collector.now(), collector.deadline))
  collector.wrote('deleted')
}

/** Does something to every object that has a reference to this uid. */
async function eachDependent(collector: Collector, uid: string, step: (node: Node) => Promise<void>): Promise<void> {
  for await (const page of dependentsOf(collector.storage, uid)) {
    await forEach(page, collector.hasTime, (one) => onLive(placeOf(collector, one), step))
  }
}

/** An owner is gone: its dependents are looked at. */
export const collectDependents = (collector: Collector, uid: string): Promise<void> =>
  eachDependent(collector, uid, (dependent) => collect(collector, dependent))

/** Lets go of an owner that waits for dependents in vain. */
export const releaseUnblocked = (collector: Collector, place: Place): Promise<void> =>
  onLive(place, async (owner) => {
    if (!isWaiting(metadataOf(owner)) || (await isBlocked(collector, owner))) return
    await release(collector, owner, FOREGROUND)
  })

/** Does all that is to be done for one object, as dependent and as owner. */
export const look = (collector: Collector, place: Place, notOlderThan?: number): Promise<void> =>
  onLive(place, (node) => lookAt(collector, node), notOlderThan)

async function lookAt(collector: Collector, node: Node): Promise<void> {
  const { uid = '' } = metadataOf(node)
  if (isOrphaning(metadataOf(node))) {
    const isThis = (one: OwnerReference) => one.uid === uid
    // Whatever else becomes of a dependent, this owner is none.
    await eachDependent(collector, uid, (dependent) => unlink(collector, dependent, isThis, () => true))
    await release(collector, node, ORPHAN)
  } else if (isWaiting(metadataOf(node))) {
    // A dependent that cannot be deleted now keeps only an owner that it blocks.
    await collectDependents(collector, uid).finally(() => releaseUnblocked(collector, node))
  } else {
    await collect(collector, node)
  }
}
