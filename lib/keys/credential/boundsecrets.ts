/**
 * Defines the record of a Secret in a cluster to which tokens of service accounts are bound: one item for each Secret, written before
 * the Secret is made, and marked as gone when the cluster has confirmed that it is removed. So no token exists whose end is not known.
 *
 *     pk=bound#KEYUID sk=clusters/prod/UID#86400.20779 name=ci uid=KEYUID account=user.alice namespace=keyplane secret=keyplane-KEYUID-1x
 *        secretUid=3c1e… secretRef=prod server=https://… since=1795257600 until=1795344000 expiryIndex=bound#clusters/prod/UID expiry=1795257900
 *     pk=boundplace sk=clusters/prod/UID expires=1795516800 expiryIndex=boundplace expiry=1795516800
 *     pk=ending sk=trust#UID@1795257600 what=trust#UID at=1795257600 name=ci
 *
 * The index of expiring keys has the records of each place in two partitions: those that live, by the time at which their keys are judged
 * again, and those that are ended, by the time at which the cluster is asked next. So what one place has left to do delays no other, and no
 * run reads the records of all. `boundplace` has the places. A record that is gone is in no partition, and stays for a while.
 */
import type { Federation } from '../../access/users/user.ts'
import { unixSeconds } from '../../engine/meta/encoding/time.ts'
import type { Companion, CompanionItem } from '../../engine/storage/interface.ts'
import type { ItemKey } from '../../engine/storage/keys.ts'
import { EXPIRY_INDEX } from './expiryindex.ts'
import {
  isCount,
  isNonEmptyText,
  isNonEmptyTextList,
  isTrue,
  type Kept,
  keptRecord,
  type RecordOf,
} from './strictrecord.ts'

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
  /** The address at which the Secret was made. */
  server: isNonEmptyText,
  /** When the item was made, and until when tokens may be bound to the Secret, in unix seconds. */
  since: isCount,
  until: isCount,
}

const OPTIONAL = {
  /** What signs the certificate of a cluster of EKS: base64 of PEM. Nothing else is sent its bearer tokens. */
  authority: isNonEmptyText,
  /** The uid that the cluster gave the Secret. Recorded before a token that is bound to it is handed out. */
  secretUid: isNonEmptyText,
  /** The uids of earlier Secrets, which are gone. */
  former: isNonEmptyTextList,
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

/** Where a record is: of which key, in which place, and which of several. */
export interface RecordKey {
  uid: string
  place: string
  slot: string
}

/** A record as it was read or written. */
export interface Recorded {
  key: RecordKey
  bound: Bound
  item: CompanionItem
}

const record = keptRecord('a bound Secret', REQUIRED, OPTIONAL)

export const boundPartition = (uid: string): string => `bound#${uid}`

/** Returns the key of an item. `place` is the text form of a place with its uid, and `slot` distinguishes the Secrets of a key there. */
export const boundKey = (uid: string, place: string, slot: string): ItemKey => ({
  pk: boundPartition(uid),
  sk: `${place}#${slot}`,
})

/** Returns the place of an item. */
export const placeOf = ({ sk }: ItemKey): string => sk.slice(0, sk.lastIndexOf('#'))

export const slotOf = ({ sk }: ItemKey): string => sk.slice(sk.lastIndexOf('#') + 1)

/** Returns the partitions of the index, beside those of EXPIRY_INDEX, that have the records of a place. */
export const livingIn = (place: string): string => `bound#${place}`
export const endedIn = (place: string): string => `unbound#${place}`

/** Returns the item of a record, which is looked at next at `due`, in unix seconds. */
export function boundItem({ pk, sk }: ItemKey, bound: Bound, due: number): CompanionItem {
  const { [EXPIRY_INDEX.partition]: _, swap: __, ...unknown } = bound.unknown ?? {}
  const partition = (bound.ended === undefined ? livingIn : endedIn)(placeOf({ pk, sk }))
  const next: Bound = { ...bound, unknown, expiry: due }
  return { pk, sk, attributes: { ...record.write(next), [EXPIRY_INDEX.partition]: partition } }
}

/** How long an item that is gone is kept. No function runs as long. */
const GONE_SECONDS = 86_400

/** Returns the item of a record that is gone. It is in no index, and the store removes it later. */
export function goneItem({ pk, sk }: ItemKey, bound: Bound, now: number): CompanionItem {
  const { expiry: _, unknown: __, ...rest } = bound
  return {
    pk,
    sk,
    attributes: { ...record.write(rest), gone: true, expires: Math.max(now, bound.until) + GONE_SECONDS },
  }
}

/** Parses an item. Throws an Error without the content for one that is not in this form. */
export const readBound = (item: CompanionItem): Bound => record.read(item.attributes)

/** Reports whether tokens that are bound to the Secret may work. */
export const isUnconfirmed = ({ gone, confirmed, failure }: Bound): boolean =>
  !gone && (!confirmed || failure !== undefined)

/** The partition of the places that have records, in the table and in the index. */
export const PLACES = 'boundplace'

/** How long a place is known after it was noted last: longer than any record lives. */
const PLACE_SECONDS = 4 * 86_400

/** Returns the item that says that there may be records in the place. It is written before them, and again before it expires. */
export const placeItem = (place: string, now: number): CompanionItem => ({
  pk: PLACES,
  sk: place,
  attributes: {
    expires: now + PLACE_SECONDS,
    [EXPIRY_INDEX.partition]: PLACES,
    [EXPIRY_INDEX.sort]: now + PLACE_SECONDS,
  },
})

/** Reports whether the item of a place is to be written again. */
export const isPlaceDue = (expires: number, now: number): boolean => expires < now + PLACE_SECONDS - 86_400

/** Returns the uids of what an exchanged key came through. */
export const gatesOf = (federation: Federation | undefined): Pick<Bound, 'trust' | 'provider'> =>
  federation ? { trust: federation.trust.uid, provider: federation.provider.uid } : {}

/** The partition of what ends keys without a change of theirs: closed gates, and clusters that are removed. */
export const ENDING = 'ending'

/** What an item of that partition is about: `trust#UID`, `provider#UID`, `key#UID` if single tokens of a key were revoked, or a place with its uid. */
export type Ending =
  | `trust#${string}`
  | `provider#${string}`
  | `key#${string}`
  | `clusters/${string}`
  | `virtualclusters/${string}`

/**
 * Returns the item that says so. Tokens that were bound until then stay dead, whatever becomes of it. `name` is that of the trust or
 * provider. Each end is an item of its own, so that none hides an earlier one.
 */
export const endingItem = (what: Ending, now: Date, name?: string): CompanionItem => ({
  pk: ENDING,
  sk: `${what}@${unixSeconds(now)}`,
  attributes: { what, at: unixSeconds(now), ...(name !== undefined && { name }) },
})

/** Returns the write of that item, for the transaction that ends it. */
export const announceEnding = (...ending: Parameters<typeof endingItem>): Companion => ({
  op: 'put',
  ...endingItem(...ending),
})
