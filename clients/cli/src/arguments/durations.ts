/** Reads durations such as `30d`, and writes them for people. */
import { UsageError } from '../io/errors.ts'

const UNITS = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 } as const

/** Returns the seconds of a duration such as `90s`, `30m`, `12h`, `7d`, `2w` or `1h30m`. Throws a UsageError otherwise. */
export function seconds(text: string, option: string): number {
  const parts = /^(?:\d{1,9}[smhdw])+$/.test(text) ? [...text.matchAll(/(\d+)([smhdw])/g)] : []
  const total = parts.reduce((sum, [, count, unit]) => sum + Number(count) * UNITS[unit as keyof typeof UNITS], 0)
  if (parts.length === 0) {
    throw new UsageError(`${option} must be a duration such as 90s, 30m, 12h, 7d or 2w, not "${text}"`)
  }
  return total
}

/** Returns a duration in a unit of which it has at least two, rounded: `90s`, `3h`, `12d`. */
export function duration(ofSeconds: number): string {
  const whole = Math.max(0, Math.round(ofSeconds))
  if (whole < 2 * UNITS.m) return `${whole}s`
  if (whole < 2 * UNITS.h) return `${Math.round(whole / UNITS.m)}m`
  if (whole < 2 * UNITS.d) return `${Math.round(whole / UNITS.h)}h`
  if (whole < 2 * YEAR) return `${Math.round(whole / UNITS.d)}d`
  return `${Math.round(whole / YEAR)}y`
}

const YEAR = 365 * UNITS.d
