/** Places what is known of the life of a key on one line, from its creation to its expiry. */

import { timeOf } from '../../../../../core/src/keylives.ts'
import type { AccessKey } from '../../../../../core/src/objects.ts'
import { isActive } from '../../../api/keyfacts.ts'
import { SOON_MS } from '../../../keylist/attention.ts'
import { relative } from '../../../text/times.ts'

/** Where now is on the line of a key that never expires. The rest of the line is its open end. */
const OPEN_NOW = 75

export type LifeState = 'works' | 'soon' | 'stopped' | 'expired'

/** Places are percent of the line. */
export interface Life {
  state: LifeState
  isOpen: boolean
  now: number
  /** Absent for a key that was never used. */
  used?: number
}

/** Returns the line of a key, or undefined if its creation or its expiry cannot be read. */
export function lifeLine(key: AccessKey, time: Date): Life | undefined {
  const { metadata, status } = key
  const [made, used, end] = [metadata.creationTimestamp, status?.lastActivity, status?.expirationTimestamp].map(timeOf)
  const isOpen = status?.expirationTimestamp === undefined
  if (made === undefined || (end === undefined && !isOpen)) return undefined
  const now = Math.max(time.getTime(), made)
  const length = end === undefined ? ((now - made) * 100) / OPEN_NOW : end - made
  const place = (at: number): number =>
    length <= 0 ? 100 : Math.round(Math.min(100, Math.max(0, ((at - made) / length) * 100)))
  return {
    state: lifeState(key, time),
    isOpen,
    now: end === undefined ? OPEN_NOW : place(now),
    ...(used !== undefined && { used: Math.min(place(used), end === undefined ? OPEN_NOW : 100) }),
  }
}

/** Returns what the line looks like. A key that does not work for another reason than its expiry is stopped. */
export function lifeState(key: AccessKey, now: Date): LifeState {
  const end = timeOf(key.status?.expirationTimestamp) ?? Number.POSITIVE_INFINITY
  if (key.status?.phase === 'Expired' || end <= now.getTime()) return 'expired'
  if (!isActive(key)) return 'stopped'
  return end - now.getTime() <= SOON_MS ? 'soon' : 'works'
}

/** Returns the same in words, such as `created 3 months ago, last used 9 hours ago, expires in 6 days`. */
export function lifeWords(key: AccessKey, now: Date): string {
  const { metadata, spec, status } = key
  const isExpired = lifeState(key, now) === 'expired'
  const since = (words: string, text: string | undefined, direction: 'past' | 'future' = 'past') =>
    timeOf(text) === undefined
      ? `${words} at an unknown time`
      : `${words} ${relative(new Date(text ?? ''), now, direction)}`
  return [
    ...(isActive(key) || isExpired ? [] : [(status?.phase ?? 'unknown').toLowerCase()]),
    since('created', metadata.creationTimestamp),
    status?.lastActivity === undefined ? 'never used' : since('last used', status.lastActivity),
    endWords(),
  ].join(', ')

  function endWords(): string {
    if (status?.expirationTimestamp === undefined) return 'never expires'
    if (isExpired) return since('expired', status.expirationTimestamp)
    return `${since('expires', status.expirationTimestamp, 'future')}${spec.ttlAfterLastActivity ? ' if not used' : ''}`
  }
}
