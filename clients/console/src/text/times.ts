/** Says times in words: relative ones for reading, exact ones for the hover. */
import { DAY_MS, MINUTE_MS } from '../../../../lib/engine/meta/value/durations.ts'

/** The units of relative times. One is used from two of it on: then rounding to the nearest is near. `step` decides whether it is two. */
const UNITS: readonly [name: string, length: number, step: number][] = [
  ['year', 365 * DAY_MS, DAY_MS],
  ['month', 30 * DAY_MS, DAY_MS],
  ['day', DAY_MS, 60 * MINUTE_MS],
  ['hour', 60 * MINUTE_MS, MINUTE_MS],
]

/** Returns `3 days`, `90 minutes` or `less than a minute` for a distance in milliseconds, rounded to the nearest. */
export function distance(milliseconds: number): string {
  const size = Math.abs(milliseconds)
  if (size < MINUTE_MS) return 'less than a minute'
  const [name, length] = UNITS.find(([, one, step]) => Math.round(size / step) * step >= 2 * one) ?? [
    'minute',
    MINUTE_MS,
  ]
  const count = Math.round(size / length)
  return `${count} ${name}${count === 1 ? '' : 's'}`
}

/** Whether a time is that of something that has happened, or of something to come. */
export type Direction = 'past' | 'future'

/**
 * Returns `3 days ago`, `in 2 hours` or `just now`. What has happened is never ahead, whatever the clock of this device says. What was
 * to come may be over.
 */
export function relative(time: Date, now: Date, direction: Direction): string {
  const ahead = time.getTime() - now.getTime()
  if (ahead > 0 && direction === 'future') return `in ${distance(ahead)}`
  return -ahead < MINUTE_MS ? 'just now' : `${distance(ahead)} ago`
}

/** Making a format takes far longer than using it, and a long list has thousands of times. */
const EXACT = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZoneName: 'short',
})
const DATE = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' })

/** Returns the time in full, in the zone of the reader and in UTC, such as `Sun, 22 Nov 2026, 21:05:09 GMT+1 (2026-11-22T20:05:09Z)`. */
export const exact = (time: Date): string => `${EXACT.format(time)} (${time.toISOString().replace('.000', '')})`

/** Returns the date alone, in the zone of the reader, such as `22 Nov 2026`. */
export const dateOf = (time: Date): string => DATE.format(time)

const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })

/** Returns what stands beside a relative time, in the zone of the reader: the time of today, or the date of another day. */
export const stamp = (time: Date, now: Date): string =>
  dateOf(time) === dateOf(now) ? CLOCK.format(time) : dateOf(time)

const UTC_DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' })

/** Returns a day of UTC in words, such as `2 Dec 2026` for `2026-12-02`. */
export const dayWords = (day: string): string => UTC_DAY.format(new Date(day))
