/**
 * Parses the media type of a Content-Type like Go's mime.ParseMediaType. Every step consumes characters from the left, so
 * the work is linear in the length of the header.
 */

const BLANKS = /[ \t\n\v\f\r]*/y
const TOKEN = /[\w!#$%&'*+.^`{|}~-]*/y
/** A quoted string up to its end quote. It cannot contain line breaks. */
const QUOTED = /"(?:[^"\\\r\n]|\\[^\r\n])*"/y
/** The characters that a backslash escapes. Before any other character, a backslash is literal. */
const SPECIAL = /\\([()<>@,;:\\"/[\]?=])/g

/** Reads a text from left to right. */
function reader(text: string) {
  let at = 0
  const take = (pattern: RegExp): string => {
    pattern.lastIndex = at
    const [found = ''] = pattern.exec(text) ?? []
    at += found.length
    return found
  }
  const skip = (character: string): boolean => {
    take(BLANKS)
    if (text[at] !== character) return false
    at++
    take(BLANKS)
    return true
  }
  return {
    take,
    skip,
    isAtEnd(): boolean {
      take(BLANKS)
      return at === text.length
    },
  }
}

/** Returns a quoted or unquoted value, or undefined if there is none. */
function parameterValue({ take }: Pick<ReturnType<typeof reader>, 'take'>): string | undefined {
  const quoted = take(QUOTED)
  if (quoted !== '') return quoted.slice(1, -1).replace(SPECIAL, '$1')
  return take(TOKEN) || undefined
}

/** Reports whether the parameters are well-formed. A parameter may be repeated only with the same value. */
function areParameters(text: string): boolean {
  const given = new Map<string, string>()
  const read = reader(text)
  while (!read.isAtEnd()) {
    if (!read.skip(';')) return false
    if (read.isAtEnd()) return true
    const name = read.take(TOKEN).toLowerCase()
    const value = name !== '' && read.skip('=') ? parameterValue(read) : undefined
    if (value === undefined || (given.has(name) && given.get(name) !== value)) return false
    given.set(name, value)
  }
  return true
}

/** Returns the type in lower case, without parameters. Returns undefined if it is empty or the parameters are malformed. */
export function mediaTypeOf(header: string): string | undefined {
  const end = header.indexOf(';')
  if (end >= 0 && !areParameters(header.slice(end))) return undefined
  return (end < 0 ? header : header.slice(0, end)).trim().toLowerCase() || undefined
}
