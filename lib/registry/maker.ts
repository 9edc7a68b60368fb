/**
 * Makes writes of credentials conditional on the access key of the request. Otherwise a request in flight while its key is
 * revoked could still create another key.
 */
import { requireUnchangedCredential } from '../authentication/credential.ts'
import { requireOpenGates } from '../authentication/federation.ts'
import { keyChanged } from '../meta/errors/status.ts'
import { StorageError } from '../storage/errors.ts'
import type { Mutation, Stored } from '../storage/interface.ts'
import type { RequestContext } from './kind.ts'
import type { Store } from './store.ts'

/** Reports whether a write failed because the credential of the request has changed. */
export const isMakerChanged = (error: unknown): boolean =>
  error instanceof StorageError && error.code === 'CompanionChanged'

/**
 * Adds the condition that the access key of the request has not changed since the request was allowed, and that the gates
 * of an exchanged key are still open. A key that changes itself needs no condition: its write is already conditional on the object that was read. The server's own requests have no
 * credential. Throws 401 if the write itself changes that credential: another object must have it then.
 */
export function bindToMaker(
  { kind }: Pick<Store, 'kind'>,
  current: Stored | undefined,
  mutation: Mutation,
  { user }: RequestContext,
): Mutation {
  const isSelf = current !== undefined && current.object.metadata.uid === user.key.uid
  if (mutation.type === 'none' || !kind.isCredential || !user.credential || isSelf) return mutation
  const maker = requireUnchangedCredential(user.key, user.credential)
  const { companions = [] } = mutation
  if (companions.some(({ pk, sk }) => pk === maker.pk && sk === maker.sk)) throw keyChanged()
  const gates = user.federation ? requireOpenGates(user.federation) : []
  return { ...mutation, companions: [...companions, maker, ...gates] }
}
