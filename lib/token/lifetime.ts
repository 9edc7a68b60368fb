/** How long a token lives. */

import { type FieldError, invalid } from '../meta/errors/fielderror.ts'
import { unauthorized } from '../meta/errors/status.ts'

const DAY = 86_400

export interface LifetimeLimits {
  /** Deploy-time maximum. */
  maxSeconds: number
  /** The access key that asks; `expires` in Unix seconds, absent = never. */
  key: { expires?: number }
  now: Date
}

/** Seconds that a token may live, and what the client should be told about it. */
export interface Lifetime {
  seconds: number
  warnings: string[]
}

/**
 * `ttl` in seconds; absent or 0 = 24 hours, or the maximum where that is less. Below 0 or over the maximum is a field
 * error. A bigint is what JSON numbers outside ±(2^53-1) decode to.
 */
export function tokenLifetime(
  field: string,
  ttl: number | bigint | undefined,
  limits: LifetimeLimits,
): Lifetime | { error: FieldError } {
  const { maxSeconds } = limits
  if (ttl === undefined || ttl === 0) return limitToKey(Math.min(DAY, maxSeconds), limits)
  if (ttl < 0) return { error: invalid(field, ttl, 'must be greater than or equal to 0') }
  if (ttl > maxSeconds) {
    return { error: invalid(field, ttl, `may not specify a duration larger than ${maxSeconds} seconds`) }
  }
  return limitToKey(Number(ttl), limits)
}

/**
 * A token never outlives the key that it was made with: shortened, with a warning in the words of Kubernetes'
 * TokenRequest. Throws the 401 of a dead key when nothing is left.
 */
export function limitToKey(seconds: number, { key, now }: Omit<LifetimeLimits, 'maxSeconds'>): Lifetime {
  if (key.expires === undefined) return { seconds, warnings: [] }
  const left = Math.floor(key.expires) - Math.floor(now.getTime() / 1000)
  if (left <= 0) throw unauthorized('access key has expired')
  if (left >= seconds) return { seconds, warnings: [] }
  return { seconds: left, warnings: [`requested expiration of ${seconds} seconds shortened to ${left} seconds`] }
}
