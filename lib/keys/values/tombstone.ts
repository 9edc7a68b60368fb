/**
 * Reads and writes tombstones: what remains of a value of a key that ended. It replaces the credential in the same place,
 * so the value is known for as long as the tombstone exists, but gives no access and cannot be supplied again.
 *
 *     pk=credential#2#bXk… sk=# ended=rotated name=ci uid=… user=alice at=1795257600 firstUsed=1795250000 expires=1797849600
 */
import type { JsonObject } from '../../engine/meta/types.ts'
import {
  isCount,
  isNonEmptyText,
  isTrue,
  type RecordOf,
  restricts,
  strictRecord,
  writable,
} from '../credential/strictrecord.ts'

/** The messages of the 401 for a value that ended. */
export const ENDED_REASONS = {
  rotated: 'access key value was rotated',
  finished: 'access key value was rotated',
  replaced: 'access key value was replaced',
  leaked: 'access key value was reported as leaked',
} as const

/**
 * Why a value ended: its overlap has passed, a `finish` ended it, another value replaced it at once, or it was reported as
 * leaked.
 */
export type EndReason = keyof typeof ENDED_REASONS

const REQUIRED = {
  ended: restricts(
    '0.1.0',
    (value: unknown): value is EndReason => typeof value === 'string' && Object.hasOwn(ENDED_REASONS, value),
  ),
  /** The name and the uid of the key object, and its user. */
  name: isNonEmptyText,
  uid: isNonEmptyText,
  user: isNonEmptyText,
  /** When the value ended, in unix seconds. */
  at: isCount,
}
const OPTIONAL = {
  /** When a value that a rotation made was first used. */
  firstUsed: isCount,
  /** The number of the value. Absent if it is not known. */
  value: isCount,
  /** The value was never used, so it made nothing. */
  unused: isTrue,
  /** The TTL attribute of the table. Absent when the tombstone is kept permanently, as that of a leaked value. */
  expires: isCount,
}

interface Tombstone extends RecordOf<typeof REQUIRED, typeof OPTIONAL> {}

const checked = writable('a tombstone', { ...REQUIRED, ...OPTIONAL })

/** Reports whether an item under the hash of a value is a tombstone. */
export const isTombstone = (item: JsonObject): boolean => Object.hasOwn(item, 'ended')

/** Parses the attributes of a tombstone. Throws an Error, without the content, for anything else. */
export const readTombstone = (item: JsonObject): Tombstone => strictRecord('a tombstone', item, REQUIRED, OPTIONAL)

/** Returns the attributes of a tombstone. `retention` is for how many seconds it is kept, unless the value has leaked. */
export const tombstoneAttributes = ({ expires: _, ...tombstone }: Tombstone, retention: number): JsonObject => ({
  ...checked(tombstone),
  ...(tombstone.ended !== 'leaked' && { expires: tombstone.at + retention }),
})
