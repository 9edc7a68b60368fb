/** Reads the durations that options are given. */
import { DURATIONS, durationSeconds } from '../../../core/src/durations.ts'
import { UsageError } from '../io/errors.ts'

/** Returns the seconds of the duration that an option was given. Throws a UsageError for any other text. */
export function seconds(text: string, option: string): number {
  const total = durationSeconds(text)
  if (total === undefined) throw new UsageError(`${option} must be a duration such as ${DURATIONS}, not "${text}"`)
  return total
}

/** A later end than that is none: times have four digits for the year. */
const LONGEST_LIFE_SECONDS = 1000 * 31_536_000

/** Returns the seconds of a lifetime. Throws a UsageError for 0 as well, which the server takes for no limit, and for more than 1000 years. */
export function lifetime(text: string, option: string): number {
  const life = seconds(text, option)
  if (life === 0) throw new UsageError(`${option} must be more than 0. For the default, leave it out.`)
  if (life > LONGEST_LIFE_SECONDS) throw new UsageError(`${option} may be at most 1000y, not "${text}".`)
  return life
}
