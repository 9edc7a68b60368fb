/**
 * Delete and deletecollection. Source: k8s.io/apiserver registry/generic/registry/store.go (Delete),
 * registry/rest/delete.go; kinds here have no graceful deletion of their own.
 */

import { rfc3339 } from '../meta/encoding/time.ts'
import { conflict, keyChanged, MODIFIED, notFound, StatusError } from '../meta/errors/status.ts'
import { checkPreconditions, type Preconditions } from '../meta/object/preconditions.ts'
import type { KubeObject, ObjectMeta } from '../meta/types.ts'
import type { Mutation, Stored } from '../storage/interface.ts'
import { groupResource, type RequestContext } from './kind.ts'
import { boundToMaker, isMakerChanged } from './maker.ts'
import { ownerCompanions } from './owners.ts'
import { forEach, type GoOn } from './parallel.ts'
import { demandAccess, keyOf, type Store } from './store.ts'

export interface DeleteOptions {
  propagationPolicy?: 'Foreground' | 'Background' | 'Orphan'
  orphanDependents?: boolean
  preconditions?: Preconditions
  /** Of the server's own deletions: whether the object is still what was judged, asked of what the write replaces. False: 409. */
  stands?(live: KubeObject): boolean
}

/** `gone`: removed at once. Else finalizers hold the object, which is shown as it is now. */
export interface Deleted {
  gone: boolean
  stored: Stored
}

/** Finalizers that the garbage collector works off. */
export const ORPHAN = 'orphan'
export const FOREGROUND = 'foregroundDeletion'

/** The collector's finalizer that these options ask for: explicit choice, else what the object has, else none. */
function wantedFinalizer(options: DeleteOptions, finalizers: readonly string[]): string | undefined {
  if (options.orphanDependents !== undefined) return options.orphanDependents ? ORPHAN : undefined
  if (options.propagationPolicy === 'Orphan') return ORPHAN
  if (options.propagationPolicy === 'Foreground') return FOREGROUND
  if (options.propagationPolicy === 'Background') return undefined
  return finalizers.find((one) => one === ORPHAN || one === FOREGROUND)
}

/** The finalizers after a delete request; the same array where the set does not change. */
function finalizersOnDelete(options: DeleteOptions, finalizers: readonly string[]): readonly string[] {
  const others = finalizers.filter((one) => one !== ORPHAN && one !== FOREGROUND)
  const wanted = wantedFinalizer(options, finalizers)
  const result = wanted === undefined ? others : [...others, wanted]
  return new Set(result).symmetricDifference(new Set(finalizers)).size === 0 ? finalizers : result
}

/** Marks for deletion: the timestamp is set once and never moves later; the first mark raises the generation. */
function marked(metadata: ObjectMeta, finalizers: readonly string[], now: Date): ObjectMeta {
  const first = metadata.deletionTimestamp === undefined
  return {
    ...metadata,
    finalizers: [...finalizers],
    deletionGracePeriodSeconds: 0,
    ...(first && { deletionTimestamp: rfc3339(now), generation: (metadata.generation ?? 0) + 1 }),
  }
}

const unchanged = (before: ObjectMeta, after: ObjectMeta): boolean =>
  before.deletionTimestamp !== undefined &&
  before.deletionGracePeriodSeconds === 0 &&
  before.finalizers?.join('\n') === after.finalizers?.join('\n')

async function judge(
  store: Store,
  live: Stored,
  options: DeleteOptions,
  context: RequestContext,
): Promise<{ mutation: Mutation; object: KubeObject }> {
  const { kind, strategy } = store
  const asKind = { group: kind.group, resource: kind.kind }
  checkPreconditions(asKind, options.preconditions ?? {}, live.object.metadata)
  const { object } = live
  if (options.stands?.(object) === false) throw conflict(groupResource(kind), object.metadata.name ?? '', MODIFIED)
  const finalizers = finalizersOnDelete(options, object.metadata.finalizers ?? [])
  if (finalizers.length === 0) {
    const side = (await strategy.companions?.(undefined, live)) ?? []
    const owners = ownerCompanions(kind.plural, live.key, undefined, object)
    return { object, mutation: { type: 'delete', companions: [...side, ...owners] } }
  }
  const after = { ...object, metadata: marked(object.metadata, finalizers, context.now) }
  if (unchanged(object.metadata, after.metadata)) return { object, mutation: { type: 'none' } }
  const { internal } = live
  const companions = (await strategy.companions?.({ object: after, internal, secrets: [] }, live)) ?? []
  return { object: after, mutation: { type: 'put', object: after, internal, companions, reserve: true } }
}

/** Deletes one object, or marks it where finalizers hold it. Throws 404, 403, 409 (preconditions). */
export async function remove(
  store: Store,
  { namespace, name }: { namespace: string; name: string },
  options: DeleteOptions,
  context: RequestContext,
  verb: 'delete' | 'deletecollection' = 'delete',
): Promise<Deleted> {
  const { kind, storage } = store
  let judged: Awaited<ReturnType<typeof judge>> | undefined
  const mutate = async (live: Stored | undefined): Promise<Mutation> => {
    if (!live) throw notFound(groupResource(kind), name)
    demandAccess(store, live, verb, '', context)
    judged = await judge(store, live, options, context)
    return verb === 'delete' ? boundToMaker(store, live, judged.mutation, context) : judged.mutation
  }
  const key = keyOf(namespace, name)
  if (context.dryRun) {
    const live = await storage.get(kind.table, key)
    const mutation = await mutate(live)
    if (!live || !judged) throw new Error('a delete without a live object')
    return { gone: mutation.type === 'delete', stored: { ...live, object: judged.object } }
  }
  const { before, after } = await storage
    .update(kind.table, key, mutate, { deadline: context.deadline })
    .catch((error: unknown) => {
      throw isMakerChanged(error) ? keyChanged() : error
    })
  if (!before) throw new Error('a delete without a live object')
  return { gone: after === undefined, stored: after ?? before }
}

/** Objects of a collection that are deleted at once. */
const atOnce = 16

/**
 * Deletes each of the listed objects, by their keys, and tells of each; what is gone meanwhile is no error. A failure keeps no
 * other object from being deleted, and is thrown in the end. Throws OutOfTime where `goOn` ends it before all are deleted.
 */
export async function removeAll(
  store: Store,
  listed: readonly Pick<Stored, 'key'>[],
  { options, goOn, done }: { options: DeleteOptions; goOn: GoOn; done(key: string): void | Promise<void> },
  context: RequestContext,
): Promise<void> {
  const removeOne = async ({ key }: Pick<Stored, 'key'>): Promise<void> => {
    const [name = '', namespace = ''] = key.split('/').reverse()
    try {
      await remove(store, { namespace, name }, options, context, 'deletecollection')
    } catch (error) {
      if (!(error instanceof StatusError && error.status.code === 404)) throw error
    }
    await done(key)
  }
  await forEach(listed, goOn, removeOne, atOnce)
}
