/**
 * The media type of a body, as Go's mime.ParseMediaType reads a Content-Type. Every step takes characters off the front of
 * what is left, so the work grows with the length of the header only.
 */

const BLANKS = /[ \t\n\v\f\r]*/y
const TOKEN = /[\w!#$%&'*+.^`{|}~-]*/y
/** Up to the end quote; a line break ends it too. */
const QUOTED = /"(?:[^"\\\r\n]|\\[^\r\n])*"/y
/** Of what a backslash escapes; before any other character it stands for itself. */
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

/** A value with or without quotes; undefined where there is none. */
function parameterValue({ take }: Pick<ReturnType<typeof reader>, 'take'>): string | undefined {
  const quoted = take(QUOTED)
  if (quoted !== '') return quoted.slice(1, -1).replace(SPECIAL, '$1')
  return take(TOKEN) || undefined
}

/** Reports whether parameters follow each other as they may: one that stands twice must say the same. */
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

/**
 * Returns the type in lower case without its parameters; undefined where there is none or where the parameters are
 * malformed.
 */
export function mediaTypeOf(header: string): string | undefined {
  const end = header.indexOf(';')
  if (end >= 0 && !areParameters(header.slice(end))) return undefined
  return (end < 0 ? header : header.slice(0, end)).trim().toLowerCase() || undefined
}
