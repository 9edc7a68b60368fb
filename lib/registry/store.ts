/**
 * Declares the generic store of a stored kind, which combines Storage and the strategy of the kind, and checks access.
 * Source: k8s.io/apiserver/pkg/registry/generic/registry and registry/rest.
 */
import { managementRequest } from '../authorization/attributes/attributes.ts'
import { forbiddenFor } from '../authorization/attributes/forbidden.ts'
import { isMaster, MASTERS } from '../authorization/users/identity.ts'
import { forbiddenResource, notFound, type StatusError } from '../meta/errors/status.ts'
import { withoutUndescribed } from '../meta/schema/undescribed.ts'
import type { JsonObject, KubeObject, OwnerReference } from '../meta/types.ts'
import { defined } from '../meta/value/defined.ts'
import { deepEqual } from '../meta/value/equal.ts'
import type { Companion, Storage, Stored } from '../storage/interface.ts'
import type { ItemKey } from '../storage/keys.ts'
import {
  type Access,
  type Draft,
  groupResource,
  type KindInfo,
  type PresentedItems,
  type Reader,
  type RequestContext,
  type StoredKind,
  type Strategy,
} from './kind.ts'
import type { OwnerReferencePermissions } from './ownerreferences.ts'
import { ownerCompanions } from './owners.ts'

/** The services that a store needs: storage, randomness, and permissions on other objects. */
interface StoreServices {
  storage: Storage
  uuid(): string
  /** A uniform integer in [0, bound). */
  randomInt(bound: number): number
  /** Reports whether the scope chain and the access rules allow the user to delete this object; undefined if its kind is not known. */
  mayDelete(reference: OwnerReference, namespace: string, context: RequestContext): Promise<boolean | undefined>
}

/** The store of one kind. */
export interface Store<P = unknown> extends StoreServices {
  kind: StoredKind
  strategy: Strategy<P>
}

/** The outcome of a write. `stored` is the resulting state, also after a dry run or a removal; see `presentObject`. */
export interface Outcome {
  stored: Stored
  draft?: Draft
  created: boolean
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

const masterOnly = (context: RequestContext): Access =>
  isMaster(context.user)
    ? { type: 'allowed', rule: MASTERS }
    : { type: 'denied', reason: 'only administrators may do this' }

/** Returns the access of the user to an object by the rules of the kind. Scopes are checked elsewhere. */
export function accessTo(
  { strategy }: Pick<Store, 'strategy'>,
  stored: Stored,
  verb: string,
  subresource: string,
  context: RequestContext,
): Access {
  return strategy.access?.(stored, verb, subresource, context.user) ?? masterOnly(context)
}

/** Returns whether the user may create objects of the kind at all. */
export function accessToCreate({ strategy }: Pick<Store, 'strategy'>, context: RequestContext): Access {
  return strategy.mayCreate?.(context.user) ?? masterOnly(context)
}

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
  return forbiddenFor(managementRequest(kind, what), context.user, access.reason)
}

/** Throws 404 or 403 unless the user may access the stored object. */
export function checkAccess(
  store: Pick<Store, 'strategy' | 'kind'>,
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

/** Returns the items to commit with an object: those of its kind, and those of its owners. `after` is undefined for a removal. */
export async function companionsOf(
  { kind, strategy }: Pick<Store, 'kind' | 'strategy'>,
  key: string,
  after: Draft | undefined,
  before: Stored | undefined,
  now: Date,
  plan = after?.plan,
): Promise<Companion[]> {
  const own = (await strategy.companions?.(after, before, plan, now)) ?? []
  return [...own, ...ownerCompanions(kind.plural, key, after?.object, before?.object)]
}

/** Throws 403 if the rules of the kind do not let the user write the object. */
export function authorizeWrite(store: Store, draft: Draft, old: Stored | undefined, context: RequestContext): void {
  refuseWrite(store, draft, store.strategy.authorize?.(draft, old, context))
}

/** Throws 403 if the write changes anything of the object, and the user may change nothing of it. */
export function authorizeChange(store: Store, draft: Draft, old: Stored, { user }: RequestContext): void {
  if (deepEqual(draft.object, old.object)) return
  refuseWrite(store, draft, store.strategy.forbidsChange?.(draft, old, user))
}

function refuseWrite({ kind }: Pick<Store, 'kind'>, { object }: Draft, reason: string | undefined): void {
  if (reason) throw forbiddenResource(groupResource(kind), object.metadata.name ?? '', reason)
}

/** Returns the permission checks for the owner references of an object. */
export function ownerPermissions(store: Store, object: KubeObject, context: RequestContext): OwnerReferencePermissions {
  const { name = '', namespace = '' } = object.metadata
  const { kind, mayDelete } = store
  return {
    async mayDeleteSelf() {
      const self = { apiVersion: object.apiVersion, kind: kind.kind, name, uid: object.metadata.uid ?? '' }
      return (await mayDelete(self, namespace, context)) === true
    },
    mayDeleteOwner: (reference) => mayDelete(reference, namespace, context),
  }
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

/** Returns the user, the access key and the ID of a request. The server's own users have no access key. */
export function authorOf({ user, requestId }: Pick<RequestContext, 'user' | 'requestId'>): JsonObject {
  const { name, uid } = user.key
  return { user: user.name, ...(uid && { key: name, keyUid: uid }), ...(requestId && { requestId }) }
}
