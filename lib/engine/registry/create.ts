/**
 * Creates objects. Source: k8s.io/apiserver registry/rest/create.go and registry/generic/registry/store.go (Create).
 */
import type { Floats } from '../meta/encoding/floats.ts'
import { rfc3339 } from '../meta/encoding/time.ts'
import type { FieldError } from '../meta/errors/fielderror.ts'
import {
  alreadyExists,
  beingDeleted,
  credentialChanged,
  forbiddenResource,
  generatedNameExists,
  invalidObject,
  plainError,
  StatusError,
} from '../meta/errors/status.ts'
import { generateName } from '../meta/object/names.ts'
import { resourceVersionOrNone } from '../meta/object/resourceversion.ts'
import type { Secret } from '../meta/schema/writeonly.ts'
import type { KubeObject } from '../meta/types.ts'
import { withoutCredentials } from '../meta/value/credentialtext.ts'
import { defined } from '../meta/value/defined.ts'
import { StorageError } from '../storage/errors.ts'
import type { Mutation, Stored } from '../storage/interface.ts'
import { admit } from './admission.ts'
import { type Draft, groupResource, type RequestContext } from './kind.ts'
import { validateReferences } from './references.ts'
import { isGuardFailed } from './storageerrors.ts'
import {
  accessTo,
  itemsOf,
  type Outcome,
  objectKey,
  type PlannedWrite,
  planWrite,
  refuseInvalid,
  type Store,
} from './store.ts'
import { validateNew } from './validate.ts'

/**
 * 8 attempts: with 27^5 suffixes and a million objects under one prefix, all 8 collide with probability (1/14)^8.
 * kube-apiserver uses the same number.
 */
const maxNameAttempts = 8

export interface CreateRequest<I = unknown> {
  /** Decoded and pruned, with managedFields, without system metadata, write-only values and status. */
  object: KubeObject
  secrets: readonly Secret[]
  floats?: Floats
  /** The resourceVersion that the client sent. A create refuses a number; a dry run returns it. */
  resourceVersion?: string
  /** What the server itself creates the object for. */
  intent?: I
}

/** Validates, plans and admits a new object. Throws 422 with causes, and 403. */
export async function planNew(
  store: Store,
  { object, secrets, floats, intent }: CreateRequest,
  context: RequestContext,
): Promise<PlannedWrite> {
  const { kind } = store
  const { generateName: prefix, name } = object.metadata
  const draft: Draft = {
    object: {
      ...object,
      metadata: {
        ...object.metadata,
        ...(!name && prefix && { name: generateName(prefix, store.randomInt) }),
        uid: store.uuid(),
        creationTimestamp: rfc3339(context.now),
        generation: 1,
      },
    },
    internal: {},
    secrets,
    ...defined({ floats }),
  }
  // Validate first: plans rely on the schema.
  refuseInvalid(draft.object, validateNew(kind, draft))
  refuseInvalid(draft.object, validateReferences(store, draft, undefined, context))
  const planned = await planWrite(store, { type: 'create', draft, intent, context })
  await admit(store, planned, undefined, context)
  await checkQuota(store, planned)
  return planned
}

/**
 * Throws 409 AlreadyExists if the object exists, even if it is hidden from the user. Only a user who may see it learns that
 * it is being deleted.
 */
function checkVacant(store: Store, name: string, current: Stored | undefined, context: RequestContext): void {
  if (!current) return
  const isSeen = accessTo(store, current, 'get', '', context).type !== 'hidden'
  const exists = isSeen && current.object.metadata.deletionTimestamp ? beingDeleted : alreadyExists
  throw exists(groupResource(store.kind), name)
}

/** Returns the mutation that stores a new object. */
export async function putNew(store: Store, planned: PlannedWrite): Promise<Extract<Mutation, { type: 'put' }>> {
  const { object, internal } = planned
  const { name = '', namespace = '' } = object.metadata
  const companions = await itemsOf(store, objectKey(namespace, name), planned, { type: 'create' })
  return { type: 'put', object, internal, companions }
}

/** Throws if the request sets a resourceVersion on an object to create. */
export function checkNoResourceVersion({ resourceVersion = '' }: CreateRequest): void {
  if (resourceVersionOrNone(resourceVersion) !== 0n) {
    throw plainError('resourceVersion should not be set on objects to be created')
  }
}

