/** Checks the URL of a server. */
import { UsageError } from '../io/errors.ts'

/** Returns the URL without a slash at the end. Throws a UsageError unless it is an HTTPS URL of a host and a path alone. */
export function serverUrl(text: string): string {
  let url: URL
  try {
    url = new URL(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`)
  } catch {
    throw new UsageError(`"${text}" is not a URL.`, 'It looks like https://keys.example.com/prod/kubernetes/management')
  }
  if (url.protocol !== 'https:') {
    throw new UsageError(
      `The URL must begin with https://, not ${url.protocol}//: otherwise the key would be sent unencrypted.`,
    )
  }
  if (url.username || url.password) throw new UsageError('The URL must contain no user name or password.')
  if (url.search || url.hash) throw new UsageError('The URL must have no query and no fragment.')
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '')
}
