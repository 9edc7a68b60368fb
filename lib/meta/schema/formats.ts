/** Validates the string formats of schemas. Source: k8s.io/kube-openapi/pkg/validation/strfmt, Go's net/url. */

import { parseTime } from '../encoding/time.ts'

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
