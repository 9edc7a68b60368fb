/**
 * Makes writes of credentials conditional on the access key of the request. Otherwise a request in flight while its key is
 * revoked could still create another key.
 */
import { requireUnchangedCredential } from '../authentication/credential.ts'
import { findClosedGate, requireOpenGates } from '../authentication/gates.ts'
import type { Federation } from '../authorization/users/user.ts'
import { keyChanged } from '../meta/errors/status.ts'
import { StorageError } from '../storage/errors.ts'
import type { Mutation, Storage, Stored } from '../storage/interface.ts'
import type { ItemKey } from '../storage/keys.ts'
import type { RequestContext } from './kind.ts'
import type { Store } from './store.ts'

/** Reports whether a write failed because the credential of the request has changed. */
export const isMakerChanged = (error: unknown): boolean =>
  error instanceof StorageError && error.code === 'CompanionChanged'

/**
 * Adds the condition that the access key of the request has not changed since the request was allowed, and that the gates
 * of an exchanged key are still open. A key that changes itself needs no condition: its write is already conditional on
 * the object that was read. The server's own requests have no credential. Throws 401 if the write itself changes that
 * credential: another object must have it then.
 */
export async function bindToMaker(
  { kind, storage }: Pick<Store, 'kind' | 'storage'>,
  current: Stored | undefined,
  mutation: Mutation,
  { user }: RequestContext,
): Promise<Mutation> {
  const isSelf = current !== undefined && current.object.metadata.uid === user.key.uid
  if (mutation.type === 'none' || !kind.isCredential || !user.credential || isSelf) return mutation
  const maker = requireUnchangedCredential(user.key, user.credential)
  const { companions = [] } = mutation
  const isWritten = (item: ItemKey) => companions.some(({ pk, sk }) => pk === item.pk && sk === item.sk)
  if (isWritten(maker)) throw keyChanged()
  const gates = user.federation ? requireOpenGates(user.federation) : []
  const checked = gates.filter((gate) => !isWritten(gate))
  if (user.federation && checked.length < gates.length) await demandOpenGates(storage, user.federation)
  return { ...mutation, companions: [...companions, maker, ...checked] }
}

/**
 * Throws 401 if a gate is closed. This serves the change of a trust or a provider with a key that came through it: a
 * transaction cannot both check and write its gate. The gate changes only with the object that was read, on which the write
 * is conditional.
 */
async function demandOpenGates(storage: Pick<Storage, 'getCompanions'>, federation: Federation): Promise<void> {
  const closed = await findClosedGate(federation, (keys) => storage.getCompanions(keys))
  if (closed !== undefined) throw keyChanged()
}
