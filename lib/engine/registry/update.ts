/**
 * Updates objects for PUT, patches and apply, which differ in the function that computes the new object from the live one.
 * Source: k8s.io/apiserver registry/generic/registry/store.go (Update), registry/rest/update.go.
 */
import { type Floats, holdsFloat, NO_FLOATS } from '../meta/encoding/floats.ts'
import { invalid } from '../meta/errors/fielderror.ts'
import { conflict, invalidObject, MODIFIED, notFound } from '../meta/errors/status.ts'
import { sameButForTimes } from '../meta/managedfields/fieldmanager.ts'
import { checkUid } from '../meta/object/preconditions.ts'
import { parseResourceVersion, resourceVersionOrNone } from '../meta/object/resourceversion.ts'
import { fixupForUpdate, specDiffers } from '../meta/object/system.ts'
import { keepUndescribed, withoutUndescribed } from '../meta/schema/undescribed.ts'
import type { Secret } from '../meta/schema/writeonly.ts'
import type { KubeObject } from '../meta/types.ts'
import { defined } from '../meta/value/defined.ts'
import { deepEqual } from '../meta/value/equal.ts'
import type { Mutation, ReadOptions, Stored } from '../storage/interface.ts'
import { admit } from './admission.ts'
import {
  type CreateRequest,
  checkNoResourceVersion,
  dryRunOutcome,
  planNew,
  putNew,
  translateCompanionError,
} from './create.ts'
import { type Draft, groupResource, type RequestContext, type Subresource } from './kind.ts'
import { validateReferences } from './references.ts'
import {
  checkAccess,
  itemsOf,
  type Outcome,
  objectKey,
  type PlannedWrite,
  planWrite,
  refuseInvalid,
  type Store,
} from './store.ts'
import { validateChange } from './validate.ts'

/** The object that a client asks for, with managedFields and without write-only values. */
export interface Updated {
  object: KubeObject
  secrets: readonly Secret[]
  floats?: Floats
}

export interface UpdateRequest<I = unknown> {
  namespace: string
  name: string
  subresource: Subresource
  verb: 'update' | 'patch'
  /** Computes the new object from the live one. Runs again after a lost race, so it must not change its argument. Default: no change. */
  transform?(live: KubeObject): Updated | Promise<Updated>
  /** The uid that the live object must have (from the body of a PUT). */
  uid?: string
  /** The resourceVersion of the body. The read waits until this revision is visible before it reports a conflict. */
  resourceVersion?: string
  /** Set if a missing object is created (server-side apply). Runs again after a lost race. */
  createInstead?(): CreateRequest | Promise<CreateRequest>
  /** What the user must be allowed to do with the object. Default: the verb and the subresource of the update. */
  access?: { verb: string; subresource: string }
  /** Throws unless the live object is as the caller, the server itself, expects. Comes first. */
  check?(live: Stored): void
  /** What the server itself updates the object for. */
  intent?: I
}

/** Throws 422 if the update has no resourceVersion (as for custom resources), and 409 if it is not the live one. */
function checkResourceVersion({ kind }: Store, updated: KubeObject, live: Stored): void {
  const name = live.object.metadata.name ?? ''
  const version = parseResourceVersion(updated.metadata.resourceVersion ?? '')
  if (version === 0n) {
    const error = invalid('metadata.resourceVersion', 0, 'must be specified for an update')
    throw invalidObject(kind.group, kind.plural, name, [error])
  }
  if (version !== BigInt(live.rv)) throw conflict(groupResource(kind), name, MODIFIED)
}

/** Restricts an update to its subresource: the main resource keeps the old status, and `status` keeps everything else. */
function confine(updated: KubeObject, old: KubeObject, subresource: Subresource): KubeObject {
  if (subresource === 'status') {
    const { managedFields } = updated.metadata
    const { managedFields: _, ...metadata } = old.metadata
    const { status: __, ...rest } = old
    return {
      ...rest,
      metadata: { ...metadata, ...(managedFields && { managedFields }) },
      ...(updated.status !== undefined && { status: updated.status }),
    }
  }
  const { status: _, ...rest } = updated
  return { ...rest, ...(old.status !== undefined && { status: old.status }) }
}

/** Keeps the old managedFields if an update changes only their times, so that it becomes a no-op. */
function keepManagedTimes(old: KubeObject, next: KubeObject): KubeObject {
  const { managedFields } = old.metadata
  return managedFields && sameButForTimes(old, next) ? { ...next, metadata: { ...next.metadata, managedFields } } : next
}

/** Reports whether an object is being deleted and has no finalizer left, so that the same write removes it. */
const isFinalized = ({ metadata }: KubeObject): boolean =>
  metadata.deletionTimestamp !== undefined &&
  !metadata.deletionGracePeriodSeconds &&
  (metadata.finalizers ?? []).length === 0

/** Reports whether the spec changes. In Go, an integer and the same floating-point number differ. */
const changesSpec = (object: KubeObject, old: KubeObject, floats: Floats = NO_FLOATS): boolean =>
  specDiffers(object, old) || holdsFloat(object.spec, 'spec', floats)

/** Returns the object with the generation that the change raises. */
function withGeneration(
  { object, changesSpec: isHidden, raisesGeneration }: PlannedWrite,
  old: KubeObject,
  floats: Floats | undefined,
): KubeObject {
  const raised = Number(isHidden || changesSpec(object, old, floats)) + Number(raisesGeneration ?? false)
  if (raised === 0) return object
  return { ...object, metadata: { ...object.metadata, generation: (old.metadata.generation ?? 0) + raised } }
}

