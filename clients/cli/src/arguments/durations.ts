import { DURATIONS, durationSeconds } from '../../../core/src/durations.ts'
import { UsageError } from '../io/errors.ts'

/** Returns the seconds of the duration that an option was given. Throws a UsageError for any other text. */
export function seconds(text: string, option: string): number {
  const total = durationSeconds(text)
  if (total === undefined) throw new UsageError(`${option} must be a duration such as ${DURATIONS}, not "${text}"`)
  return total
}
