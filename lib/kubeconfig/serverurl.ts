/** The address of a Kubernetes API. */

/**
 * Whether a text is an absolute https URL that clients take as a server: no user, query or fragment (nor an empty one),
 * no spaces or controls that parsers drop in silence. In linear time.
 */
export function isServerUrl(text: string): boolean {
  const url = /^https:\/\/[^/?#\s@\\][^?#\s\\]*$/.test(text) ? URL.parse(text) : null
  return url !== null && url.hostname !== '' && url.username === '' && url.password === ''
}
