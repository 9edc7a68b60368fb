/** The address of a Kubernetes API. */

/**
 * Reports whether a text is an absolute https URL that clients take as a server: no user, query or fragment, not even an
 * empty one, and nothing that a URL parser drops, decodes or rewrites in silence (control characters, `..`, `0x7f.1`), as two
 * parsers could then read two addresses. Capital letters in the host and port 443 are no differences. In linear time.
 */
export function isServerUrl(text: string): boolean {
  if (!/^https:\/\/[^/?#\s@\\][^?#\s\\]*$/.test(text) || BROKEN_ESCAPE.test(text)) return false
  const url = URL.parse(text)
  if (url === null || url.hostname === '' || url.username !== '' || url.password !== '') return false
  const written = text.replace(/^https:\/\/[^/]*/, (origin) => origin.toLowerCase().replace(/:443$/, ''))
  return url.href === written || url.href === `${written}/`
}

/** URL parsers of browsers leave it as it is, Go's refuses it. */
const BROKEN_ESCAPE = /%(?![0-9A-Fa-f]{2})/
