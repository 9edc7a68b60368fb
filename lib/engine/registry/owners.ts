/**
 * Maintains the owner index: one item per owner reference, stored under the owner's uid and written in the transaction of the
 * object. The garbage collector uses it to find dependents.
 */
import type { KubeObject } from '../meta/types.ts'
import type { Companion, Storage } from '../storage/interface.ts'
import { companionPages } from '../storage/readcompanions.ts'

const ownerPartition = (uid: string): string => `owner#${uid}`

/** No object has a longer uid. A reference with a longer one gets no item, because the table could refuse its key. */
const maxUidLength = 64

const uids = (object: KubeObject | undefined): Set<string> =>
  new Set((object?.metadata.ownerReferences ?? []).map(({ uid }) => uid).filter(({ length }) => length <= maxUidLength))

/** Returns the index items that change between two states of an object. `after` is undefined for a delete. */
export function ownerCompanions(
  resource: string,
  key: string,
  after: KubeObject | undefined,
  before: KubeObject | undefined,
): Companion[] {
  const now = uids(after)
  const then = uids(before)
  const sk = `${resource}/${key}`
  const attributes = { resource, key }
  return [
    ...[...now.difference(then)].map((uid): Companion => ({ op: 'put', pk: ownerPartition(uid), sk, attributes })),
    ...[...then.difference(now)].map((uid): Companion => ({ op: 'delete', pk: ownerPartition(uid), sk })),
  ]
}

/** The resource and key of a dependent. */
export interface Dependent {
  resource: string
  key: string
}

/**
 * Yields the objects that have a reference to this uid, in pages. Objects that are added or removed in the meantime may or
 * may not appear; all others appear exactly once.
 */
export async function* dependentsOf(
  storage: Pick<Storage, 'queryCompanions'>,
  uid: string,
  limit = 100,
): AsyncGenerator<Dependent[], void, void> {
  for await (const items of companionPages(storage, ownerPartition(uid), { limit })) {
    yield items.map(({ attributes: { resource, key } }) => ({ resource: String(resource), key: String(key) }))
  }
}
