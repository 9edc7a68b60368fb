/**
 * Changes the values of a key: rotates them, ends a rotation, and replaces all of them. The
 * functions take the internal part of the key as `settle` returns it, so a pending value is unused.
 */
import { defined } from '../../engine/meta/value/defined.ts'
import type { KeyInternal, ValueFacts } from '../credential/keyinternal.ts'
import { REQUEST_SECONDS } from '../credential/keystatus.ts'
import type { KeyHash } from '../credential/pepper.ts'
import { type EndedValue, issuedUntil, isUnrotated, lastNumber, type ValuesChange, valuesOf } from './keyvalues.ts'
import type { EndReason } from './tombstone.ts'

/** A value to give to a key. */
interface NewValue extends Omit<ValueFacts, 'number' | 'since'> {
  credential: KeyHash
  by: ValueMaker
}

/**
 * Which value of the key presents the request for a new one: its facts, `other` for one of another key, or `unknown`. The key
 * may not know its first value.
 */
export type ValueMaker = Pick<ValueFacts, 'number' | 'since'> | 'other' | 'unknown'

/** Returns the facts of a new value, with the record of what made it. */
function factsOf({ by, made, hint }: Omit<NewValue, 'credential'>, number: number): ValueFacts {
  const since = by === 'other' ? number : by === 'unknown' ? undefined : by.number === 1 ? 1 : by.since
  return { number, made, ...(since !== undefined && { since }), ...(hint !== undefined && { hint }) }
}

/**
 * Returns the change that adds a pending value. A pending one that exists ends, as `replaced`. `created` is the time of the
 * key's creation in unix seconds. Throws an Error during an overlap: the caller answers that with 409.
 */
export function startRotation(
  internal: KeyInternal,
  { overlap, credential, ...next }: NewValue & { overlap: number },
  created: number,
): ValuesChange {
  if (internal.retiring) throw new Error('a value of the key is retiring')
  const { pending: before, hint, value = { number: 1, made: created, ...defined({ hint }) }, ...rest } = internal
  const facts = factsOf({ ...next, made: madeAfterLeak(internal, next.made) }, lastNumber(internal) + 1)
  return {
    internal: { ...rest, value, pending: { ...facts, credential, overlap } },
    ended: before ? [end(before, 'replaced')] : [],
  }
}

/** Returns when a value is made: after the leak of the current value, though it may be in the same second. */
const madeAfterLeak = ({ ended, tokensNotBefore = 0 }: KeyInternal, made: number): number =>
  ended === undefined ? made : Math.max(made, tokensNotBefore - REQUEST_SECONDS + 1)

/** Returns the change that ends the pending and the retiring value, as `finished`. The current one stays. */
export function finishRotation(internal: KeyInternal): ValuesChange {
  const { pending, retiring, ...rest } = internal
  return {
    internal: { ...rest, ...issuedUntil(internal, retiring?.replaced) },
    ended: [pending, retiring].flatMap((one) => (one ? [end(one, 'finished')] : [])),
  }
}

/** Returns the change that makes a value current at once. All others end, as `replaced`. */
export function replaceValues(internal: KeyInternal, { credential, ...next }: NewValue): ValuesChange {
  const { value, hint: _, ended: __, leak: ___, pending: ____, retiring: _____, ...rest } = internal
  // The values that other keys give to a key that was never rotated have one number, so that they can replace each other in turn.
  const number = isUnrotated(internal) && next.by === 'other' ? 1 : lastNumber(internal) + 1
  const facts = value || number > 1 ? { value: factsOf(next, number) } : defined({ hint: next.hint })
  return {
    internal: { ...rest, credential, ...facts },
    ended: valuesOf(internal).map((one) => end(one, 'replaced')),
  }
}

/** Returns the end of a value for this reason. */
export const end = ({ credential }: { credential: KeyHash }, reason: EndReason): EndedValue => ({ credential, reason })