const unchanged = (object: KubeObject): Updated => ({ object, secrets: [] })

interface Judged {
  mutation: Mutation
  planned: PlannedWrite
  /** The resourceVersion of the update as the client wrote it, for example with leading zeros. */
  resourceVersion?: string | undefined
  /** Set if the object does not exist and the write creates it. */
  creation?: CreateRequest
}

/** Judges a request for a missing object. Throws 404 unless the request creates it. */
async function judgeMissing(store: Store, request: UpdateRequest, context: RequestContext): Promise<Judged> {
  if (!request.createInstead) throw notFound(groupResource(store.kind), request.name)
  const creation = await request.createInstead()
  const planned = await planNew(store, creation, context)
  if (!context.dryRun) checkNoResourceVersion(creation)
  return { planned, mutation: await putNew(store, planned), creation }
}

async function judge(store: Store, request: UpdateRequest, live: Stored, context: RequestContext): Promise<Judged> {
  const { kind } = store
  const { name, namespace, subresource, intent, access = request, transform = unchanged } = request
  request.check?.(live)
  checkAccess(store, live, access.verb, access.subresource, context)
  checkUid(groupResource(kind), request.uid, live.object.metadata)
  const old = live.object
  const updated = await transform(withoutUndescribed(old, kind.schema))
  checkResourceVersion(store, updated.object, live)
  const confined = confine(updated.object, old, subresource)
  const { resourceVersion } = confined.metadata
  const draft: Draft = {
    object: keepUndescribed(fixupForUpdate(confined, old), old, kind.schema),
    internal: live.internal,
    secrets: subresource === '' ? updated.secrets : [],
    ...defined({ floats: updated.floats }),
  }
  // Validate first: plans rely on the schema.
  refuseInvalid(draft.object, validateChange(kind, draft, old, subresource))
  if (subresource === '') refuseInvalid(draft.object, validateReferences(store, draft, old, context))
  const type = subresource === '' ? 'update' : 'status'
  const write = { type, draft, before: live, intent, context } as const
  const plan = await planWrite(store, write)
  const written = type === 'update' ? withGeneration(plan, old, draft.floats) : plan.object
  const planned = { ...plan, object: keepManagedTimes(old, written) }
  const { object, internal } = planned
  await admit(store, planned, old, context)
  const judged = (mutation: Mutation): Judged => ({ mutation, planned, resourceVersion })
  const key = objectKey(namespace, name)
  if (isFinalized(object)) {
    const removal = { type: 'delete', before: live, context } as const
    const companions = await itemsOf(store, key, await planWrite(store, removal), removal)
    return judged({ type: 'delete', companions })
  }
  if (deepEqual(object, old) && deepEqual(internal, live.internal)) return judged({ type: 'none' })
  const companions = await itemsOf(store, key, planned, write)
  const reserve = store.administers(context.user) !== undefined || object.metadata.deletionTimestamp !== undefined
  return judged({ type: 'put', object, internal, companions, reserve })
}

/**
 * Changes an object, or creates it if it is missing and `createInstead` is set. The commit is conditional on the object that
 * was judged: of several concurrent requests for a missing object, one creates it and the others update it. A write that
 * changes nothing is a no-op and returns the live object. Throws 404, 409 (uid, resourceVersion), 422 with causes, 403.
 */
export async function updateObject<I>(
  store: Store<I>,
  request: UpdateRequest<I>,
  context: RequestContext,
): Promise<Outcome> {
  const { kind, storage } = store
  const { name, namespace } = request
  const { deadline } = context
  const key = objectKey(namespace, name)
  let judged: Judged | undefined
  const mutate = async (live: Stored | undefined): Promise<Mutation> => {
    judged = live ? await judge(store, request, live, context) : await judgeMissing(store, request, context)
    return store.guard(store, live, judged.mutation, context)
  }
  try {
    if (context.dryRun) {
      const live = await storage.get(kind.table, key)
      await mutate(live)
      return answer(judged, live)
    }
    const options = { ...seenBy(request), deadline, by: store.authorOf(context) }
    const { before, after } = await storage.update(kind.table, key, mutate, options)
    return answer(judged, before, after)
  } catch (error) {
    throw translateCompanionError(store, name, judged?.planned.duplicate, error)
  }
}

/** Returns the revision that the client has seen: a watch may deliver a change before its row is visible. */
function seenBy({ resourceVersion = '' }: UpdateRequest): ReadOptions {
  const revision = Number(resourceVersionOrNone(resourceVersion))
  return revision > 0 && Number.isSafeInteger(revision) ? { notOlderThan: revision } : {}
}

/**
 * Returns the outcome. After a removal or a dry run, which store nothing new, the object has the resourceVersion of the update, as
 * the client wrote it. Source: k8s.io/apiserver/pkg/registry/generic/registry (DryRunnableStorage, Store.deleteWithoutFinalizers).
 */
function answer(judged: Judged | undefined, before: Stored | undefined, after?: Stored): Outcome {
  if (!judged) throw new Error('the update has no result')
  const { planned, creation, resourceVersion = String(before?.rv) } = judged
  const { object, internal, reveal } = planned
  if (after) return { stored: after, created: creation !== undefined, reveal }
  if (creation) return dryRunOutcome(planned, creation)
  if (!before) throw new Error('an update without a live object')
  const metadata = { ...object.metadata, resourceVersion }
  return { stored: { ...before, object: { ...object, metadata }, internal }, created: false }
}
