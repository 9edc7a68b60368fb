/**
 * Compares the lifetimes of keys: whether a change extends one, and whether a key can outlive a point in time. For
 * expiry itself, see lib/authentication/keystatus.ts.
 */
import type { KeySpec } from './identity.ts'

/**
 * Reports whether the key could live longer with `next` than with `old`, for some pattern of use. A larger ttl (0 or
 * absent means unlimited), counting from the last activity instead of creation, and re-enabling a disabled key do that.
 * A change that moves the expiry both ways also counts, such as a larger ttl that no longer counts from the last activity.
 */
export function lengthens(old: KeySpec, next: KeySpec): boolean {
  const before = seconds(old)
  const after = seconds(next)
  const fromActivity = after !== Number.POSITIVE_INFINITY && next.ttlAfterLastActivity === true
  const slides = fromActivity && old.ttlAfterLastActivity !== true && before !== Number.POSITIVE_INFINITY
  return after > before || slides || (old.disabled === true && next.disabled !== true)
}

/**
 * Reports whether a key created at `created` could be valid after `end` (both in Unix seconds), for some pattern of
 * use. A key whose expiry slides with its use always could, however short its ttl. `maxTtl` limits every ttl.
 */
export const outlives = (spec: KeySpec, created: number, end: number, maxTtl = Number.POSITIVE_INFINITY): boolean =>
  spec.ttlAfterLastActivity === true || created + Math.min(seconds(spec), maxTtl) > end

/** Returns the ttl as a comparable number. */
const seconds = ({ ttl }: KeySpec): number => (ttl ? Number(ttl) : Number.POSITIVE_INFINITY)
