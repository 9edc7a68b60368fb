/**
 * Changes the values of a key: rotates them, ends a rotation, replaces all of them, and ends one that has leaked. The
 * functions take the internal part of the key as `settle` returns it, so a pending value is unused.
 */
import type { KeyInternal, ValueFacts } from '../keyinternal.ts'
import { REQUEST_SECONDS } from '../keystatus.ts'
import type { KeyHash } from '../pepper.ts'
import { type EndedValue, findValue, isUnrotated, lastNumber, type ValuesChange, valuesOf } from './keyvalues.ts'
import type { EndReason } from './tombstone.ts'

/** A value to give to a key. */
export interface NewValue extends Omit<ValueFacts, 'number'> {
  credential: KeyHash
}

/**
 * Returns the change that adds a pending value. A pending one that exists ends, as `replaced`. `created` is the time of the
 * key's creation in unix seconds. Throws an Error during an overlap: the caller answers that with 409.
 */
export function startRotation(
  internal: KeyInternal,
  { overlap, ...next }: NewValue & { overlap: number },
  created: number,
): ValuesChange {
  if (internal.retiring) throw new Error('a value of the key is retiring')
  const { pending: before, value = { number: 1, made: created }, ...rest } = internal
  return {
    internal: { ...rest, value, pending: { ...next, number: lastNumber(internal) + 1, overlap } },
    ended: before ? [end(before, 'replaced')] : [],
  }
}

/** Returns the change that ends the pending and the retiring value, as `finished`. The current one stays. */
export function finishRotation(internal: KeyInternal): ValuesChange {
  const { pending, retiring, ...rest } = internal
  return { internal: rest, ended: [pending, retiring].flatMap((one) => (one ? [end(one, 'finished')] : [])) }
}

/** Returns the change that makes a value current at once. All others end, as `replaced`. */
export function replaceValues(internal: KeyInternal, { credential, ...facts }: NewValue): ValuesChange {
  const { value, ended: _, pending: __, retiring: ___, ...rest } = internal
  // The values of a key that was never rotated have one number, so that they can replace each other in turn, as ever.
  const number = isUnrotated(internal) ? 1 : lastNumber(internal) + 1
  return {
    internal: { ...rest, credential, ...((value || number > 1) && { value: { ...facts, number } }) },
    ended: valuesOf(internal).map((one) => end(one, 'replaced')),
  }
}

/**
 * Returns the change for a value that was reported as leaked at `now` (unix seconds), or undefined if it is no value of the
 * key or has ended. With the current value, a retiring one ends. Tokens that the value may have made are refused.
 */
export function endLeaked(internal: KeyInternal, hash: KeyHash, now: number): ValuesChange | undefined {
  const found = findValue(internal, hash)
  if (found === undefined) return undefined
  const { tokensNotBefore } = refuseTokens(internal, now)
  const { pending, retiring, ...rest } = internal
  if (found.state === 'Current') {
    return {
      internal: { ...rest, ended: 'leaked', ...(pending && { pending }), tokensNotBefore },
      ended: [end(found, 'leaked'), ...(retiring ? [end(retiring, 'leaked')] : [])],
    }
  }
  return {
    internal: {
      ...rest,
      ...(pending && found.state !== 'Pending' && { pending }),
      ...(retiring && found.state !== 'Retiring' && { retiring }),
      tokensNotBefore,
    },
    ended: [end(found, 'leaked')],
  }
}

/**
 * Returns the change for a value that was reported as leaked after it had ended at `at` (unix seconds): tokens that it may have
 * made are refused. Returns undefined if they are already.
 */
export function endTokens(internal: KeyInternal, at: number): ValuesChange | undefined {
  const refused = refuseTokens(internal, at)
  return refused.tokensNotBefore === internal.tokensNotBefore ? undefined : { internal: refused, ended: [] }
}

/** A request that was authorized before `at` may issue a token for as long as it lasts. */
const refuseTokens = (internal: KeyInternal, at: number) => ({
  ...internal,
  tokensNotBefore: Math.max(at + REQUEST_SECONDS, internal.tokensNotBefore ?? 0),
})

const end = ({ credential }: { credential: KeyHash }, reason: EndReason): EndedValue => ({ credential, reason })
