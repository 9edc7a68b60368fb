/**
 * Update, for PUT, patches and apply: what differs is the function that makes the new object of the live one.
 * Source: k8s.io/apiserver registry/generic/registry/store.go (Update), registry/rest/update.go.
 */
import { admitOwnerReferences } from '../admission/ownerreferences.ts'
import { isMaster } from '../authorization/users/identity.ts'
import { type Floats, holdsFloat, NO_FLOATS } from '../meta/encoding/floats.ts'
import { invalid } from '../meta/errors/fielderror.ts'
import { conflict, invalidObject, MODIFIED, notFound } from '../meta/errors/status.ts'
import { sameButForTimes } from '../meta/managedfields/fieldmanager.ts'
import { parseResourceVersion, resourceVersionOrNone } from '../meta/object/resourceversion.ts'
import { finalizerWarnings, fixupForUpdate, specDiffers } from '../meta/object/system.ts'
import type { Secret } from '../meta/schema/writeonly.ts'
import type { KubeObject } from '../meta/types.ts'
import { deepEqual } from '../meta/value/equal.ts'
import type { Mutation, ReadOptions, Stored } from '../storage/interface.ts'
import { type CreateRequest, companionConflict, demandNoRevision, prepare, putNew, triedCreation } from './create.ts'
import { type Draft, groupResource, type RequestContext, type Subresource } from './kind.ts'
import { boundToMaker } from './maker.ts'
import { ownerCompanions } from './owners.ts'
import { demandAccess, keyOf, type Outcome, ownerPermissions, type Store } from './store.ts'
import { refuse, validateChange } from './validate.ts'

/** What a client wants the object to be, with managedFields in place and write-only values taken out. */
export interface Updated {
  object: KubeObject
  secrets: readonly Secret[]
  floats?: Floats
}

export interface UpdateRequest {
  namespace: string
  name: string
  subresource: Subresource
  verb: 'update' | 'patch'
  /** Makes the new object of the live one; runs again after a lost race, so it must not change its argument. */
  transform(live: KubeObject): Updated | Promise<Updated>
  /** uid that the live object must have (a PUT whose body says one). */
  uid?: string
  /** resourceVersion of the request's own body: what the client has seen must be seen here too before it is refused. */
  resourceVersion?: string
  /** Set where a missing object is created instead (server-side apply of the object itself). Runs again after a lost race. */
  createInstead?(): CreateRequest | Promise<CreateRequest>
}

/** resourceVersion rules of an update: a missing one is 422 (custom resources), another one than the live 409. */
function checkResourceVersion({ kind }: Store, updated: KubeObject, live: Stored): void {
  const name = live.object.metadata.name ?? ''
  const version = parseResourceVersion(updated.metadata.resourceVersion ?? '')
  if (version === 0n) {
    const error = invalid('metadata.resourceVersion', 0, 'must be specified for an update')
    throw invalidObject(kind.group, kind.plural, name, [error])
  }
  if (version !== BigInt(live.rv)) throw conflict(groupResource(kind), name, MODIFIED)
}

/** What of the request counts: the main resource leaves status alone, the status subresource everything else. */
function confine(updated: KubeObject, old: KubeObject, subresource: Subresource): KubeObject {
  if (subresource === 'status') {
    const { managedFields, resourceVersion } = updated.metadata
    const { managedFields: _, ...metadata } = old.metadata
    const { status: __, ...rest } = old
    return {
      ...rest,
      metadata: { ...metadata, ...(managedFields && { managedFields }), ...(resourceVersion && { resourceVersion }) },
      ...(updated.status !== undefined && { status: updated.status }),
    }
  }
  const { status: _, ...rest } = updated
  return { ...rest, ...(old.status !== undefined && { status: old.status }) }
}

/** A write that changes nothing of what is stored but the times of managedFields changes nothing. */
const settled = (old: KubeObject, next: KubeObject): KubeObject =>
  sameButForTimes(old, next) ? { ...next, metadata: { ...next.metadata, ...managedOf(old) } } : next

const managedOf = ({ metadata: { managedFields } }: KubeObject) => (managedFields ? { managedFields } : {})

/** An object that is being deleted and has just lost its last finalizer goes in the same write. */
const emptied = ({ metadata }: KubeObject): boolean =>
  metadata.deletionTimestamp !== undefined &&
  !metadata.deletionGracePeriodSeconds &&
  (metadata.finalizers ?? []).length === 0

/** For Go an integer and the same number in floating point are two values. */
const changesSpec = ({ object, floats = NO_FLOATS }: Draft, old: KubeObject): boolean =>
  specDiffers(object, old) || holdsFloat(object.spec, 'spec', floats)

interface Judged {
  mutation: Mutation
  draft: Draft
  /** Set where nothing was there, and the write creates. */
  creation?: CreateRequest
}

