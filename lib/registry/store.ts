/**
 * The generic store of a stored kind: what create, get, list, update and delete mean, over Storage and the kind's
 * strategy. Source: k8s.io/apiserver/pkg/registry/generic/registry and registry/rest.
 */
import type { OwnerReferencePermissions } from '../admission/ownerreferences.ts'
import { managementRequest } from '../authorization/attributes/attributes.ts'
import { forbiddenFor } from '../authorization/attributes/forbidden.ts'
import { isMaster, MASTERS } from '../authorization/users/identity.ts'
import { notFound, type StatusError } from '../meta/errors/status.ts'
import type { KubeObject, OwnerReference } from '../meta/types.ts'
import type { Storage, Stored } from '../storage/interface.ts'
import {
  type Access,
  type Draft,
  groupResource,
  type KindInfo,
  type Reader,
  type RequestContext,
  type StoredKind,
  type Strategy,
} from './kind.ts'

/** What the store needs beside storage: chance, and what a user may do to other objects. */
export interface StoreServices {
  storage: Storage
  uuid(): string
  /** A uniform integer in [0, bound). */
  randomInt(bound: number): number
  /** Whether scope chain and access rules let the user delete this object of any kind. */
  mayDelete(reference: OwnerReference, namespace: string, context: RequestContext): Promise<boolean>
}

/** One kind, ready to be read and written. */
export interface Store<S = never> extends StoreServices {
  kind: StoredKind<S>
  strategy: Strategy
}

/** What a write leads to. `stored` is what is there now, or would be (a dry run, an object that went); see `presented`. */
export interface Outcome {
  stored: Stored
  draft?: Draft
  created: boolean
}

/**
 * The object as an answer shows it: what is stored and what the kind computes of it for the reader (an expired key's phase).
 * Nothing that is stored is changed, and nothing of it may be: where the kind computes nothing it is the stored object.
 */
export const presented = ({ strategy }: Pick<Store, 'strategy'>, stored: Stored, reader: Reader): KubeObject =>
  strategy.present?.(stored, reader) ?? stored.object

/** `name`, or `namespace/name`. */
export const keyOf = (namespace: string, name: string): string => (namespace ? `${namespace}/${name}` : name)

const masterOnly = (context: RequestContext): Access =>
  isMaster(context.user)
    ? { type: 'allowed', rule: MASTERS }
    : { type: 'denied', reason: 'only administrators may do this' }

/** What the user of the request may do with this object, by the kind's rules; whatever scopes said of it. */
export function accessTo(
  { strategy }: Pick<Store, 'strategy'>,
  stored: Stored,
  verb: string,
  subresource: string,
  context: RequestContext,
): Access {
  return strategy.access?.(stored, verb, subresource, context.user) ?? masterOnly(context)
}

/** Whether the user of the request may create objects of the kind at all. */
export function accessToCreate({ strategy }: Pick<Store, 'strategy'>, context: RequestContext): Access {
  return strategy.mayCreate?.(context.user) ?? masterOnly(context)
}

/** Why a 404 is a denial: for the audit record, which tells it from an object that is not there. */
const HIDDEN = 'not visible to this user'

/** Adds to the audit record which rule of ownership or access allowed something. */
export const noteRule = ({ rule }: Extract<Access, { type: 'allowed' }>, context: RequestContext): void => {
  if (rule !== undefined) context.note('access', rule)
}

/** The Status that an Access means: 404 for what is hidden, so that nobody learns of others' objects. */
export function refusal(
  kind: KindInfo,
  access: Exclude<Access, { type: 'allowed' }>,
  what: { verb: string; subresource: string; namespace: string; name: string },
  context: RequestContext,
): StatusError {
  const resource = groupResource(kind)
  context.note('denied', access.type === 'hidden' ? HIDDEN : access.reason)
  if (access.type === 'hidden') return notFound(resource, what.name)
  return forbiddenFor(managementRequest({ ...resource, ...what }), context.user, access.reason)
}

/** Throws the refusal unless the user may do this with the stored object. */
export function demandAccess(
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
  throw refusal(store.kind, access, { verb, subresource, namespace, name }, context)
}

/** What the admission of owner references asks about the object that is being written. */
export function ownerPermissions(store: Store, object: KubeObject, context: RequestContext): OwnerReferencePermissions {
  const { name = '', namespace = '' } = object.metadata
  const { kind, mayDelete } = store
  return {
    mayDeleteSelf: () =>
      mayDelete(
        { apiVersion: object.apiVersion, kind: kind.kind, name, uid: object.metadata.uid ?? '' },
        namespace,
        context,
      ),
    mayDeleteOwner: (reference) => mayDelete(reference, namespace, context),
  }
}
