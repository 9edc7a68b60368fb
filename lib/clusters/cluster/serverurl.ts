/** Validates the address of a Kubernetes API. */

/**
 * Reports whether a text is an absolute https URL that clients accept as a server. It must not have a user, query or
 * fragment, even an empty one. It must not contain anything that a URL parser silently drops, decodes or rewrites
 * (control characters, `..`, `0x7f.1`), because two parsers could then read two addresses. No client reaches a host with
 * `*`, or port 0. Capital letters in the host and port 443 are allowed. Runs in linear time.
 */
export function isServerUrl(text: string): boolean {
  if (!/^https:\/\/[^/?#\s@\\][^?#\s\\]*$/.test(text) || BROKEN_ESCAPE.test(text)) return false
  const url = URL.parse(text)
  if (url === null || url.hostname === '' || url.username !== '' || url.password !== '') return false
  if (url.hostname.includes('*') || url.port === '0') return false
  const written = text.replace(/^https:\/\/[^/]*/, (origin) => origin.toLowerCase().replace(/:443$/, ''))
  return url.href === written || url.href === `${written}/`
}

/** Browsers' URL parsers accept a broken escape; Go's rejects it. */
const BROKEN_ESCAPE = /%(?![0-9A-Fa-f]{2})/
