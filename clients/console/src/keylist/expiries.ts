/**
 * Finds the days of the next 90 on which keys expire, and where they are on a strip. Days are those of UTC, so that an address means the
 * same to every reader.
 */

import { DAY_MS } from '../../../../lib/meta/value/durations.ts'
import { timeOf } from '../../../core/src/keylives.ts'
import type { AccessKey } from '../../../core/src/objects.ts'
import { compareNames } from './sorting.ts'

/** How many days the strip has. Today is the first one. */
export const STRIP_DAYS = 90

export interface ExpiryDay {
  /** Such as `2026-12-02`. */
  day: string
  /** How many days after today. */
  ahead: number
  /** Names of the keys, in the order of the list. */
  names: readonly string[]
}

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10)

/** Returns the day on which the key expires, or undefined. */
export function expiryDay({ status }: AccessKey): string | undefined {
  const time = timeOf(status?.expirationTimestamp)
  return time === undefined ? undefined : dayOf(time)
}

/** Reports whether a text is a day, such as `2026-12-02`. */
export const isDay = (text: string): boolean => {
  const time = /^\d{4}-\d\d-\d\d$/.test(text) ? timeOf(text) : undefined
  return time !== undefined && dayOf(time) === text
}

const daysFrom = (now: Date): { day: string; ahead: number }[] =>
  Array.from({ length: STRIP_DAYS }, (_, ahead) => ({ ahead, day: dayOf(now.getTime() + ahead * DAY_MS) }))

/** Returns the days on which keys expire, the next one first. */
export function expiryDays(keys: readonly AccessKey[], now: Date): ExpiryDay[] {
  const names = new Map<string, string[]>()
  for (const key of keys) {
    const day = expiryDay(key)
    if (day !== undefined) names.set(day, [...(names.get(day) ?? []), key.metadata.name])
  }
  return daysFrom(now).flatMap(({ day, ahead }) => {
    const found = names.get(day)
    return found ? [{ day, ahead, names: found.sort(compareNames) }] : []
  })
}

/** Returns the lane of each day, the lowest in which it is as many days from the one before as a mark needs. */
export function lanesOf(days: readonly ExpiryDay[], apart: number): number[] {
  const ends: number[] = []
  return days.map(({ ahead }) => {
    const free = ends.findIndex((end) => ahead - end >= apart)
    const lane = free < 0 ? ends.length : free
    ends[lane] = ahead
    return lane
  })
}

/** Returns the width of a day. The marks of the first and the last one are whole. */
export const dayWidth = (width: number, mark: number): number => Math.max(0, width - mark) / (STRIP_DAYS - 1)

/** More would be a tower of marks. */
const MOST_LANES = 4

/** Returns the width of the strip in pixels: that of its room, or more where the marks would need too many lanes. */
export function stripWidth(days: readonly ExpiryDay[], room: number, mark: { width: number; apart: number }): number {
  const lanes = lanesOf(days, mark.apart / (dayWidth(room, mark.width) || 1))
  if (Math.max(0, ...lanes) < MOST_LANES) return room
  return Math.max(room, mark.width + Math.ceil(((STRIP_DAYS - 1) * mark.apart) / MOST_LANES))
}

/** Returns the day to which a key of the keyboard leads from another one, or undefined. */
export function dayFrom(days: readonly ExpiryDay[], day: string, key: string): string | undefined {
  const at = days.findIndex((one) => one.day === day)
  const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: days.length - 1 }[key]
  return to === undefined ? undefined : days[to]?.day
}

const MONTH = new Intl.DateTimeFormat('en-GB', { month: 'short', timeZone: 'UTC' })

/** Returns today and the first days of months, as far as their names, of so many days in length, have room. */
export function ticksOf(now: Date, room: number): { ahead: number; words: string }[] {
  const firsts = daysFrom(now).filter(
    ({ ahead, day }) => day.endsWith('-01') && ahead >= room && ahead <= STRIP_DAYS - room,
  )
  return [
    { ahead: 0, words: 'Today' },
    ...firsts.map(({ ahead, day }) => ({ ahead, words: MONTH.format(new Date(day)) })),
  ]
}
