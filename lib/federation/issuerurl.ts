/**
 * Validates URLs of issuers and of their keys. Issuers are compared as text, so only one spelling of a URL is valid. Whether
 * an address may be called is decided when it is called: lib/engine/outbound/addresses.ts.
 */
import { isIP } from 'node:net'
import { type FieldError, forbidden, invalid } from '../engine/meta/errors/fielderror.ts'
import { withoutTrailingSlashes } from '../engine/meta/value/slashes.ts'

interface UrlRules {
  /** The issuer and the URL of this API. No provider is at or below them. */
  own: readonly string[]
  /** Whether the host may have a private name. */
  allowPrivate: boolean
  /** Whether the keys of the issuer are pinned, so that nothing calls the URL. */
  pinned: boolean
}

/** Returns the 422 errors for the URL of an issuer. */
export const validateIssuerUrl = (text: string, rules: UrlRules, path: string): FieldError[] =>
  text.includes('?') ? [forbidden(path, NO_EXTRAS)] : validateUrl(text, rules, path)

/** Returns the 422 errors for the URL of a key set, which may have a query. */
export const validateKeysUrl = (text: string, rules: Omit<UrlRules, 'pinned'>, path: string): FieldError[] =>
  validateUrl(text, { ...rules, pinned: false }, path)

const NO_EXTRAS = 'may not have a user, a query or a fragment'

function validateUrl(text: string, { own, allowPrivate, pinned }: UrlRules, path: string): FieldError[] {
  const because = (detail: string): FieldError[] => [invalid(path, text, detail)]
  const url = URL.parse(text)
  if (url?.protocol !== 'https:') return because('must be an https URL')
  // The message shows no password.
  if (url.username !== '' || url.password !== '' || text.includes('#')) return [forbidden(path, NO_EXTRAS)]
  if (!isDnsName(url.hostname)) return because('must have a DNS name as its host, not an IP address')
  if (url.href !== text && url.href !== `${text}/`) return because(`must be in its normal form: ${url.href}`)
  if (url.port !== '' && !pinned) return because('may not have a port, unless spec.jwks is set')
  if (!allowPrivate && !pinned && isPrivateName(url.hostname)) {
    return because(
      'must have a public host name: set spec.jwks, or the setting allow-private-issuers of the deployment',
    )
  }
  return own.some((one) => isAtOrBelow(url, one)) ? because('may not be at or below the URL of this API') : []
}

/** Reports whether a host is a DNS name. A URL has the normal forms of all spellings of an address (`127.1`, `0x7f000001`). */
const isDnsName = (host: string): boolean =>
  isIP(host) === 0 && /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/.test(host)

/** Reports whether a name has no public meaning: a single label, or below a top-level domain of private networks and clusters. */
const isPrivateName = (host: string): boolean => !host.includes('.') || /\.(localhost|local|internal|svc)$/.test(host)

function isAtOrBelow(url: URL, base: string): boolean {
  const place = ({ host, pathname }: URL) => `${host}${withoutTrailingSlashes(pathname)}/`
  return place(url).startsWith(place(new URL(base)))
}
