/** Says times in words: relative ones for reading, exact ones for the hover. */

/** Lengths of time in milliseconds. Those in seconds, as the fields of objects have them, are in lifetime.ts. */
export const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/** The units of relative times, each with the distance from which it is used. */
const UNITS: readonly [name: string, length: number, from: number][] = [
  ['year', 365 * DAY_MS, 365 * DAY_MS],
  ['month', 30 * DAY_MS, 60 * DAY_MS],
  ['day', DAY_MS, 2 * DAY_MS],
  ['hour', HOUR_MS, 2 * HOUR_MS],
  ['minute', MINUTE_MS, MINUTE_MS],
]

/** Returns `3 days`, `90 minutes` or `less than a minute` for a distance in milliseconds. */
export function distance(milliseconds: number): string {
  const size = Math.abs(milliseconds)
  const [name, length] = UNITS.find(([, , from]) => size >= from) ?? []
  if (name === undefined || length === undefined) return 'less than a minute'
  const count = Math.floor(size / length)
  return `${count} ${name}${count === 1 ? '' : 's'}`
}

/** Returns `3 days ago`, `in 2 hours` or `just now`. */
export function relative(time: Date, now: Date): string {
  const ahead = time.getTime() - now.getTime()
  if (Math.abs(ahead) < MINUTE_MS) return ahead > 0 ? 'in less than a minute' : 'just now'
  return ahead > 0 ? `in ${distance(ahead)}` : `${distance(ahead)} ago`
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
