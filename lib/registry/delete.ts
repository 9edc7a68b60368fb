/**
 * Deletes objects. Source: k8s.io/apiserver registry/generic/registry/store.go (Delete), registry/rest/delete.go. No kind
 * here has graceful deletion.
 */
import { rfc3339 } from '../meta/encoding/time.ts'
import { keyChanged, notFound, StatusError } from '../meta/errors/status.ts'
import { checkPreconditions, type Preconditions } from '../meta/object/preconditions.ts'
import type { KubeObject, ObjectMeta } from '../meta/types.ts'
import { deepEqual } from '../meta/value/equal.ts'
import type { Mutation, Stored } from '../storage/interface.ts'
import { groupResource, type RequestContext } from './kind.ts'
import { bindToMaker, isMakerChanged } from './maker.ts'
import { forEach, type HasTime, OutOfTime } from './parallel.ts'
import { authorOf, checkAccess, companionsOf, objectKey, type Store } from './store.ts'

export interface DeleteOptions<P = unknown> {
  propagationPolicy?: 'Foreground' | 'Background' | 'Orphan'
  orphanDependents?: boolean
  preconditions?: Preconditions
  /** Throws unless the live object is as the caller, the server itself, expects. Comes first. */
  check?(live: Stored): void
  /** What the kind knows of a delete by the server itself (`Strategy.companions`). */
  plan?: P
}

/** The outcome of a delete. `gone`: the object is removed. Else finalizers keep it, and `stored` is its new state. */
interface Deleted {
  gone: boolean
  stored: Stored
}

/** The finalizers that the garbage collector handles. */
export const ORPHAN = 'orphan'
export const FOREGROUND = 'foregroundDeletion'

/** Returns the garbage collector's finalizer to set: that of the options, else that of the object, else undefined. */
function wantedFinalizer(options: DeleteOptions, finalizers: readonly string[]): string | undefined {
  if (options.orphanDependents !== undefined) return options.orphanDependents ? ORPHAN : undefined
  if (options.propagationPolicy === 'Orphan') return ORPHAN
  if (options.propagationPolicy === 'Foreground') return FOREGROUND
  if (options.propagationPolicy === 'Background') return undefined
  return finalizers.find((one) => one === ORPHAN || one === FOREGROUND)
}

/** Returns the finalizers after a delete request: the same array if the set does not change. */
function finalizersOnDelete(options: DeleteOptions, finalizers: readonly string[]): readonly string[] {
  const others = finalizers.filter((one) => one !== ORPHAN && one !== FOREGROUND)
  const wanted = wantedFinalizer(options, finalizers)
  const result = wanted === undefined ? others : [...others, wanted]
  return new Set(result).symmetricDifference(new Set(finalizers)).size === 0 ? finalizers : result
}

/** Marks the metadata for deletion. The first mark sets the timestamp, which never changes, and raises the generation. */
function markDeleted(metadata: ObjectMeta, finalizers: readonly string[], now: Date): ObjectMeta {
  const first = metadata.deletionTimestamp === undefined
  return {
    ...metadata,
    finalizers: [...finalizers],
    deletionGracePeriodSeconds: 0,
    ...(first && { deletionTimestamp: rfc3339(now), generation: (metadata.generation ?? 0) + 1 }),
  }
}

async function judge(
  store: Store,
  live: Stored,
  options: DeleteOptions,
  context: RequestContext,
): Promise<{ mutation: Mutation; object: KubeObject }> {
  const { kind } = store
  const asKind = { group: kind.group, resource: kind.kind }
  checkPreconditions(asKind, options.preconditions ?? {}, live.object.metadata)
  const { object } = live
  const finalizers = finalizersOnDelete(options, object.metadata.finalizers ?? [])
  if (finalizers.length === 0) {
    const companions = await companionsOf(store, live.key, undefined, live, context.now, options.plan)
    return { object, mutation: { type: 'delete', companions } }
  }
  const after = { ...object, metadata: markDeleted(object.metadata, finalizers, context.now) }
  if (deepEqual(object.metadata, after.metadata)) return { object, mutation: { type: 'none' } }
  const marked = { object: after, internal: live.internal, secrets: [] }
  const companions = await companionsOf(store, live.key, marked, live, context.now, options.plan)
  return { object: after, mutation: { type: 'put', object: after, internal: live.internal, companions, reserve: true } }
}

function warnOf<P>({ strategy }: Store<P>, old: Stored, { warn }: RequestContext): void {
  const warning = strategy.deleteWarning?.(old)
  if (warning !== undefined) warn(warning)
}

/** Deletes one object, or marks it if it has finalizers. Throws 404, 403, 409 (preconditions). */
export async function deleteObject<P>(
  store: Store<P>,
  { namespace, name }: { namespace: string; name: string },
  options: DeleteOptions<P>,
  context: RequestContext,
  verb: 'delete' | 'deletecollection' = 'delete',
): Promise<Deleted> {
  const { kind, storage } = store
  let judged: Awaited<ReturnType<typeof judge>> | undefined
  const mutate = async (live: Stored | undefined): Promise<Mutation> => {
    if (!live) throw notFound(groupResource(kind), name)
    options.check?.(live)
    checkAccess(store, live, verb, '', context)
    judged = await judge(store, live, options, context)
    return verb === 'delete' ? bindToMaker(store, live, judged.mutation, context) : judged.mutation
  }
  const key = objectKey(namespace, name)
  if (context.dryRun) {
    const live = await storage.get(kind.table, key)
    const mutation = await mutate(live)
    if (!live || !judged) throw new Error('a delete without a live object')
    warnOf(store, live, context)
    return { gone: mutation.type === 'delete', stored: { ...live, object: judged.object } }
  }
  const { before, after } = await storage
    .update(kind.table, key, mutate, { deadline: context.deadline, by: authorOf(context) })
    .catch((error: unknown) => {
      throw isMakerChanged(error) ? keyChanged() : error
    })
  if (!before) throw new Error('a delete without a live object')
  warnOf(store, before, context)
  return { gone: after === undefined, stored: after ?? before }
}

/** The number of objects of a collection that are deleted in parallel. */
const atOnce = 16

/**
 * Deletes each of the listed objects by key and calls `done` for it. Ignores objects that are already gone. After a failure it
 * continues with the other objects, then throws. With preconditions, the first failure ends it, as in kube-apiserver: one
 * uid or resourceVersion can hold for one object only. Throws OutOfTime if `hasTime` returns false before all are deleted.
 */
export async function deleteObjects(
  store: Store,
  listed: readonly Pick<Stored, 'key'>[],
  { options, hasTime, done }: { options: DeleteOptions; hasTime: HasTime; done(key: string): void | Promise<void> },
  context: RequestContext,
): Promise<void> {
  const removeOne = async ({ key }: Pick<Stored, 'key'>): Promise<void> => {
    const [name = '', namespace = ''] = key.split('/').reverse()
    try {
      await deleteObject(store, { namespace, name }, options, context, 'deletecollection')
    } catch (error) {
      if (!(error instanceof StatusError && error.status.code === 404)) throw error
    }
    await done(key)
  }
  if (options.preconditions === undefined) return forEach(listed, hasTime, removeOne, atOnce)
  for (const one of listed) {
    if (!hasTime()) throw new OutOfTime()
    await removeOne(one)
  }
}
