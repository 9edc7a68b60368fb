/**
 * Defines the record of a Secret in a cluster to which tokens of service accounts are bound: one item for each Secret, written before
 * the Secret is made, and marked as gone when the cluster has confirmed that it is removed. So no token exists whose end is not known.
 *
 *     pk=bound#KEYUID sk=clusters/prod/UID#86400.20779 name=ci uid=KEYUID account=user.alice namespace=keyplane secret=keyplane-KEYUID-1x
 *        secretRef=prod server=https://… since=1795257600 until=1795344000 expiryIndex=bound expiry=1795257900
 *     pk=ending sk=trust#UID
 *
 * The index of expiring keys has them in a partition of their own, by the time at which they are looked at next. An item that is gone stays
 * for a while, so that none is made in its place which a slow function would remove.
 */
import type { Federation } from '../authorization/users/user.ts'
import type { JsonObject } from '../meta/types.ts'
import type { Companion, CompanionItem } from '../storage/interface.ts'
import type { ItemKey } from '../storage/keys.ts'
import { EXPIRY_INDEX } from './expiryindex.ts'
import { isCount, isNonEmptyText, isTrue, type Kept, keptRecord, type RecordOf } from './strictrecord.ts'

const REQUIRED = {
  /** The name and the uid of the key. */
  name: isNonEmptyText,
  uid: isNonEmptyText,
  /** The service account, and the namespace of account and Secret. */
  account: isNonEmptyText,
  namespace: isNonEmptyText,
  /** The name of the Secret in the cluster. */
  secret: isNonEmptyText,
  /** Where the credentials for the cluster are, below the prefix of the deployment. */
  secretRef: isNonEmptyText,
  /** The address in these credentials when the Secret was made. */
  server: isNonEmptyText,
  /** When the item was made, and until when tokens may be bound to the Secret, in unix seconds. */
  since: isCount,
  until: isCount,
}

const OPTIONAL = {
  /** The uids of what the key came through. */
  trust: isNonEmptyText,
  provider: isNonEmptyText,
  /** When the end of the key was noticed, in unix seconds. It is final. */
  ended: isCount,
  /** How often the cluster has not confirmed the removal. */
  attempts: isCount,
  /** The last failure. */
  failure: isNonEmptyText,
  /** The cluster has confirmed a removal. The Secret is removed once more. */
  confirmed: isTrue,
  /** The cluster has confirmed the removal, or the tokens have expired. */
  gone: isTrue,
  /** When the item is looked at next. */
  expiry: isCount,
}

export interface Bound extends RecordOf<typeof REQUIRED, typeof OPTIONAL>, Kept {}

const record = keptRecord('a bound Secret', REQUIRED, OPTIONAL)

/** The partition of the index, beside those of EXPIRY_INDEX. */
export const BOUND_INDEX = 'bound'

export const boundPartition = (uid: string): string => `bound#${uid}`

/** Returns the key of an item. `place` is the text form of a place with its uid, and `slot` distinguishes the Secrets of a key there. */
export const boundKey = (uid: string, place: string, slot: string): ItemKey => ({
  pk: boundPartition(uid),
  sk: `${place}#${slot}`,
})

/** Returns the place of an item. */
export const placeOf = ({ sk }: ItemKey): string => sk.slice(0, sk.lastIndexOf('#'))

/** Returns the attributes of the item, which is looked at next at `due`, in unix seconds. */
export function boundAttributes(bound: Bound, due: number): JsonObject {
  const { [EXPIRY_INDEX.partition]: _, swap: __, ...unknown } = bound.unknown ?? {}
  const next: Bound = { ...bound, unknown, expiry: due }
  return { ...record.write(next), [EXPIRY_INDEX.partition]: BOUND_INDEX }
}

/** How long an item that is gone is kept. No function runs as long. */
const GONE_SECONDS = 86_400

/** Returns the attributes of an item that is gone. It is in no index, and the store removes it later. */
export function goneAttributes(bound: Bound, now: number): JsonObject {
  const { expiry: _, unknown: __, ...rest } = bound
  return { ...record.write(rest), gone: true, expires: Math.max(now, bound.until) + GONE_SECONDS }
}

/** Parses an item. Throws an Error without the content for one that is not in this form. */
export const readBound = (item: CompanionItem): Bound => record.read(item.attributes)

/** Reports whether tokens that are bound to the Secret may work. */
export const isUnconfirmed = ({ gone, confirmed, failure }: Bound): boolean =>
  !gone && (!confirmed || failure !== undefined)

/** Returns the uids of what an exchanged key came through. */
export const gatesOf = (federation: Federation | undefined): Pick<Bound, 'trust' | 'provider'> =>
  federation ? { trust: federation.trust.uid, provider: federation.provider.uid } : {}

/** The partition of what ends keys without a change of theirs: closed gates, and clusters that are removed. */
export const ENDING = 'ending'

/** What an item of that partition is about: `trust#UID`, `provider#UID`, or a place with its uid. */
export type Ending = `trust#${string}` | `provider#${string}` | `clusters/${string}` | `virtualclusters/${string}`

/** Returns the write that says so, for the transaction that ends it. */
export const announceEnding = (what: Ending): Companion => ({ op: 'put', pk: ENDING, sk: what, attributes: {} })

/** Reports whether the end of `what` concerns this item. */
export const isEndedBy = (what: string, item: CompanionItem): boolean => {
  const { trust, provider } = item.attributes
  if (what === placeOf(item)) return true
  return (
    (trust !== undefined && what === `trust#${trust}`) || (provider !== undefined && what === `provider#${provider}`)
  )
}
