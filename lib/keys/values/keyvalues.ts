/**
 * Lists the values of a key. At most one is current, at most one is pending (a rotation made it and it is not used yet), and
 * at most one is retiring (the previous value after the first use of the new one).
 */
import type { KeyInternal, ValueFacts } from '../credential/keyinternal.ts'
import type { KeyHash } from '../credential/pepper.ts'
import type { EndReason } from './tombstone.ts'

export type ValueState = 'Current' | 'Pending' | 'Retiring'

/** A value that gives access by itself, as the internal part of its key tells. */
export interface KeyValue {
  state: ValueState
  credential: KeyHash
  /** Absent for the first value of a key from before values were counted. */
  facts?: ValueFacts
  /** For a pending value: for how many seconds the current one keeps working after its first use. */
  overlap?: number
  /** For a retiring value: the first second in which it is invalid. */
  until?: number
}

/** A value that a change ends. Its credential becomes a tombstone. */
export interface EndedValue {
  credential: KeyHash
  reason: EndReason
  /** When a value that a rotation made was first used. */
  firstUsed?: number
}

/** A change of the values of a key: the internal part after it, and the values that it ends. */
export interface ValuesChange {
  internal: KeyInternal
  ended: readonly EndedValue[]
}

/** Reports whether two hashes are the same, under the same pepper. */
export const sameHash = (one: KeyHash, other: KeyHash): boolean =>
  one.version === other.version && one.hash === other.hash

/** Returns the values of a key that have not ended, the current one first. */
export function valuesOf({ credential, value, ended, pending, retiring }: KeyInternal): KeyValue[] {
  const current: KeyValue[] = ended ? [] : [{ state: 'Current', credential, ...(value && { facts: value }) }]
  const others: KeyValue[] = []
  if (pending) {
    const { credential, overlap, ...facts } = pending
    others.push({ state: 'Pending', credential, facts, overlap })
  }
  if (retiring) {
    const { credential, until, replaced: _, ...facts } = retiring
    others.push({ state: 'Retiring', credential, facts, until })
  }
  return [...current, ...others]
}

/**
 * Returns until when what the key has issued is dead when a value has ended that was replaced at `replaced`. What was issued until the
 * first use of the next value was issued with earlier ones, and does not outlive them. What a value issues later ends with it anyway.
 */
export const issuedUntil = (
  { tokensEnded = -1 }: KeyInternal,
  replaced: number | undefined,
): Pick<KeyInternal, 'tokensEnded'> =>
  replaced === undefined || replaced <= tokensEnded ? {} : { tokensEnded: replaced }

/** Returns the value with this hash, if it has not ended. */
export const findValue = (internal: KeyInternal, hash: KeyHash): KeyValue | undefined =>
  valuesOf(internal).find(({ credential }) => sameHash(credential, hash))

/** Reports whether a value with this hash belongs to the key, even if it has leaked. */
export const hasValue = ({ credential, pending, retiring }: KeyInternal, hash: KeyHash): boolean =>
  [credential, pending?.credential, retiring?.credential].some((one) => one !== undefined && sameHash(one, hash))

/**
 * Returns the generation of a value, of which its credential tells: that of the key, one more for the pending value, one
 * less for the retiring one. So it stays the same when the pending value becomes current.
 */
export const generationOf = ({ state }: Pick<KeyValue, 'state'>, generation: number): number =>
  generation + (state === 'Pending' ? 1 : state === 'Retiring' ? -1 : 0)

/** Returns the highest number of a value of the key. */
export const lastNumber = ({ value, pending }: KeyInternal): number =>
  Math.max(value?.number ?? 1, pending?.number ?? 1)

/** Reports whether the key has only ever had values that replaced each other at once. */
export const isUnrotated = (internal: KeyInternal): boolean =>
  lastNumber(internal) === 1 && !internal.pending && !internal.retiring && !internal.ended