/** Throws 404 unless the request creates what is missing. */
async function judgeMissing(store: Store, request: UpdateRequest, context: RequestContext): Promise<Judged> {
  if (!request.createInstead) throw notFound(groupResource(store.kind), request.name)
  const creation = await request.createInstead()
  const draft = await prepare(store, creation, context)
  if (!context.dryRun) demandNoRevision(creation)
  return { draft, mutation: await putNew(store, draft), creation }
}

async function judge(store: Store, request: UpdateRequest, live: Stored, context: RequestContext): Promise<Judged> {
  const { kind, strategy } = store
  const { name, namespace, subresource } = request
  demandAccess(store, live, request.verb, subresource, context)
  const { uid } = live.object.metadata
  if (request.uid && request.uid !== uid) {
    const why = `Precondition failed: UID in precondition: ${request.uid}, UID in object meta: ${uid}`
    throw conflict(groupResource(kind), name, why)
  }
  const updated = await request.transform(live.object)
  checkResourceVersion(store, updated.object, live)
  const old = live.object
  const draft: Draft = {
    object: fixupForUpdate(confine(updated.object, old, subresource), old),
    internal: live.internal,
    secrets: subresource === '' ? updated.secrets : [],
    ...(updated.floats && { floats: updated.floats }),
  }
  // Strategies see only what is as the schema says.
  refuse(draft.object, validateChange(kind, draft, old, subresource))
  if (subresource === '') await strategy.prepareForUpdate?.(draft, live, context)
  if (subresource === '' && (draft.specChanged || changesSpec(draft, old))) {
    draft.object.metadata = { ...draft.object.metadata, generation: (old.metadata.generation ?? 0) + 1 }
  }
  if (subresource === '') refuse(draft.object, strategy.validate?.(draft, live, context) ?? [])
  draft.object = settled(old, draft.object)
  for (const warning of finalizerWarnings(draft.object.metadata, old.metadata)) context.warn(warning)
  if (subresource === '') strategy.authorize?.(draft, live, context)
  const subject = { group: kind.group, kind: kind.kind, resource: groupResource(kind), object: draft.object }
  await admitOwnerReferences(subject, old, ownerPermissions(store, draft.object, context))

  const { object, internal, secrets } = draft
  const key = keyOf(namespace, name)
  if (emptied(object)) {
    const side = (await strategy.companions?.(undefined, live)) ?? []
    return {
      draft,
      mutation: { type: 'delete', companions: [...side, ...ownerCompanions(kind.plural, key, undefined, old)] },
    }
  }
  if (deepEqual(object, old) && deepEqual(internal, live.internal)) return { draft, mutation: { type: 'none' } }
  const side = (await strategy.companions?.({ object, internal, secrets }, live)) ?? []
  const owners = ownerCompanions(kind.plural, key, object, old)
  const reserve = isMaster(context.user) || object.metadata.deletionTimestamp !== undefined
  return { draft, mutation: { type: 'put', object, internal, companions: [...side, ...owners], reserve } }
}

/**
 * Changes an object, or creates it where `createInstead` says how: whatever is there when the write is committed has been
 * judged, so of several that find nothing one creates, and the others change what it has created. Throws 404, 409 (uid,
 * resourceVersion), 422 with causes, 403. A write that changes nothing is none: the answer is the object as it is.
 */
export async function update(store: Store, request: UpdateRequest, context: RequestContext): Promise<Outcome> {
  const { kind, storage } = store
  const { name, namespace } = request
  const { deadline } = context
  const key = keyOf(namespace, name)
  let judged: Judged | undefined
  const mutate = async (live: Stored | undefined): Promise<Mutation> => {
    judged = live ? await judge(store, request, live, context) : await judgeMissing(store, request, context)
    return boundToMaker(store, live, judged.mutation, context)
  }
  try {
    if (context.dryRun) {
      const live = await storage.get(kind.table, key)
      await mutate(live)
      return answer(judged, live)
    }
    const { before, after } = await storage.update(kind.table, key, mutate, { ...seenBy(request), deadline })
    return answer(judged, before, after)
  } catch (error) {
    throw companionConflict(store, name, error)
  }
}

/** A store may show a change to a watcher a moment before it shows the row (lib/storage/README.md). */
function seenBy({ resourceVersion = '' }: UpdateRequest): ReadOptions {
  const revision = Number(resourceVersionOrNone(resourceVersion))
  return revision > 0 && Number.isSafeInteger(revision) ? { notOlderThan: revision } : {}
}

/** A removed or merely tried object is answered with what it would be, at the resourceVersion that is stored. */
function answer(judged: Judged | undefined, before: Stored | undefined, after?: Stored): Outcome {
  if (!judged) throw new Error('an update without a judgement')
  const { draft, creation } = judged
  if (after) return { stored: after, draft, created: creation !== undefined }
  if (creation) return triedCreation(draft, creation)
  if (!before) throw new Error('an update without a live object')
  const metadata = { ...draft.object.metadata, resourceVersion: String(before.rv) }
  return {
    stored: { ...before, object: { ...draft.object, metadata }, internal: draft.internal },
    draft,
    created: false,
  }
}
