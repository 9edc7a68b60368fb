/** Warns the holder of a key, in the response to each of its requests, that the key or the value used ends soon. */
import { humanDuration, rfc3339OfUnix } from '../../engine/meta/encoding/time.ts'
import { DAY_SECONDS } from '../../engine/meta/value/durations.ts'

/** A key that lives less is renewed so often that its holder needs no warning. */
const SHORTEST_LIFE = 7 * DAY_SECONDS
const LONGEST_NOTICE = 14 * DAY_SECONDS

/** What the warnings depend on. All times are Unix seconds. */
export interface WarnedKey {
  name: string
  created: number
  ttlAfterLastActivity: boolean
  /** Absent if the key never expires. */
  expires?: number | undefined
  /** Set if the value used was rotated: the time until which it works. */
  until?: number | undefined
}

/**
 * Returns the warnings for a request at `now`. The notice is a seventh of the key's life, and at most two weeks. A key whose
 * expiry slides has none, because this request has moved it.
 */
export function keyWarnings({ name, created, ttlAfterLastActivity, expires, until }: WarnedKey, now: number): string[] {
  const warnings: string[] = []
  const life = expires === undefined || ttlAfterLastActivity ? 0 : expires - created
  if (expires !== undefined && life >= SHORTEST_LIFE && expires - now < Math.min(LONGEST_NOTICE, life / 7))
    warnings.push(`access key "${name}" expires in ${humanDuration(expires - now)} (${rfc3339OfUnix(expires)})`)
  if (until !== undefined)
    warnings.push(`this value of access key "${name}" was rotated and works until ${rfc3339OfUnix(until)}`)
  return warnings
}
