/** Says when something was or will be, relative to now. */
import { duration } from '../../../core/src/durations.ts'

/** Returns `3d ago`, `just now` within the second to which times are cut, or `never` without a time. */
export function ago(time: unknown, now: Date): string {
  const seconds = secondsUntil(time, now)
  if (seconds === undefined) return 'never'
  return seconds > -2 ? 'just now' : `${duration(-seconds)} ago`
}

/** Returns `in 27d`, `expired`, or `never` without a time. */
export function expiry(time: unknown, now: Date): string {
  const seconds = secondsUntil(time, now)
  if (seconds === undefined) return 'never'
  return seconds <= 0 ? 'expired' : `in ${duration(seconds)}`
}

/** Returns the time itself after the words for it: `in 27d (2026-12-22T10:00:00Z)`. */
export const withTime = (words: string, time: unknown): string =>
  typeof time === 'string' ? `${words} (${time})` : words

function secondsUntil(time: unknown, now: Date): number | undefined {
  const at = typeof time === 'string' ? Date.parse(time) : Number.NaN
  return Number.isNaN(at) ? undefined : (at - now.getTime()) / 1000
}
