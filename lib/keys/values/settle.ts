/** Settles the open rotation of a key: makes its internal part agree with what the credentials of its values say. */
import type { KeyInternal, RetiringValue } from '../credential/keyinternal.ts'
import { type EndedValue, issuedUntil, type ValuesChange } from './keyvalues.ts'

/** Facts that the credential of the pending value records. */
export interface RotationFacts {
  /** When the pending value was first used, in unix seconds. */
  firstUsed?: number
  /** Set when the value can be used, and was not. */
  isUnused?: true
}

/**
 * Returns the values of a key at `now` (unix seconds). A pending value that was used is current, and the previous one is
 * retiring until its overlap has passed, then it has ended. `isPromoted` says that the key's generation rises by one.
 */
export function settle(
  internal: KeyInternal,
  { firstUsed }: RotationFacts,
  now: number,
): ValuesChange & { isPromoted: boolean } {
  const { pending, retiring } = internal
  if (pending === undefined || firstUsed === undefined) {
    if (retiring === undefined || retiring.until > now) return { internal, ended: [], isPromoted: false }
    const { retiring: _, ...rest } = internal
    return {
      internal: { ...rest, ...issuedUntil(internal, retiring.replaced) },
      ended: [rotated(retiring)],
      isPromoted: false,
    }
  }
  const { pending: _, retiring: before, ended, leak: __, value, credential: old, ...rest } = internal
  const { credential, overlap, ...facts } = pending
  const previous = value ?? { number: 1, made: facts.made }
  const until = firstUsed + overlap
  const isRetiring = ended === undefined && until > now
  return {
    internal: {
      ...rest,
      credential,
      value: facts,
      ...(isRetiring && { retiring: { ...previous, credential: old, until, replaced: firstUsed } }),
      ...issuedUntil(internal, isRetiring ? before?.replaced : firstUsed),
    },
    ended: [
      ...(ended === undefined && !isRetiring ? [rotated({ credential: old })] : []),
      ...(before ? [rotated(before)] : []),
    ],
    isPromoted: true,
  }
}

const rotated = ({ credential }: Pick<RetiringValue, 'credential'>): EndedValue => ({ credential, reason: 'rotated' })
