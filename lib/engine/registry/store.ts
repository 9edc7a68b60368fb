/**
 * Declares the generic store of a stored kind, which combines Storage and the strategy of the kind, and checks access.
 * Source: k8s.io/apiserver/pkg/registry/generic/registry and registry/rest.
 */
import type { FieldError } from '../meta/errors/fielderror.ts'
import { invalidObject, notFound, type StatusError } from '../meta/errors/status.ts'
import { parseGroupVersion } from '../meta/groupversion.ts'
import { withoutUndescribed } from '../meta/schema/undescribed.ts'
import type { Secret } from '../meta/schema/writeonly.ts'
import type { JsonObject, KubeObject, OwnerReference } from '../meta/types.ts'
import { defined } from '../meta/value/defined.ts'
import type { Companion, Mutation, Storage, Stored } from '../storage/interface.ts'
import type { ItemKey } from '../storage/keys.ts'
import { attributesOf } from './attributes.ts'
import { forbiddenFor } from './forbidden.ts'
import {
  type Access,
  type Draft,
  groupResource,
  type KindInfo,
  type Planned,
  type PresentedItems,
  type Reader,
  type RequestContext,
  type StoredKind,
  type Strategy,
  type Write,
} from './kind.ts'
import { ownerCompanions } from './owners.ts'
import type { User } from './user.ts'

/** The services that a store needs: storage, randomness, and what the program around it knows of the users. */
interface StoreServices {
  storage: Storage
  uuid(): string
  /** A uniform integer in [0, bound). */
  randomInt(bound: number): number
  /** Reports whether the credential and the access rules allow the user to delete this object; undefined if its kind is not known. */
  mayDelete(reference: OwnerReference, namespace: string, context: RequestContext): Promise<boolean | undefined>
  /** Returns the rule by which the user administers all objects, for the audit record; undefined for everyone else. */
  administers(user: User): string | undefined
  /**
   * Returns the mutation with the conditions under which the request may still make it. `current` is the object that it changes. A failed
   * condition is a 401. Throws it if a condition cannot be met.
   */
  guard(
    store: Pick<Store, 'kind' | 'storage'>,
    current: Stored | undefined,
    mutation: Mutation,
    context: RequestContext,
  ): Promise<Mutation>
  /** Returns what the change log records of whoever makes the request. */
  authorOf(context: RequestContext): JsonObject
}

/** The store of one kind. */
export interface Store<I = unknown> extends StoreServices {
  kind: StoredKind
  strategy: Strategy<I>
}

/** The outcome of a write. `stored` is the resulting state, also after a dry run or a removal; see `presentObject`. */
export interface Outcome {
  stored: Stored
  created: boolean
  /** Write-only values to return in this response only. */
  reveal?: readonly Secret[] | undefined
}

/**
 * Returns the object for a response: the stored object with the fields that the kind computes for the reader (the phase of
 * an expired key), and without those that only another release knows, because clients could not send them back. Do not change the
 * result: it shares parts with the stored object.
 */
export function presentObject(
  { strategy, kind }: Pick<Store, 'strategy' | 'kind'>,
  stored: Stored,
  reader: Reader,
  items?: PresentedItems,
): KubeObject {
  const object = withoutUndescribed(stored.object, kind.schema)
  return strategy.status
    ? { ...object, status: defined({ ...object.status, ...strategy.status(stored, reader, items) }) as JsonObject }
    : object
}

/**
 * Reads the side items that objects with these internal parts need in responses, in one call, and returns a function that
 * presents the objects. Most need none, and nothing is read. The objects in responses of writes are presented without.
 */
export async function presenterOf(
  { strategy, storage, kind }: Pick<Store, 'strategy' | 'storage' | 'kind'>,
  internals: Iterable<JsonObject>,
  reader: Reader,
): Promise<(stored: Stored) => KubeObject> {
  const keys: ItemKey[] = []
  if (strategy.itemsToPresent) for (const internal of internals) keys.push(...strategy.itemsToPresent(internal))
  if (keys.length === 0) return (stored) => presentObject({ strategy, kind }, stored, reader)
  const found = await storage.getCompanions(keys)
  const items = new Map(keys.map(({ pk, sk }, index) => [JSON.stringify([pk, sk]), found[index]?.attributes]))
  const itemOf: PresentedItems = ({ pk, sk }) => items.get(JSON.stringify([pk, sk]))
  return (stored) => presentObject({ strategy, kind }, stored, reader, itemOf)
}

