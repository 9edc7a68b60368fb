/** Reads the times that options are given. */
import { durationSeconds } from '../../../core/src/durations.ts'
import { UsageError } from '../io/errors.ts'

/** A day, which begins in UTC, or a time of RFC 3339. */
const TIME = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:\d\d))?$/

/** What a Date can hold, in milliseconds. */
const LAST_MOMENT = 8.64e15

/** Returns a time, or a duration before now, as RFC 3339. Throws a UsageError for any other text. */
export function moment(text: string, option: string, now: Date): string {
  const ago = durationSeconds(text)
  const at = ago === undefined ? timeIn(text) : now.getTime() - ago * 1000
  if (!(Math.abs(at) <= LAST_MOMENT))
    throw new UsageError(
      `${option} must be a duration such as 90d, a day such as 2026-11-22 or a time such as 2026-11-22T10:00:00Z, not "${text}"`,
    )
  return `${new Date(at).toISOString().slice(0, 19)}Z`
}

/** Returns a day or a time in milliseconds, NaN for other texts. */
export function timeIn(text: string): number {
  const [, day] = TIME.exec(text) ?? []
  return Date.parse(isDay(day) ? text : '')
}

/** Reports whether the calendar has the day. Date.parse takes February 31 for March 3. */
const isDay = (day: string | undefined): boolean => {
  const at = Date.parse(`${day}T00:00:00Z`)
  return !Number.isNaN(at) && new Date(at).toISOString().slice(0, 10) === day
}
