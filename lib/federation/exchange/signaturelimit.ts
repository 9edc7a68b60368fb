/**
 * Limits how often the key of an exchange signs tokens, because a repeated exchange writes nothing that could limit it. Each process
 * counts for itself, so a deployment signs at most as many times more as it has processes.
 */

import { setBounded } from '../../engine/meta/value/bounded.ts'
import { HOUR_SECONDS } from '../../engine/meta/value/durations.ts'
import { OAuthError } from '../oauth/oautherror.ts'

/** The most signatures of a key for a target in an hour. */
const MOST_SIGNATURES = 60

/** The most keys and targets that a process remembers. */
const MOST_KEYS = 10_000

export interface SignatureLimit {
  /** Counts a signature of the key for a target. Throws 429 if there were too many in the last hour. `now` is in Unix seconds. */
  count(what: string, now: number): void
}

export function createSignatureLimit(): SignatureLimit {
  /** The times of the signatures of each key and target. What signed last is the last one. */
  const signed = new Map<string, number[]>()
  return {
    count(what, now) {
      const recent = (signed.get(what) ?? []).filter((at) => at > now - HOUR_SECONDS)
      const [first = now] = recent
      if (recent.length >= MOST_SIGNATURES) throw tooMany(first + HOUR_SECONDS - now)
      signed.delete(what)
      setBounded(signed, what, [...recent, now], MOST_KEYS)
    },
  }
}

const tooMany = (retryAfter: number): OAuthError => {
  const why = `this subject token was exchanged for ${MOST_SIGNATURES} tokens of this target within an hour: use those`
  return new OAuthError('temporarily_unavailable', 'too_many_signatures', why, { retryAfter })
}
