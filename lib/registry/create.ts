/**
 * Creates objects. Source: k8s.io/apiserver registry/rest/create.go and registry/generic/registry/store.go (Create).
 */
import type { Floats } from '../meta/encoding/floats.ts'
import { rfc3339 } from '../meta/encoding/time.ts'
import {
  alreadyExists,
  beingDeleted,
  forbiddenResource,
  generatedNameExists,
  invalidObject,
  keyChanged,
  plainError,
  StatusError,
} from '../meta/errors/status.ts'
import { generateName } from '../meta/object/names.ts'
import { resourceVersionOrNone } from '../meta/object/resourceversion.ts'
import { finalizerWarnings } from '../meta/object/system.ts'
import type { Secret } from '../meta/schema/writeonly.ts'
import type { KubeObject } from '../meta/types.ts'
import { withoutCredentials } from '../meta/value/credentialtext.ts'
import { defined } from '../meta/value/defined.ts'
import { StorageError } from '../storage/errors.ts'
import type { Mutation, Stored } from '../storage/interface.ts'
import { type Draft, groupResource, type RequestContext } from './kind.ts'
import { bindToMaker, isMakerChanged } from './maker.ts'
import { admitOwnerReferences } from './ownerreferences.ts'
import { validateReferences } from './references.ts'
import {
  accessTo,
  authorizeWrite,
  authorOf,
  companionsOf,
  type Outcome,
  objectKey,
  ownerPermissions,
  type Store,
} from './store.ts'
import { refuseInvalid, validateNew } from './validate.ts'

/**
 * 8 attempts: with 27^5 suffixes and a million objects under one prefix, all 8 collide with probability (1/14)^8.
 * kube-apiserver uses the same number.
 */
const maxNameAttempts = 8

export interface CreateRequest<P = unknown> {
  /** Decoded and pruned, with managedFields, without system metadata, write-only values and status. */
  object: KubeObject
  secrets: readonly Secret[]
  floats?: Floats
  /** The resourceVersion that the client sent. A create refuses a number; a dry run returns it. */
  resourceVersion?: string
  /** The plan of the draft, of a create by the server itself. */
  plan?: P
}

/** Prepares, validates and admits a new object. Throws 422 with causes, and 403. */
export async function prepareNew(
  store: Store,
  { object, secrets, floats, plan }: CreateRequest,
  context: RequestContext,
): Promise<Draft> {
  const { kind, strategy } = store
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
    ...defined({ floats, plan }),
  }
  // Validate first: strategies rely on the schema.
  refuseInvalid(draft.object, validateNew(kind, draft))
  refuseInvalid(draft.object, validateReferences(store, draft, undefined, context))
  await strategy.prepareForCreate?.(draft, context)
  refuseInvalid(draft.object, strategy.validate?.(draft, undefined, context) ?? [])
  for (const warning of finalizerWarnings(draft.object.metadata)) context.warn(warning)
  authorizeWrite(store, draft, undefined, context)
  const resource = groupResource(kind)
  const subject = { group: kind.group, kind: kind.kind, resource, object: draft.object }
  await admitOwnerReferences(subject, undefined, ownerPermissions(store, draft.object, context))
  await checkQuota(store, draft, context)
  return draft
}

/**
 * Throws 409 AlreadyExists if the object exists, even if it is hidden from the user. Only a user who may see it learns that
 * it is being deleted.
 */
function checkVacant(store: Store, draft: Draft, current: Stored | undefined, context: RequestContext): void {
  if (!current) return
  const isSeen = accessTo(store, current, 'get', '', context).type !== 'hidden'
  const exists = isSeen && current.object.metadata.deletionTimestamp ? beingDeleted : alreadyExists
  throw exists(groupResource(store.kind), draft.object.metadata.name ?? '')
}

/** Returns the mutation that stores a new object. */
export async function putNew(store: Store, draft: Draft, now: Date): Promise<Mutation> {
  const { object, internal } = draft
  const { name = '', namespace = '' } = object.metadata
  const companions = await companionsOf(store, objectKey(namespace, name), draft, undefined, now)
  return { type: 'put', object, internal, companions }
}

/** Throws if the request sets a resourceVersion on an object to create. */
export function checkNoResourceVersion({ resourceVersion = '' }: CreateRequest): void {
  if (resourceVersionOrNone(resourceVersion) !== 0n) {
    throw plainError('resourceVersion should not be set on objects to be created')
  }
}

export function dryRunOutcome({ object: { metadata, ...rest }, ...draft }: Draft, sent: CreateRequest): Outcome {
  const { name = '', namespace = '' } = metadata
  const { resourceVersion } = sent
  const shown = resourceVersion && { resourceVersion: withoutCredentials(resourceVersion) }
  const object = { ...rest, metadata: { ...metadata, ...shown } }
  return {
    stored: { key: objectKey(namespace, name), rv: 0, object, internal: draft.internal },
    draft: { ...draft, object },
    created: true,
  }
}

/** Translates the error of a companion to a Status: one that must not exist, or the changed credential of the request. */
export function translateCompanionError(
  { kind, strategy }: Store,
  name: string,
  draft: Draft | undefined,
  error: unknown,
): unknown {
  if (isMakerChanged(error)) return keyChanged()
  const isCompanion = error instanceof StorageError && error.code === 'CompanionExists'
  const fieldError = isCompanion ? strategy.companionExists?.(draft?.plan) : undefined
  return fieldError ? invalidObject(kind.group, kind.kind, name, [fieldError]) : error
}

async function attempt(store: Store, request: CreateRequest, context: RequestContext): Promise<Outcome> {
  const { kind, storage } = store
  const draft = await prepareNew(store, request, context)
  const { name = '', namespace = '' } = draft.object.metadata
  const key = objectKey(namespace, name)
  if (context.dryRun) {
    checkVacant(store, draft, await storage.get(kind.table, key), context)
    await putNew(store, draft, context.now)
    return dryRunOutcome(draft, request)
  }
  checkNoResourceVersion(request)
  try {
    const mutate = async (current: Stored | undefined): Promise<Mutation> => {
      checkVacant(store, draft, current, context)
      return bindToMaker(store, current, await putNew(store, draft, context.now), context)
    }
    const { after } = await storage.update(kind.table, key, mutate, {
      deadline: context.deadline,
      by: authorOf(context),
      isNew: true,
    })
    if (!after) throw new Error('a create returned no object')
    return { stored: after, draft, created: true }
  } catch (error) {
    throw translateCompanionError(store, name, draft, error)
  }
}

/**
 * Stores a new object. If a generated name is taken, tries again with another suffix.
 * Throws 422 with causes, 403, 409 AlreadyExists.
 */
export async function createObject<P>(
  store: Store<P>,
  request: CreateRequest<P>,
  context: RequestContext,
): Promise<Outcome> {
  const { generateName: prefix, name } = request.object.metadata
  for (let tries = 1; ; tries++) {
    try {
      return await attempt(store, request, context)
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
async function checkQuota(store: Store, draft: Draft, context: RequestContext): Promise<void> {
  const { kind, storage, strategy } = store
  const quota = strategy.quota?.(draft, context)
  if (!quota) return
  const { name, partition, most } = quota
  const { length: used } = await storage.names(kind.table, { counted: partition }, most)
  if (used < most) return
  const resource = groupResource(kind)
  const counted = `count/${resource.resource}.${resource.group}`
  const why = `exceeded quota: ${name}, requested: ${counted}=1, used: ${counted}=${used}, limited: ${counted}=${most}`
  throw forbiddenResource(resource, draft.object.metadata.name ?? '', why)
}
