/** Sorts access keys by how soon they expire, into windows of time that do not overlap. */

import { DAY_MS } from '../../../../lib/meta/value/durations.ts'
import { timeOf } from '../../../core/src/keylives.ts'
import type { AccessKey } from '../../../core/src/objects.ts'

interface ExpiryWindow {
  title: string
  /** What its keys do: `expire within 7 days`. */
  words: string
  /** The end of the window in days from now. It begins where the one before ends. No time is in `never`. */
  days: number
}

const TABLE = {
  expired: { title: 'Expired', words: 'have expired', days: 0 },
  '7d': { title: 'Within 7 days', words: 'expire within 7 days', days: 7 },
  '14d': { title: '7 to 14 days', words: 'expire in 7 to 14 days', days: 14 },
  '30d': { title: '14 to 30 days', words: 'expire in 14 to 30 days', days: 30 },
  '90d': { title: '30 to 90 days', words: 'expire in 30 to 90 days', days: 90 },
  later: { title: 'Later', words: 'expire after more than 90 days', days: Number.POSITIVE_INFINITY },
  never: { title: 'Never', words: 'never expire', days: Number.NaN },
} satisfies Record<string, ExpiryWindow>

export type WindowName = keyof typeof TABLE

/** The windows, the next one first. */
export const expiryWindows: ReadonlyMap<WindowName, ExpiryWindow> = new Map(
  Object.entries(TABLE) as [WindowName, ExpiryWindow][],
)

export const isWindowName = (text: string): text is WindowName => expiryWindows.has(text as WindowName)

/** Returns the window in which the key expires, or undefined if its expiry cannot be read. */
export function windowOf({ status }: AccessKey, now: Date): WindowName | undefined {
  if (status?.phase === 'Expired') return 'expired'
  if (status?.expirationTimestamp === undefined) return 'never'
  const end = timeOf(status.expirationTimestamp)
  if (end === undefined) return undefined
  return [...expiryWindows].find(([, { days }]) => end - now.getTime() <= days * DAY_MS)?.[0]
}
