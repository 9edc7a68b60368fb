/** Shortens the URL of a report to what may be stored, published and logged. Anyone can write it. */
import { withoutCredentials } from '../../engine/meta/value/credentialtext.ts'

const MAX_LENGTH = 500
/** Text that is percent-encoded more often counts as a secret: to decode it would cost a pass for each layer. */
const MAX_LAYERS = 8

/**
 * Returns the URL without user, password and query. If its path holds a credential or one of the reported texts, returns the
 * origin alone. Returns undefined if that does too, or if the text is not an http or https URL.
 */
export function cleanUrl(text: string | undefined, reported: readonly string[]): string | undefined {
  const url = text === undefined ? null : URL.parse(text.slice(0, 16 * MAX_LENGTH))
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return undefined
  const { origin, pathname, hash } = url
  const isBare = (one: string) => !holdsSecret(one, reported)
  return [origin + pathname + hash, origin].find(isBare)?.slice(0, MAX_LENGTH)
}

/** Reports whether a text holds a credential, in any case and however often it is percent-encoded, or may hold one. */
function holdsSecret(whole: string, reported: readonly string[]): boolean {
  for (let one = whole, before = '', layers = 0; one !== before; layers++) {
    if (layers > MAX_LAYERS) return true
    const lower = one.toLowerCase()
    if ([one, lower].some((text) => withoutCredentials(text) !== text)) return true
    if (reported.some((secret) => lower.includes(secret.toLowerCase()))) return true
    before = one
    one = decoded(one)
  }
  return false
}

/** Returns the text with one layer of percent-encoding less. */
const decoded = (text: string): string =>
  text.replace(/(?:%[0-9a-f]{2})+/gi, (bytes) => Buffer.from(bytes.replaceAll('%', ''), 'hex').toString())
