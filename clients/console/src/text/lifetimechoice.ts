/** The lifetimes that a form offers, and what a person chooses: one of them, or a number of a unit. */
import { DAY_SECONDS, HOUR_SECONDS } from '../../../../lib/engine/meta/value/durations.ts'
import { counted } from './lifetime.ts'

export const UNITS = { seconds: 1, minutes: 60, hours: HOUR_SECONDS, days: DAY_SECONDS } as const

export interface LifetimeChoice {
  /** One of LIFETIMES. */
  lifetime: string
  count: string
  unit: keyof typeof UNITS
}

/** Seconds as a text, or one of two words. */
export const LIFETIMES: readonly (readonly [lifetime: string, words: string])[] = [
  [String(HOUR_SECONDS), '1 hour'],
  [String(DAY_SECONDS), '1 day'],
  [String(7 * DAY_SECONDS), '7 days'],
  [String(30 * DAY_SECONDS), '30 days'],
  [String(90 * DAY_SECONDS), '90 days'],
  [String(365 * DAY_SECONDS), '1 year'],
  ['custom', 'Custom'],
  ['never', 'Never ends'],
]

/** Returns the lifetime in seconds, or undefined for none and for one that is not a number yet. */
export function secondsOf({ lifetime, count, unit }: LifetimeChoice): number | undefined {
  if (lifetime === 'never') return undefined
  if (lifetime !== 'custom') return Number(lifetime)
  return /^\d{1,9}$/.test(count.trim()) && Number(count) > 0 ? Number(count) * UNITS[unit] : undefined
}

/** Returns the choice of a lifetime in seconds. None, and 0, is no end. */
export function choiceOf(seconds = 0): LifetimeChoice {
  const none = { count: '', unit: 'days' } as const
  if (seconds === 0) return { ...none, lifetime: 'never' }
  if (LIFETIMES.some(([lifetime]) => lifetime === String(seconds))) return { ...none, lifetime: String(seconds) }
  const { count, noun } = counted(seconds)
  return { lifetime: 'custom', count: String(count), unit: `${noun}s` }
}

/** Returns what is wrong with the number of a choice, or undefined. */
export const countProblem = (choice: LifetimeChoice): { text: string } | undefined =>
  choice.lifetime === 'custom' && secondsOf(choice) === undefined
    ? { text: 'Write a whole number above 0.' }
    : undefined
