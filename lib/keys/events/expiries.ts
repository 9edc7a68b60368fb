/**
 * Sends the events of keys that have expired or will expire soon. The index names candidates; the keys themselves decide.
 */

import { unixSeconds } from '../../engine/meta/encoding/time.ts'
import { DAY_SECONDS } from '../../engine/meta/value/durations.ts'
import type { Stored } from '../../engine/storage/interface.ts'
import { EXPIRY_INDEX } from '../credential/expiryindex.ts'
import { keyStatus, lifeOfStored } from '../credential/keystatus.ts'
import { indexedKeys, type Window } from '../indexpages.ts'
import type { KeyOccurrence } from './event.ts'
import { occurrenceOf } from './keydata.ts'
import type { Lifecycle, Send } from './lifecycle.ts'

/** How many days before its expiry an event tells of a key. */
export const DAYS = [30, 14, 7, 1] as const
/** A key is told of only if its ttl is so many times as long. */
export const LEAST_TTL = 4

/** Sends what happened in the window: keys that expired, and keys that are so many days before it. */
export async function sendExpiries(life: Lifecycle, { after, to }: Window, send: Send): Promise<void> {
  for (const days of [...DAYS, 0]) {
    const window = { after: after + days * DAY_SECONDS, to: to + days * DAY_SECONDS }
    // The keys of exchanges live for a day at most, so nothing warns of their end.
    const partitions = days === 0 ? [EXPIRY_INDEX.value, EXPIRY_INDEX.exchanged] : [EXPIRY_INDEX.value]
    for (const partition of partitions) {
      for await (const keys of indexedKeys(life, partition, window)) {
        await send(
          keys.flatMap(({ stored }) => (days === 0 ? expired(stored, to, life) : expiring(stored, days, to, life))),
        )
      }
    }
  }
}

function expired(stored: Stored, to: number, { limits }: Lifecycle): KeyOccurrence[] {
  const { state, expires } = keyStatus(lifeOfStored(stored), to, limits)
  if (state !== 'Expired' || expires === undefined) return []
  return [occurrenceOf(stored, expires, limits, { kind: 'expired', unique: String(expires) })]
}

function expiring(stored: Stored, days: number, to: number, { limits, now }: Lifecycle): KeyOccurrence[] {
  const life = lifeOfStored(stored)
  const { state, expires } = keyStatus(life, unixSeconds(now()), limits)
  const ttl = Math.min(life.ttl || Number.POSITIVE_INFINITY, limits.maxTtl || Number.POSITIVE_INFINITY)
  const isDue = expires !== undefined && expires - days * DAY_SECONDS <= to && ttl >= LEAST_TTL * days * DAY_SECONDS
  if (state !== 'Active' || !isDue) return []
  const happened = { kind: 'expiring', unique: `${days} ${expires}`, data: { days } } as const
  return [occurrenceOf(stored, expires - days * DAY_SECONDS, limits, happened)]
}
