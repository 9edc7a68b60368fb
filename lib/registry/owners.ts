/**
 * The owner index: for each owner reference of an object an item under the owner's uid, written in the transaction of
 * the object. The garbage collector finds dependents by it.
 */
import type { KubeObject } from '../meta/types.ts'
import type { Companion, Storage } from '../storage/interface.ts'

const ownerPartition = (uid: string): string => `owner#${uid}`

/** No object has a longer uid. What names one has no owner here, and no item whose key the table would refuse. */
const maxUidLength = 64

const uids = (object: KubeObject | undefined): Set<string> =>
  new Set((object?.metadata.ownerReferences ?? []).map(({ uid }) => uid).filter(({ length }) => length <= maxUidLength))

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

/** Where a dependent is: resource and key in its table. */
export interface Dependent {
  resource: string
  key: string
}

/**
 * The objects that have a reference to this uid, in pages. What is added or removed meanwhile may be missing or there;
 * everything else comes exactly once.
 */
export async function* dependentsOf(
  { queryCompanions }: Pick<Storage, 'queryCompanions'>,
  uid: string,
  limit = 100,
): AsyncGenerator<Dependent[], void, void> {
  for (let after: string | undefined; ; ) {
    const { items, next } = await queryCompanions(ownerPartition(uid), { limit, ...(after !== undefined && { after }) })
    yield items.map(({ attributes: { resource, key } }) => ({ resource: String(resource), key: String(key) }))
    if (next === undefined) return
    after = next
  }
}
