/**
 * Builds and reads signals, which record observations of authentication that no row contains. Each signal is an item of an outbox
 * in the table, from which events are published. There is one for each kind, value and UTC day. The publisher removes it. For a kind
 * that recurs, the publisher leaves a mark that the event was published on this day. The store deletes both after a week.
 *
 *     pk=signal#20261121 sk=rotated#bXkga2V5IGhhc2gx kind=rotated name=ci uid=… at=1795257600 value=2 expires=1795862400
 *     pk=told#20261121   sk=reused#bXkga2V5IGhhc2gx expires=1795862400
 */
import type { JsonObject } from '../../engine/meta/types.ts'
import { DAY_SECONDS } from '../../engine/meta/value/durations.ts'
import type { CompanionItem } from '../../engine/storage/interface.ts'
import type { KeyHash } from './pepper.ts'
import { isCount, isNonEmptyText, isText, type RecordOf, strictRecord } from './strictrecord.ts'
import { shortUserAgent } from './useragent.ts'

const KINDS = ['first-used', 'rotated', 'reused', 'source-refused', 'leaked'] as const

/**
 * The first use of a key, the first use of a value that a rotation made, the use of a value that ended, a use from an
 * address that the key does not allow, and a report of a leak.
 */
export type SignalKind = (typeof KINDS)[number]

const REQUIRED = {
  kind: (value: unknown): value is SignalKind => KINDS.some((kind) => kind === value),
  /** The name and the uid of the key object. */
  name: isNonEmptyText,
  uid: isNonEmptyText,
  /** Unix seconds. */
  at: isCount,
}
const OPTIONAL = {
  /** The number of the value, if it is known. */
  value: isCount,
  /** Where the request came from, or the report names. */
  ip: isText,
  userAgent: isText,
  /** Where the value was found, if a report says so. */
  url: isText,
}

export interface Signal extends RecordOf<typeof REQUIRED, typeof OPTIONAL> {}

/** How many days signals are kept. */
export const KEPT_DAYS = 7
/** The length of the part of the hash that distinguishes values. */
const HASH_LENGTH = 16
const MAX_IP = 64
const MAX_URL = 512

/** Returns the partition with the signals of a UTC day. `at` is in unix seconds. */
export const signalPartition = (at: number): string =>
  `signal#${new Date(at * 1000).toISOString().slice(0, 10).replaceAll('-', '')}`

/** The kinds that a value may cause again and again. The other two are written with a first use, in its transaction. */
const RECURRING = ['reused', 'source-refused', 'leaked'] as const satisfies readonly SignalKind[]

/** Reports whether this release knows the kind. It leaves those of a later one, for a rollback of that one to end, or to expire. */
export const isKnown = ({ sk }: Pick<CompanionItem, 'sk'>): boolean => KINDS.some((kind) => sk.startsWith(`${kind}#`))

/** Reports whether the signal may be written again after its event was published. */
export const recurs = ({ sk }: Pick<CompanionItem, 'sk'>): boolean =>
  RECURRING.some((kind) => sk.startsWith(`${kind}#`))

/** Returns the key of the mark that the event of a signal was published. */
export const markKey = ({ pk, sk }: Pick<CompanionItem, 'pk' | 'sk'>) => ({ pk: pk.replace(/^signal#/, 'told#'), sk })

/** Returns the item of a signal about the value with this hash. Texts of clients are shortened. */
export function signalItem({ ip, userAgent, url, ...signal }: Signal, { hash }: KeyHash): CompanionItem {
  const attributes: JsonObject = {
    ...signal,
    ...(ip && { ip: ip.slice(0, MAX_IP) }),
    ...(userAgent && { userAgent: shortUserAgent(userAgent) }),
    ...(url && { url: url.slice(0, MAX_URL) }),
    expires: signal.at + KEPT_DAYS * DAY_SECONDS,
  }
  return { pk: signalPartition(signal.at), sk: `${signal.kind}#${hash.slice(0, HASH_LENGTH)}`, attributes }
}

/** Parses the attributes of a signal. Throws an Error, without the content, for anything else. */
export const readSignal = (item: JsonObject): Signal => strictRecord('a signal', item, REQUIRED, OPTIONAL)
