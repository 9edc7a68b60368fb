/** Reads durations such as `30d`, and writes them for people. */

const UNITS = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800, y: 31_536_000 } as const

/** What a duration looks like, for messages. */
export const DURATIONS = '90s, 30m, 12h, 7d, 2w or 1y'

/** Returns the seconds of a duration such as `90s`, `30m`, `12h`, `7d`, `2w`, `1y` or `1h30m`; undefined for any other text. */
export function durationSeconds(text: string): number | undefined {
  if (!/^(?:\d{1,9}[smhdwy])+$/.test(text)) return undefined
  const parts = [...text.matchAll(/(\d+)([smhdwy])/g)]
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * UNITS[unit as keyof typeof UNITS], 0)
}

/** Returns a duration for people: in the largest unit that it is a multiple of, within one percent, or else has at least two of. */
export function duration(ofSeconds: number): string {
  const whole = Math.max(0, Math.round(ofSeconds))
  const largest = LARGEST_FIRST.find(([, unit]) => {
    const count = Math.round(whole / unit)
    return count >= 1 && (whole >= 2 * unit || Math.abs(whole - count * unit) <= unit / 100)
  })
  return largest === undefined ? `${whole}s` : `${Math.round(whole / largest[1])}${largest[0]}`
}

const LARGEST_FIRST = [
  ['y', UNITS.y],
  ['d', UNITS.d],
  ['h', UNITS.h],
  ['m', UNITS.m],
] as const
