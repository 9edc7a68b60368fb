/** Makes the stores of the stored kinds, and authorizes the deletion of owners of the requested object. */
import { randomInt, randomUUID } from 'node:crypto'
import { administers } from '../access/users/administrators.ts'
import { authorOf } from '../access/users/author.ts'
import { isMaster } from '../access/users/identity.ts'
import { StatusError } from '../engine/meta/errors/status.ts'
import type { OwnerReference } from '../engine/meta/types.ts'
import { attributesOf } from '../engine/registry/attributes.ts'
import type { RequestContext, StoredKind } from '../engine/registry/kind.ts'
import { getObject } from '../engine/registry/read.ts'
import { namesKind } from '../engine/registry/references.ts'
import { accessTo, type Store } from '../engine/registry/store.ts'
import type { Storage } from '../engine/storage/interface.ts'
import { bindToMaker } from '../keys/credential/maker.ts'
import type { Services } from '../keys/services.ts'

/** The parts of the server that stores use. */
interface Stores extends Services {
  storage: Storage
}

export const storeOf = <S extends Stores, I>(kind: StoredKind<S, I>, server: S): Store<I> => ({
  storage: server.storage,
  uuid: randomUUID,
  randomInt: (bound) => randomInt(bound),
  mayDelete: (reference, namespace, context) => mayDelete(server, reference, namespace, context),
  administers,
  guard: bindToMaker,
  authorOf,
  kind: kind as unknown as StoredKind,
  strategy: kind.strategy(server),
})

/**
 * Reports whether the scope chain and the access rules let the user delete the referenced object; undefined if its kind is not
 * known. Only administrators may refer to an object that does not exist, and without a scope also to one of an unknown kind.
 */
async function mayDelete(
  server: Stores,
  reference: OwnerReference,
  namespace: string,
  request: RequestContext,
): Promise<boolean | undefined> {
  // Do not note this decision: the audit record is about the object of the request.
  const context = { ...request, note: () => undefined }
  // Lazy: the other kinds are 40 KiB, and few requests set owners.
  const { storedKinds } = await import('./storedkinds.ts')
  const kind = storedKinds.find((one) => namesKind(one, reference))
  if (!kind) return isMaster(context.user) && context.user.chain.length === 0 ? true : undefined
  const { name } = reference
  const place = kind.scope === 'Namespaced' ? namespace : ''
  const attributes = attributesOf(kind, { verb: 'delete', name, namespace: place })
  try {
    await server.checkAllowed(context, attributes)
    if (isMaster(context.user)) return true
    const store = server.storeOf(kind)
    const stored = await getObject(store, { namespace: place, name, subresource: '' }, context)
    return accessTo(store, stored, 'delete', '', context).type === 'allowed'
  } catch (error) {
    if (error instanceof StatusError && error.status.code < 500) return false
    throw error
  }
}
