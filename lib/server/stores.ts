/** Makes the stores of the stored kinds, and authorizes the deletion of owners of the requested object. */
import { randomInt, randomUUID } from 'node:crypto'
import type { Services } from '../apis/management/v1/services.ts'
import { managementRequest } from '../authorization/attributes/attributes.ts'
import { isMaster } from '../authorization/users/identity.ts'
import { StatusError } from '../meta/errors/status.ts'
import { groupVersion } from '../meta/groupversion.ts'
import type { OwnerReference } from '../meta/types.ts'
import type { RequestContext, StoredKind } from '../registry/kind.ts'
import { getObject } from '../registry/read.ts'
import { accessTo, type Store } from '../registry/store.ts'
import type { Storage } from '../storage/interface.ts'

/** The parts of the server that stores use. */
interface Stores extends Services {
  storage: Storage
}

/** Returns the store of a kind. */
export const storeOf = <S extends Stores, P>(kind: StoredKind<S, P>, server: S): Store<P> => ({
  storage: server.storage,
  uuid: randomUUID,
  randomInt: (bound) => randomInt(bound),
  mayDelete: (reference, namespace, context) => mayDelete(server, reference, namespace, context),
  kind: kind as unknown as StoredKind,
  strategy: kind.strategy(server),
})

/**
 * Reports whether the scope chain and the access rules let the user delete the referenced object. Only administrators may
 * refer to an object that does not exist.
 */
async function mayDelete(
  server: Stores,
  { apiVersion, kind: kindName, name }: OwnerReference,
  namespace: string,
  request: RequestContext,
): Promise<boolean> {
  // Do not note this decision: the audit record is about the object of the request.
  const context = { ...request, note: () => undefined }
  const { storedKinds } = await import('../apis/stored.ts')
  const kind = storedKinds.find((one) => one.kind === kindName && groupVersion(one) === apiVersion)
  if (!kind) return false
  const place = kind.scope === 'Namespaced' ? namespace : ''
  const attributes = managementRequest(kind, { verb: 'delete', name, namespace: place })
  try {
    await server.checkChain(context, attributes)
    if (isMaster(context.user)) return true
    const store = server.storeOf(kind)
    const stored = await getObject(store, { namespace: place, name, subresource: '' }, context)
    return accessTo(store, stored, 'delete', '', context).type === 'allowed'
  } catch (error) {
    if (error instanceof StatusError && error.status.code < 500) return false
    throw error
  }
}
