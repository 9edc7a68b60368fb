/** Says how long a key lives, in seconds as in the fields of objects. */
import { DAY_SECONDS, HOUR_SECONDS } from '../../../../lib/engine/meta/value/durations.ts'

const UNITS = [
  ['day', DAY_SECONDS],
  ['hour', HOUR_SECONDS],
  ['minute', 60],
  ['second', 1],
] as const

/** Returns `30 days`, `90 minutes` or `1 hour`. */
export function lifetimeWords(seconds: number): string {
  const { count, noun } = counted(seconds)
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** Counts a lifetime in the largest unit of which it is a whole number. */
export function counted(seconds: number) {
  const [noun, size] = UNITS.find((unit) => seconds % unit[1] === 0) ?? UNITS[3]
  return { count: seconds / size, noun }
}