export function dryRunOutcome(
  { object: { metadata, ...rest }, internal, reveal }: PlannedWrite,
  sent: CreateRequest,
): Outcome {
  const { name = '', namespace = '' } = metadata
  const { resourceVersion } = sent
  const shown = resourceVersion && { resourceVersion: withoutCredentials(resourceVersion) }
  const object = { ...rest, metadata: { ...metadata, ...shown } }
  return { stored: { key: objectKey(namespace, name), rv: 0, object, internal }, created: true, reveal }
}

/** Translates the error of a companion to a Status: one that must not exist, or a condition of the guard. */
export function translateCompanionError(
  { kind }: Pick<Store, 'kind'>,
  name: string,
  duplicate: FieldError | undefined,
  error: unknown,
): unknown {
  if (isGuardFailed(error)) return credentialChanged()
  const isDuplicate = duplicate !== undefined && error instanceof StorageError && error.code === 'CompanionExists'
  return isDuplicate ? invalidObject(kind.group, kind.kind, name, [duplicate]) : error
}

/** A new object that only its commit can still refuse. */
export interface Creation extends Pick<PlannedWrite, 'object' | 'internal'> {
  /** Stores the object. A dry run stores nothing. Throws 409 AlreadyExists, and 422 for a side item that exists. */
  commit(): Promise<Outcome>
}

/** Plans a new object up to its commit. Throws 422 with causes, 403, and in a dry run 409 AlreadyExists. */
export async function beginCreate<I>(
  store: Store<I>,
  request: CreateRequest<I>,
  context: RequestContext,
): Promise<Creation> {
  const { kind, storage } = store
  const planned = await planNew(store, request, context)
  const { name = '', namespace = '' } = planned.object.metadata
  const key = objectKey(namespace, name)
  if (context.dryRun) {
    checkVacant(store, name, await storage.get(kind.table, key), context)
    await putNew(store, planned)
    return { ...planned, commit: async () => dryRunOutcome(planned, request) }
  }
  checkNoResourceVersion(request)
  let first: Mutation | undefined = await putNew(store, planned)
  const mutate = async (current: Stored | undefined): Promise<Mutation> => {
    checkVacant(store, name, current, context)
    // After a lost race, the items depend on what the other write has changed.
    const mutation = first ?? (await putNew(store, planned))
    first = undefined
    return store.guard(store, current, mutation, context)
  }
  const options = { deadline: context.deadline, by: store.authorOf(context), isNew: true }
  return {
    ...planned,
    async commit() {
      try {
        const { after } = await storage.update(kind.table, key, mutate, options)
        if (!after) throw new Error('a create returned no object')
        return { stored: after, created: true, reveal: planned.reveal }
      } catch (error) {
        throw translateCompanionError(store, name, planned.duplicate, error)
      }
    },
  }
}

/**
 * Stores a new object. If a generated name is taken, tries again with another suffix.
 * Throws 422 with causes, 403, 409 AlreadyExists.
 */
export async function createObject<I>(
  store: Store<I>,
  request: CreateRequest<I>,
  context: RequestContext,
): Promise<Outcome> {
  const { generateName: prefix, name } = request.object.metadata
  for (let tries = 1; ; tries++) {
    try {
      const creation = await beginCreate(store, request, context)
      return await creation.commit()
    } catch (error) {
      const taken = error instanceof StatusError && error.status.reason === 'AlreadyExists' && prefix
      if (!taken) throw error
      if (name || tries === maxNameAttempts) {
        throw generatedNameExists(error)
      }
    }
  }
}

/**
 * Throws 403 if the new object exceeds the quota of its owner. Concurrent creates are not counted yet, so the number of
 * objects may exceed the quota by as many. Source: k8s.io/apiserver pkg/admission/plugin/resourcequota.
 */
async function checkQuota({ kind, storage }: Store, { quota, object }: PlannedWrite): Promise<void> {
  if (!quota) return
  const { name, partition, most } = quota
  const { length: used } = await storage.names(kind.table, { counted: partition }, most)
  if (used < most) return
  const resource = groupResource(kind)
  const counted = `count/${resource.resource}.${resource.group}`
  const why = `exceeded quota: ${name}, requested: ${counted}=1, used: ${counted}=${used}, limited: ${counted}=${most}`
  throw forbiddenResource(resource, object.metadata.name ?? '', why)
}
