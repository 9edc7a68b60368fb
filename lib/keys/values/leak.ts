/** Ends what a report of a leak names: a value of a key, what was made with it, and tokens. */
import type { Companion } from '../../engine/storage/interface.ts'
import { credentialItemKey, credentialOf, type StoredKey } from '../credential/credential.ts'
import { decodeKeyInternal, type KeyInternal, type Leak } from '../credential/keyinternal.ts'
import { REQUEST_SECONDS } from '../credential/keystatus.ts'
import type { KeyHash } from '../credential/pepper.ts'
import { findValue, type KeyValue, sameHash, type ValueState, type ValuesChange, valuesOf } from './keyvalues.ts'
import { end } from './rotation.ts'
import { tombstoneAttributes } from './tombstone.ts'

/** A reported value, as far as it is known of its key. */
export interface MakingValue {
  /** Its number. Absent if it is not known. */
  value?: number
  /** It was never used, so it made nothing. */
  unused?: boolean
}

/**
 * Reports whether a value was made with an earlier one, directly or through other values. A value without a record of its maker
 * counts as made with the earlier one. The first value was made before any other.
 */
function isMadeWith({ facts }: Pick<KeyValue, 'facts'>, { value: maker, unused }: MakingValue): boolean {
  const { number = 1, since = 1 } = facts ?? {}
  if (unused || number === 1) return false
  return maker === undefined ? since < number : since <= maker && maker < number
}

/**
 * Returns the change for a value that was reported as leaked, or undefined if nothing of the key ends.
 * It ends the value, even if it is no longer a value of the key, and what was made with it. With the current value, a retiring one ends.
 * Tokens that these may have made are refused.
 */
export function endLeaked(
  internal: KeyInternal,
  hash: KeyHash,
  leak: Leak,
  ended: MakingValue = {},
): ValuesChange | undefined {
  const found = findValue(internal, hash)
  const maker = found ? { value: found.facts?.number ?? 1, unused: found.state === 'Pending' } : ended
  const reported = valuesOf(internal).filter((one) => sameHash(one.credential, hash) || isMadeWith(one, maker))
  if (reported.length === 0) return undefined
  const leaks = (state: ValueState) => reported.some((one) => one.state === state)
  const isCurrent = leaks('Current')
  const { tokensNotBefore } = refuseTokens(internal, leak.at)
  const { pending, retiring, ...rest } = internal
  const dropped = isCurrent && retiring && !leaks('Retiring') ? [retiring] : []
  return {
    internal: {
      ...rest,
      ...(isCurrent && { ended: 'leaked' as const, leak }),
      ...(pending && !leaks('Pending') && { pending }),
      ...(retiring && !isCurrent && !leaks('Retiring') && { retiring }),
      tokensNotBefore,
    },
    ended: [...reported, ...dropped].map((one) => end(one, 'leaked')),
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

/** Returns the write of the tombstone for a value that is reported as leaked while its key is removed. */
export function leakedTombstone({ object, internal }: StoredKey, hash: KeyHash, now: number): Companion {
  const key = decodeKeyInternal(internal)
  const { name, uid, user } = credentialOf(object, key)
  const { number: value = 1 } = findValue(key, hash)?.facts ?? {}
  const tombstone = { ended: 'leaked' as const, name, uid, user, at: now, value }
  return { op: 'put', ...credentialItemKey(hash), attributes: tombstoneAttributes(tombstone, 0) }
}
