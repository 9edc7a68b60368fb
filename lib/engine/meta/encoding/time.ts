/**
 * Formats and parses times as Kubernetes does: RFC 3339, UTC, whole seconds.
 * Source: k8s.io/apimachinery/pkg/apis/meta/v1/time.go, Go's time.Parse.
 */

/** Formats a time as `2026-11-21T09:39:41Z`. Truncates fractions of a second. */
export function rfc3339(time: Date): string {
  return `${time.toISOString().replace(/\.\d+Z$/, '')}Z`
}

/** Returns the time as RFC 3339. */
export const rfc3339OfUnix = (seconds: number): string => rfc3339(new Date(seconds * 1000))

/** Returns the time in whole Unix seconds. */
export const unixSeconds = (time: Date): number => Math.floor(time.getTime() / 1000)

/** Thrown for a text that is not an RFC 3339 time, with Go's message. */
export class TimeParseError extends Error {
  override readonly name = 'TimeParseError'
}

const LAYOUT = '2006-01-02T15:04:05Z07:00'

/** Quotes a text as Go's time errors do: control characters below the space and non-ASCII bytes as \xNN. */
function quoteTime(text: string): string {
  const bytes = [...Buffer.from(text)].map((byte) => {
    if (byte === 0x22 || byte === 0x5c) return `\\${String.fromCharCode(byte)}`
    return byte < 0x20 || byte > 0x7f ? `\\x${byte.toString(16).padStart(2, '0')}` : String.fromCharCode(byte)
  })
  return `"${bytes.join('')}"`
}

/** Reads a text from left to right and throws Go's message for unexpected characters. */
function reader(text: string) {
  let rest = text
  const refuse = (why: string): never => {
    throw new TimeParseError(`parsing time ${quoteTime(text)}: ${why}`)
  }
  const fail = (expected: string): never => {
    const what = `cannot parse ${quoteTime(rest)} as ${quoteTime(expected)}`
    throw new TimeParseError(`parsing time ${quoteTime(text)} as ${quoteTime(LAYOUT)}: ${what}`)
  }
  const take = (pattern: RegExp, expected: string): RegExpExecArray => {
    const found = pattern.exec(rest) ?? fail(expected)
    rest = rest.slice(found[0].length)
    return found
  }
  const number = (pattern: RegExp, layout: string, name: string, min: number, max: number): number => {
    const value = Number(take(pattern, layout)[0])
    return value < min || value > max ? refuse(`${name} out of range`) : value
  }
  /** Returns the offset in minutes east of UTC. Like Go, accepts 24 hours and 60 minutes. */
  const offset = (): number => {
    const [, sign, hours = '0', minutes = '0'] = take(/^(?:Z|([+-])(\d\d):(\d\d))/, 'Z07:00')
    if (Number(minutes) > 60) refuse('time zone offset minute out of range')
    if (Number(hours) > 24) refuse('time zone offset hour out of range')
    return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes))
  }
  const end = (): void => {
    if (rest !== '') refuse(`extra text: ${quoteTime(rest)}`)
  }
  return { take, number, offset, end, refuse }
}

/** Returns midnight UTC. Date.UTC alone maps the years 0 to 99 to 1900 to 1999. */
function midnight(year: number, month: number, day: number): Date {
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  return date
}

/**
 * Parses an RFC 3339 time with any offset and drops fractions of a second. Throws TimeParseError if invalid.
 * As lenient as Go: accepts `T5:00:00Z` and `00,5Z`.
 */
export function decodeTime(text: string): Date {
  const { take, number, offset, end, refuse } = reader(text)
  const year = number(/^\d{4}/, '2006', 'year', 0, 9999)
  take(/^-/, '-')
  const month = number(/^\d\d/, '01', 'month', 1, 12)
  take(/^-/, '-')
  const day = number(/^\d\d/, '02', 'day', 0, 99)
  take(/^T/, 'T')
  const hour = number(/^\d\d?/, '15', 'hour', 0, 23)
  take(/^:/, ':')
  const minute = number(/^\d\d/, '04', 'minute', 0, 59)
  take(/^:/, ':')
  const second = number(/^\d\d/, '05', 'second', 0, 59)
  take(/^(?:[.,]\d+)?/, '')
  const east = offset()
  end()
  const date = midnight(year, month, day)
  if (day === 0 || date.getUTCDate() !== day) refuse('day out of range')
  return new Date(date.getTime() + ((hour * 60 + minute - east) * 60 + second) * 1000)
}

/** Parses like `decodeTime`, but returns undefined for an invalid time. */
export function parseTime(text: string): Date | undefined {
  try {
    return decodeTime(text)
  } catch {
    return undefined
  }
}

/** Go's zero time, which means that no time is set. */
const ZERO_TIME = midnight(1, 1, 1).getTime()

/**
 * Returns the time as metav1.Time encodes it, or undefined for the zero time. Throws TimeParseError if the text is invalid or
 * its year in UTC is outside 0 to 9999 (Go would write five-digit years).
 */
export function normalizeTime(text: string): string | undefined {
  const time = decodeTime(text)
  if (time.getTime() === ZERO_TIME) return undefined
  const normal = rfc3339(time)
  if (!/^\d{4}-/.test(normal)) throw new TimeParseError(`parsing time ${quoteTime(text)}: year out of range`)
  return normal
}

/** Formats a duration in two units, or only in the larger one if the remainder is zero. */
const pair = (value: number, size: number, unit: string, rest: string): string =>
  `${Math.floor(value / size)}${unit}${value % size === 0 ? '' : `${value % size}${rest}`}`

/** Formats an age with two or three digits, like `kubectl get`: `56s`, `5m30s`, `3d4h`, `2y14d`; `<invalid>` in the future. */
export function humanDuration(seconds: number): string {
  const minutes = Math.floor(seconds / 60)
  const hours = Math.floor(seconds / 3600)
  const days = Math.floor(seconds / 86_400)
  if (seconds < -1) return '<invalid>'
  if (seconds < 120) return `${Math.max(0, seconds)}s`
  if (minutes < 10) return pair(seconds, 60, 'm', 's')
  if (minutes < 180) return `${minutes}m`
  if (hours < 8) return pair(minutes, 60, 'h', 'm')
  if (hours < 48) return `${hours}h`
  if (days < 8) return pair(hours, 24, 'd', 'h')
  if (days < 365 * 2) return `${days}d`
  if (days < 365 * 8) return pair(days, 365, 'y', 'd')
  return `${Math.floor(days / 365)}y`
}
