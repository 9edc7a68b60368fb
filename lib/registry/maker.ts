/**
 * What is made or changed with an access key is conditional on that key, where it gives access itself: else a request that is
 * under way while its key is revoked could leave another one behind.
 */
import { requireUnchangedCredential } from '../authentication/credential.ts'
import { keyChanged } from '../meta/errors/status.ts'
import { StorageError } from '../storage/errors.ts'
import type { Mutation, Stored } from '../storage/interface.ts'
import type { RequestContext } from './kind.ts'
import type { Store } from './store.ts'

/** Whether a write was refused because the credential of its maker has changed. */
export const isMakerChanged = (error: unknown): boolean =>
  error instanceof StorageError && error.code === 'CompanionChanged'

/**
 * Adds to a write the condition that the access key of the request is as it was when the request was allowed. A key that
 * changes itself needs none: the write is conditional on the object that was judged. Requests of the server itself have no
 * credential. Throws 401 where the write is about the very credential of the maker, which another object then had to have.
 */
export function boundToMaker(
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
  return { ...mutation, companions: [...companions, maker] }
}
