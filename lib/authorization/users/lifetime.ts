/** Whether a change lets a key live longer, or a new one longer than its maker. Expiry itself is in lib/authentication/keystatus.ts. */
import type { KeySpec } from './identity.ts'

/**
 * Whether the key could live longer with `next` than with `old`, for some course of its use: a larger ttl (0 and absent are
 * without end), counting from the last activity instead of the creation, or use of what was disabled. Where an end moves both
 * ways (a larger ttl, no longer from the last activity) this is a lengthening as well.
 */
export function lengthens(old: KeySpec, next: KeySpec): boolean {
  const before = seconds(old)
  const after = seconds(next)
  const fromActivity = after !== Number.POSITIVE_INFINITY && next.ttlAfterLastActivity === true
  const slides = fromActivity && old.ttlAfterLastActivity !== true && before !== Number.POSITIVE_INFINITY
  return after > before || slides || (old.disabled === true && next.disabled !== true)
}

/**
 * Whether a key that was made at `created` could give access after `end` (both Unix seconds), for some course of its use. One
 * whose end moves with its use could, however short its ttl. No ttl is longer than `maxTtl`.
 */
export const outlives = (spec: KeySpec, created: number, end: number, maxTtl = Number.POSITIVE_INFINITY): boolean =>
  spec.ttlAfterLastActivity === true || created + Math.min(seconds(spec), maxTtl) > end

/** The ttl as a number to compare. */
const seconds = ({ ttl }: KeySpec): number => (ttl ? Number(ttl) : Number.POSITIVE_INFINITY)
