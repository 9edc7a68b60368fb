/** The formats of texts that schemas may name. Source: k8s.io/kube-openapi/pkg/validation/strfmt, Go's net/url. */

/** A day that exists in the calendar of Go: years 0000 to 9999. */
function isDay(text: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? []
  if (year === undefined) return false
  const date = new Date(0)
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day)
}

/** RFC 3339 with an offset. Unlike strfmt it takes nothing after the offset. */
export function isDateTime(text: string): boolean {
  const day = text.slice(0, 10)
  const [, hours = '', minutes = '', seconds = ''] =
    /^[tT](\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[zZ]|[+-]\d\d:\d\d)$/.exec(text.slice(10)) ?? []
  return hours !== '' && hours <= '23' && minutes <= '59' && seconds <= '59' && isDay(day)
}

const CONTROL = /\p{Cc}/u
const BROKEN_ESCAPE = /%(?![0-9a-fA-F]{2})/

/** `[user@]host[:port]` as net/url takes it, without the rare cases of escaped hosts. */
function isAuthority(text: string): boolean {
  const host = text.slice(text.lastIndexOf('@') + 1)
  return /^(?:\[[0-9a-fA-F:.]+\]|[^\s"<>[\]\\^`{|}%:]*)(?::\d*)?$/.test(host) && !/\s/.test(text)
}

/** What url.ParseRequestURI takes: an absolute URI or an absolute path. */
export function isUri(text: string): boolean {
  if (CONTROL.test(text) || BROKEN_ESCAPE.test(text)) return false
  if (text.startsWith('/')) return true
  const [all, authority] = /^[a-zA-Z][-+.a-zA-Z0-9]*:(?:\/\/([^/?#]*))?/.exec(text) ?? []
  return all !== undefined && (authority === undefined || isAuthority(authority))
}
