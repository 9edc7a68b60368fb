/** The stores of the stored kinds, and what a request may do with objects beside the one that it names: owners, parents. */
import { randomInt, randomUUID } from 'node:crypto'
import type { Services } from '../apis/management/v1/services.ts'
import { managementRequest } from '../authorization/attributes/attributes.ts'
import { isMaster } from '../authorization/users/identity.ts'
import { notFound, StatusError } from '../meta/errors/status.ts'
import { groupVersion } from '../meta/groupversion.ts'
import type { OwnerReference } from '../meta/types.ts'
import { groupResource, type RequestContext, type StoredKind } from '../registry/kind.ts'
import { get } from '../registry/read.ts'
import { accessTo, checkAccess, keyOf, type Store } from '../registry/store.ts'
import type { Storage, Stored } from '../storage/interface.ts'
import { storedKinds } from './kinds.ts'

/** What stores need of the server that they are parts of. */
interface Stores extends Services {
  storage: Storage
  storeOf(kind: StoredKind<Services>): Store
}

/** The store of a kind, with this server behind it. */
export const storeOf = <S extends Stores>(kind: StoredKind<S>, server: S): Store => ({
  storage: server.storage,
  uuid: randomUUID,
  randomInt: (bound) => randomInt(bound),
  mayDelete: (reference, namespace, context) => mayDelete(server, reference, namespace, context),
  kind: kind as unknown as StoredKind,
  strategy: kind.strategy(server),
})

/**
 * The parent of a subresource that is created, for which its user needs `use` of the parent. Throws 404 where it is not
 * there or hidden, 403 where it is visible and may not be used.
 */
export async function parentFor(
  store: Store,
  { namespace, name }: { namespace: string; name: string },
  { verb, subresource }: { verb: string; subresource: string },
  context: RequestContext,
): Promise<Stored> {
  const stored = await store.storage.get(store.kind.table, keyOf(namespace, name))
  if (!stored) throw notFound(groupResource(store.kind), name)
  checkAccess(store, stored, verb, subresource, context)
  return stored
}

/** Whether chain and access rules let the user delete what the reference names; what is not there only administrators. */
async function mayDelete(
  server: Stores,
  { apiVersion, kind: kindName, name }: OwnerReference,
  namespace: string,
  { ...context }: RequestContext,
): Promise<boolean> {
  // What it may do to another object is not what the request was allowed or denied.
  context.note = () => undefined
  const kind = storedKinds.find((one) => one.kind === kindName && groupVersion(one) === apiVersion)
  if (!kind) return false
  const place = kind.scope === 'Namespaced' ? namespace : ''
  const attributes = managementRequest({ ...groupResource(kind), verb: 'delete', name, namespace: place })
  try {
    server.demandChain(context, attributes)
    if (isMaster(context.user)) return true
    const store = server.storeOf(kind)
    const stored = await get(store, { namespace: place, name, subresource: '' }, context)
    return accessTo(store, stored, 'delete', '', context).type === 'allowed'
  } catch (error) {
    if (error instanceof StatusError && error.status.code < 500) return false
    throw error
  }
}
