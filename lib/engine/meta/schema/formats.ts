/**
 * Validates the string formats and patterns of schemas. Source: k8s.io/kube-openapi/pkg/validation/strfmt, Go's net/url. Clients choose
 * the values, so only patterns that cannot backtrack for long are accepted.
 */
import { parseTime } from '../encoding/time.ts'

/** Maximum `maxLength` of a field with a pattern: `maxLength` rejects longer values before the pattern runs. */
export const MAX_PATTERN_LENGTH = 1024

/**
 * Reports whether the time for any text is a polynomial of low degree: the pattern has no repeated groups, no back
 * references, no lookaround, and at most two unbounded repetitions.
 */
export function isSafePattern(pattern: string): boolean {
  const bare = pattern.replace(/\\./g, 'x').replace(/\[[^\]]*\]/g, 'x')
  const unbounded = bare.match(/[*+]|\{\d+,\}/g) ?? []
  const anchored = pattern.startsWith('^') && pattern.endsWith('$')
  return anchored && unbounded.length <= 2 && !/\)[*+{]|\(\?[=!<]/.test(bare) && !/\\[1-9k]/.test(pattern)
}

const compiled = new Map<string, RegExp>()

/** Reports whether the text matches the pattern, which must come from a kind, never from a client. Throws an Error for an unsafe pattern. */
export function matchesPattern(pattern: string, text: string): boolean {
  let expression = compiled.get(pattern)
  if (!expression) {
    if (!isSafePattern(pattern)) throw new Error(`the pattern ${pattern} could take too long`)
    expression = new RegExp(pattern, 'u')
    compiled.set(pattern, expression)
  }
  return expression.test(text)
}

/** Reports whether the day, which contains no `T`, exists in Go's calendar. The calendar has the years 0000 to 9999. */
const isDay = (day: string): boolean => parseTime(`${day}T00:00:00Z`) !== undefined

/**
 * Reports whether strfmt accepts the text as an RFC 3339 time. It accepts more: any character before the fraction, any two
 * digits in the offset, and anything after another `t`. Readers of a time must therefore handle an invalid one.
 */
export function isDateTime(text: string): boolean {
  const [day = '', time = ''] = text.split(/t/i, 2)
  const [, hours = '', minutes = '', seconds = ''] =
    /^(\d\d):(\d\d):(\d\d)(?:[^\n]\d+)?(?:z|[+-]\d\d:\d\d)$/iu.exec(time) ?? []
  return hours !== '' && hours <= '23' && minutes <= '59' && seconds <= '59' && isDay(day)
}

const CONTROL = /\p{Cc}/u
const BROKEN_ESCAPE = /%(?![0-9a-fA-F]{2})/

/** Reports whether net/url accepts the text as `[user@]host[:port]`, without the rare escaped hosts. */
function isAuthority(text: string): boolean {
  const host = text.slice(text.lastIndexOf('@') + 1)
  return /^(?:\[[0-9a-fA-F:.]+\]|[^\s"<>[\]\\^`{|}%:]*)(?::\d*)?$/.test(host) && !/\s/.test(text)
}

/** Reports whether url.ParseRequestURI accepts the text: an absolute URI or an absolute path. */
export function isUri(text: string): boolean {
  if (CONTROL.test(text) || BROKEN_ESCAPE.test(text)) return false
  if (text.startsWith('/')) return true
  const [all, authority] = /^[a-zA-Z][-+.a-zA-Z0-9]*:(?:\/\/([^/?#]*))?/.exec(text) ?? []
  return all !== undefined && (authority === undefined || isAuthority(authority))
}
