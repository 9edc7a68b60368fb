/**
 * Deletes objects. Source: k8s.io/apiserver registry/generic/registry/store.go (Delete), registry/rest/delete.go. No kind
 * here has graceful deletion.
 */
import { rfc3339 } from '../meta/encoding/time.ts'
import { credentialChanged, notFound, StatusError } from '../meta/errors/status.ts'
import { checkPreconditions, type Preconditions } from '../meta/object/preconditions.ts'
import type { KubeObject, ObjectMeta } from '../meta/types.ts'
import { deepEqual } from '../meta/value/equal.ts'
import type { Mutation, Stored } from '../storage/interface.ts'
import { groupResource, type RequestContext } from './kind.ts'
import { forEach, type HasTime, OutOfTime } from './parallel.ts'
import { isGuardFailed } from './storageerrors.ts'
import { checkAccess, itemsOf, objectKey, planWrite, type Store } from './store.ts'

export interface DeleteOptions<I = unknown> {
  propagationPolicy?: 'Foreground' | 'Background' | 'Orphan'
  orphanDependents?: boolean
  preconditions?: Preconditions
  /** Throws unless the live object is as the caller, the server itself, expects. Comes first. */
  check?(live: Stored): void
  /** What the server itself deletes the object for. */
  intent?: I
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

interface Judged {
  mutation: Mutation
  /** The object after the deletion, or as it was when it was removed. */
  object: KubeObject
  warning: string | undefined
}

async function judge(store: Store, live: Stored, options: DeleteOptions, context: RequestContext): Promise<Judged> {
  const { kind } = store
  const { intent, preconditions = {} } = options
  const asKind = { group: kind.group, resource: kind.kind }
  checkPreconditions(asKind, preconditions, live.object.metadata)
  const finalizers = finalizersOnDelete(options, live.object.metadata.finalizers ?? [])
  const isGone = finalizers.length === 0
  const { metadata } = live.object
  const object = isGone ? live.object : { ...live.object, metadata: markDeleted(metadata, finalizers, context.now) }
  const draft = { object, internal: live.internal, secrets: [] }
  const common = { before: live, intent, context }
  const write = isGone ? ({ type: 'delete', ...common } as const) : ({ type: 'mark', draft, ...common } as const)
  const planned = await planWrite(store, write)
  const judged = { object, warning: planned.deleteWarning }
  if (!isGone && deepEqual(metadata, object.metadata)) return { ...judged, mutation: { type: 'none' } }
  const companions = await itemsOf(store, live.key, planned, write)
  if (isGone) return { ...judged, mutation: { type: 'delete', companions } }
  return { ...judged, mutation: { type: 'put', object, internal: live.internal, companions, reserve: true } }
}

/** Deletes one object, or marks it if it has finalizers. Throws 404, 403, 409 (preconditions). */
export async function deleteObject<I>(
  store: Store<I>,
  { namespace, name }: { namespace: string; name: string },
  options: DeleteOptions<I>,
  context: RequestContext,
  verb: 'delete' | 'deletecollection' = 'delete',
): Promise<Deleted> {
  const { kind, storage } = store
  let judged: Judged | undefined
  const mutate = async (live: Stored | undefined): Promise<Mutation> => {
    if (!live) throw notFound(groupResource(kind), name)
    options.check?.(live)
    checkAccess(store, live, verb, '', context)
    judged = await judge(store, live, options, context)
    return verb === 'delete' ? store.guard(store, live, judged.mutation, context) : judged.mutation
  }
  const deleted = (before: Stored | undefined, after?: Stored): Deleted => {
    if (!before || !judged) throw new Error('a delete without a live object')
    const { mutation, object, warning } = judged
    if (warning !== undefined) context.warn(warning)
    return { gone: mutation.type === 'delete', stored: after ?? { ...before, object } }
  }
  const key = objectKey(namespace, name)
  if (context.dryRun) {
    const live = await storage.get(kind.table, key)
    await mutate(live)
    return deleted(live)
  }
  const { before, after } = await storage
    .update(kind.table, key, mutate, { deadline: context.deadline, by: store.authorOf(context) })
    .catch((error: unknown) => {
      throw isGuardFailed(error) ? credentialChanged() : error
    })
  return deleted(before, after)
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
