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

const twoDigits = (count: number): string => String(count).padStart(2, '0')

/** Returns the date alone, in the zone of the reader, such as `22 Nov 2026`. Intl would say the same, and load for longer than all the rest. */
export function dateOf(time: Date): string {
  const [, month, day, year] = time.toDateString().split(' ')
  return `${Number(day)} ${month} ${year}`
}

const clockOf = (time: Date): string => `${twoDigits(time.getHours())}:${twoDigits(time.getMinutes())}`

/** Returns the time in full, in the zone of the reader and in UTC, such as `Sun, 22 Nov 2026, 21:05:09 GMT+1 (2026-11-22T20:05:09Z)`. */
export function exact(time: Date): string {
  const ahead = -time.getTimezoneOffset()
  const minutes = ahead % 60 === 0 ? '' : `:${twoDigits(Math.abs(ahead % 60))}`
  const zone = ahead === 0 ? 'UTC' : `GMT${ahead < 0 ? '-' : '+'}${Math.trunc(Math.abs(ahead) / 60)}${minutes}`
  const local = `${time.toDateString().slice(0, 3)}, ${dateOf(time)}, ${clockOf(time)}:${twoDigits(time.getSeconds())} ${zone}`
  return `${local} (${time.toISOString().replace('.000', '')})`
}

/** Returns what stands beside a relative time, in the zone of the reader: the time of today, or the date of another day. */
export const stamp = (time: Date, now: Date): string => (dateOf(time) === dateOf(now) ? clockOf(time) : dateOf(time))

/** Returns a day of UTC in words, such as `2 Dec 2026` for `2026-12-02`. */
export const dayWords = (day: string): string => new Date(day).toUTCString().slice(5, 16).replace(/^0/, '')
