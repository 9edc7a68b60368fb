/**
 * Counts the minutes of each UTC day in which a value was used, as far as last activities are written: about once a minute. The
 * credential has the count of its last day, which the first use on another day writes to a side item of the key.
 *
 *     active={day=2026-11-26 minutes=37}
 *     pk=usage#UID sk=active#2026-11-26#1 minutes=37 expires=…                 the last number is that of the value
 */
import { isObject } from '../../meta/value/walk.ts'
import type { CompanionItem } from '../../storage/interface.ts'
import { expiryOf } from '../keptitems.ts'
import { isCount, isNonEmptyText } from '../strictrecord.ts'
import { dayOf, usagePartition } from './days.ts'

export interface ActiveDay {
  /** As `2026-11-26`. */
  day: string
  minutes: number
}

/** Returns the count of a stored form. People only read it, so what is not in its form counts as nothing. */
export const readActiveDay = (value: unknown): ActiveDay | undefined =>
  isObject(value) && isNonEmptyText(value.day) && isCount(value.minutes)
    ? { day: value.day, minutes: value.minutes }
    : undefined

/** What a use at a time says of a value. */
interface Counted {
  uid: string
  /** The number of the value. */
  value?: number
  active?: ActiveDay | undefined
  /** Unix seconds. */
  lastActivity?: number
}

/** Returns the count after a use at `at` (unix seconds), and the item of the day before that ended. */
export function countMinute(
  { uid, value = 1, active, lastActivity }: Counted,
  at: number,
): { active: ActiveDay; ended: CompanionItem[] } {
  const day = dayOf(at)
  if (active?.day === day) {
    const isCounted = lastActivity !== undefined && minuteOf(lastActivity) === minuteOf(at)
    return { active: { day, minutes: active.minutes + (isCounted ? 0 : 1) }, ended: [] }
  }
  return { active: { day, minutes: 1 }, ended: active ? [dayItem(uid, value, active)] : [] }
}

const minuteOf = (at: number): number => Math.floor(at / 60)

const PREFIX = 'active#'

const dayItem = (uid: string, value: number, { day, minutes }: ActiveDay): CompanionItem => ({
  pk: usagePartition(uid),
  sk: `${PREFIX}${day}#${value}`,
  attributes: { minutes, expires: expiryOf(Date.parse(day) / 1000) },
})

const MINUTES_OF_DAY = 1440

/** Returns the minutes of each day, oldest first. Values that were used side by side count together. */
export function readActiveDays(
  items: readonly Pick<CompanionItem, 'sk' | 'attributes'>[],
  last?: ActiveDay,
): ActiveDay[] {
  const minutes = new Map<string, number>()
  const add = (day: string, more: number) => minutes.set(day, Math.min((minutes.get(day) ?? 0) + more, MINUTES_OF_DAY))
  for (const { sk, attributes } of items) {
    if (isActiveDay({ sk }) && isCount(attributes.minutes))
      add(sk.slice(PREFIX.length, sk.lastIndexOf('#')), attributes.minutes)
  }
  if (last) add(last.day, last.minutes)
  return [...minutes].sort(([one], [other]) => (one < other ? -1 : 1)).map(([day, count]) => ({ day, minutes: count }))
}

/** Reports whether the item is the count of a day. */
export const isActiveDay = ({ sk }: Pick<CompanionItem, 'sk'>): boolean => sk.startsWith(PREFIX)
