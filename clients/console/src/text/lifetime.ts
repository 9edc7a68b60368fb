/** Reads and writes how long a key lives: `30d`, `12h`, `90m` or `3600s`. */

const SECONDS = { d: 86_400, h: 3600, m: 60, s: 1 } as const

/** Returns the shortest of these texts, and none for a key without an end. */
export function lifetimeText(seconds: number | undefined): string {
  if (!seconds) return ''
  const [unit, length] = Object.entries(SECONDS).find(([, size]) => seconds % size === 0) ?? ['s', 1]
  return `${seconds / length}${unit}`
}

/** Returns the seconds, 0 for an empty text, or undefined for one that is no lifetime. */
export function lifetimeSeconds(text: string): number | undefined {
  if (text.trim() === '') return 0
  const [, count = '', unit = ''] = /^\s*(\d{1,9})\s*([dhms])\s*$/.exec(text) ?? []
  const seconds = Number(count) * SECONDS[unit as keyof typeof SECONDS]
  return seconds > 0 ? seconds : undefined
}
