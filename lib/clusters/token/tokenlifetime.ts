/** Computes the lifetime of tokens. */

import { unixSeconds } from '../../engine/meta/encoding/time.ts'
import { type FieldError, invalid } from '../../engine/meta/errors/fielderror.ts'
import { unauthorized } from '../../engine/meta/errors/status.ts'
import { DAY_SECONDS } from '../../engine/meta/value/durations.ts'

interface LifetimeLimits {
  /** Deploy-time maximum. */
  maxSeconds: number
  /** The requesting access key. `expires` is in Unix seconds; absent means never. */
  key: { expires?: number }
  now: Date
}

/** The lifetime of a token in seconds, and warnings for the client. */
export interface Lifetime {
  seconds: number
  warnings: string[]
}

/**
 * Returns the lifetime for a `ttl` in seconds. Absent or 0 means 24 hours, or the maximum if that is less. A negative
 * ttl or one over the maximum is a field error. JSON numbers outside ±(2^53-1) decode to a bigint.
 */
export function tokenLifetime(
  field: string,
  ttl: number | bigint | undefined,
  limits: LifetimeLimits,
): Lifetime | { error: FieldError } {
  const { maxSeconds } = limits
  if (ttl === undefined || ttl === 0) return limitToKey(Math.min(DAY_SECONDS, maxSeconds), limits)
  if (ttl < 0) return { error: invalid(field, ttl, 'must be greater than or equal to 0') }
  if (ttl > maxSeconds) {
    return { error: invalid(field, ttl, `may not specify a duration larger than ${maxSeconds} seconds`) }
  }
  return limitToKey(Number(ttl), limits)
}

/**
 * Limits the lifetime to that of the key that creates the token, with the warning of the Kubernetes TokenRequest API.
 * Throws the 401 for an expired key when no time remains.
 */
export function limitToKey(seconds: number, { key, now }: Omit<LifetimeLimits, 'maxSeconds'>): Lifetime {
  if (key.expires === undefined) return { seconds, warnings: [] }
  const left = Math.floor(key.expires) - unixSeconds(now)
  if (left <= 0) throw unauthorized('access key has expired')
  if (left >= seconds) return { seconds, warnings: [] }
  return { seconds: left, warnings: [`requested expiration of ${seconds} seconds shortened to ${left} seconds`] }
}