/** Returns `name`, or `namespace/name`. */
export const objectKey = (namespace: string, name: string): string => (namespace ? `${namespace}/${name}` : name)

/** Returns the access to objects of a kind without rules. */
function administratorsOnly({ administers }: Pick<Store, 'administers'>, user: User): Access {
  const rule = administers(user)
  return rule === undefined ? { type: 'denied', reason: 'only administrators may do this' } : { type: 'allowed', rule }
}

/** Returns the access of the user to an object by the rules of the kind; undefined is for a create. What a credential allows is checked elsewhere. */
export function accessTo(
  store: Pick<Store, 'strategy' | 'administers'>,
  stored: Stored | undefined,
  verb: string,
  subresource: string,
  { user }: RequestContext,
): Access {
  return store.strategy.access?.(stored, verb, subresource, user) ?? administratorsOnly(store, user)
}

/** Returns whether the user may create objects of the kind at all. */
export const accessToCreate = (store: Pick<Store, 'strategy' | 'administers'>, context: RequestContext): Access =>
  accessTo(store, undefined, 'create', '', context)

/** The audit note that distinguishes a 404 for a hidden object from one for a missing object. */
const HIDDEN = 'not visible to this user'

/** Adds the rule that allowed the access to the audit record. */
export const noteRule = ({ rule }: Extract<Access, { type: 'allowed' }>, context: RequestContext): void => {
  if (rule !== undefined) context.note('access', rule)
}

/** Returns the Status of a denied access: 404 for a hidden object, so that users do not learn of others' objects. */
export function accessError(
  kind: KindInfo,
  access: Exclude<Access, { type: 'allowed' }>,
  what: { verb: string; subresource: string; namespace: string; name: string },
  context: RequestContext,
): StatusError {
  const resource = groupResource(kind)
  context.note('denied', access.type === 'hidden' ? HIDDEN : access.reason)
  if (access.type === 'hidden') return notFound(resource, what.name)
  return forbiddenFor(attributesOf(kind, what), context.user, access.reason)
}

/** Throws 404 or 403 unless the user may access the stored object. */
export function checkAccess(
  store: Pick<Store, 'strategy' | 'kind' | 'administers'>,
  stored: Stored,
  verb: string,
  subresource: string,
  context: RequestContext,
): void {
  const access = accessTo(store, stored, verb, subresource, context)
  if (access.type === 'allowed') {
    noteRule(access, context)
    return
  }
  const { name = '', namespace = '' } = stored.object.metadata
  throw accessError(store.kind, access, { verb, subresource, namespace, name }, context)
}

/** A planned write, with what it stores. */
export type PlannedWrite = Planned & Pick<Draft, 'object' | 'internal'>

/** Plans a write as its kind does. Throws what the plan throws. */
export async function planWrite({ strategy }: Pick<Store, 'strategy'>, write: Write): Promise<PlannedWrite> {
  const { object, internal } = write.draft ?? write.before
  return { object, internal, ...(await strategy.plan?.(write)) }
}

/** Returns the items to commit with an object: those of its kind, and those of its owners. */
export async function itemsOf(
  { kind }: Pick<Store, 'kind'>,
  key: string,
  { items, object }: PlannedWrite,
  { type, before }: Pick<Write, 'type' | 'before'>,
): Promise<Companion[]> {
  const own = (await items?.(object)) ?? []
  return [...own, ...ownerCompanions(kind.plural, key, type === 'delete' ? undefined : object, before?.object)]
}

/** Throws 422 with these errors, if any. The Status uses the group, kind and name that the object itself has. */
export function refuseInvalid({ apiVersion, kind, metadata }: KubeObject, errors: readonly FieldError[]): void {
  if (errors.length === 0) return
  throw invalidObject(parseGroupVersion(apiVersion).group, kind, metadata.name ?? '', errors)
}

/** Yields the objects in these partitions, or whose names begin so, by name and at one revision. Does not check who may see them. */
export async function* eachStored(
  { kind, storage }: { kind: Pick<Store['kind'], 'table'>; storage: Storage },
  { partitions, namePrefix }: { partitions?: readonly string[] | undefined; namePrefix?: string } = {},
): AsyncGenerator<Stored> {
  const range = { keepsNext: true, ...defined({ partitions, namePrefix }) } as const
  for (let page = await storage.list(kind.table, range); ; ) {
    for (const one of page.items) yield one.read()
    if (page.next === undefined) return
    page = await storage.list(kind.table, { ...range, after: page.next, at: page.rv })
  }
}
