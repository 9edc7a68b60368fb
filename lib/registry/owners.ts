/**
 * The owner index: for each owner reference of an object an item under the owner's uid, written in the transaction of
 * the object. The garbage collector finds dependents by it.
 */
import type { KubeObject } from '../meta/types.ts'
import type { Companion } from '../storage/interface.ts'

export const ownerPartition = (uid: string): string => `owner#${uid}`

const uids = (object: KubeObject | undefined): Set<string> =>
  new Set((object?.metadata.ownerReferences ?? []).map(({ uid }) => uid))

/** The index items that change between two states of an object; `after` undefined = it goes. */
export function ownerCompanions(
  resource: string,
  key: string,
  after: KubeObject | undefined,
  before: KubeObject | undefined,
): Companion[] {
  const now = uids(after)
  const then = uids(before)
  const sk = `${resource}/${key}`
  return [
    ...[...now]
      .filter((uid) => !then.has(uid))
      .map((uid): Companion => ({ op: 'put', pk: ownerPartition(uid), sk, attributes: { resource, key } })),
    ...[...then]
      .filter((uid) => !now.has(uid))
      .map((uid): Companion => ({ op: 'delete', pk: ownerPartition(uid), sk })),
  ]
}
