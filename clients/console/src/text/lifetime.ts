/** Writes and says how long a key lives, in seconds as in the fields of objects. */
import { DAY_SECONDS, HOUR_SECONDS } from '../../../../lib/engine/meta/value/durations.ts'

const UNITS = [
  ['d', 'day', DAY_SECONDS],
  ['h', 'hour', HOUR_SECONDS],
  ['m', 'minute', 60],
  ['s', 'second', 1],
] as const

/** Returns the shortest of `30d`, `12h`, `90m` and `3601s`, and an empty text for no end. */
export function lifetimeText(seconds: number | undefined): string {
  if (!seconds) return ''
  const { count, letter } = counted(seconds)
  return `${count}${letter}`
}

/** Returns `30 days`, `90 minutes` or `1 hour`. */
export function lifetimeWords(seconds: number): string {
  const { count, noun } = counted(seconds)
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** Counts a lifetime in the largest unit of which it is a whole number. */
export function counted(seconds: number) {
  const [letter, noun, size] = UNITS.find((unit) => seconds % unit[2] === 0) ?? UNITS[3]
  return { count: seconds / size, letter, noun }
}
