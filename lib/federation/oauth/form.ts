/** Decodes the form of a request to an OAuth endpoint. Everything that could be read in two ways is refused. */
import { malformed, quoteValue } from './oautherror.ts'

/** The parameters by their names, with the first value of each. */
export interface Form extends ReadonlyMap<string, string> {
  /** All values of `audience`, the only parameter that may be repeated (RFC 8693 section 2.1). Absent if it is given once. */
  readonly audiences?: readonly string[]
}

const maxParameters = 64

/** The parameter that may be repeated. */
const REPEATABLE = 'audience'

/** The parameters that narrow what is granted. Without them it is more, so an unset variable of a script must not leave them out. */
const narrowing: readonly string[] = ['audience', 'resource', 'scope']

/**
 * Returns the parameters of a form with one character for each byte. A parameter without a value counts as absent (RFC 6749 section
 * 3.2), and is refused if it narrows what is granted.
 */
export function decodeForm(body: string): Form {
  if (!/^[!-~]*$/.test(body))
    throw malformed('the body has characters that must be percent-encoded, such as spaces: use curl --data-urlencode')
  const pairs = body.split('&').filter((pair) => pair !== '')
  if (pairs.length > maxParameters) throw malformed(`the body has more than ${maxParameters} parameters`)
  const given = new Set<string>()
  const form = new Map<string, string>()
  const audiences: string[] = []
  for (const pair of pairs) {
    const at = pair.indexOf('=')
    const name = decodeText(at < 0 ? pair : pair.slice(0, at))
    const value = at < 0 ? '' : decodeText(pair.slice(at + 1))
    if (given.has(name) && name !== REPEATABLE)
      throw malformed(`the parameter ${quoteValue(name)} is given more than once`)
    given.add(name)
    if (value === '') {
      if (narrowing.includes(name)) throw malformed(`the parameter ${name} is empty: leave it out, or give it a value`)
      continue
    }
    if (name === REPEATABLE) audiences.push(value)
    if (!form.has(name)) form.set(name, value)
  }
  return audiences.length > 1 ? Object.assign(form, { audiences }) : form
}

/** Decodes percent-encoding and UTF-8, both strictly. */
function decodeText(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw malformed('the body is not form-encoded: its percent-encoding or its UTF-8 is invalid')
  }
}

/** Returns the value without one line break at its end, which `curl --data-urlencode NAME@FILE` keeps. */
export const withoutLineBreak = (value: string): string => value.replace(/\r?\n$/, '')
