/**
 * Compares text with patterns in which `*` stands for characters of one part of a name. A pattern is never compiled to a
 * regular expression, so it cannot backtrack, or have a meaning that its writer does not see.
 */

/** The characters that separate the parts of repository names, references and subjects. A `*` never stands for them. */
const DELIMITERS = '/:@'

/** A pattern with more wildcards is hard to review. */
const MAX_WILDCARDS = 4

/** Returns what is wrong with a pattern, or undefined. */
export function invalidPattern(pattern: string): string | undefined {
  if (pattern.startsWith('*')) return 'must not begin with a wildcard'
  if (pattern.includes('**')) return '* matches a part between / : and @; ** has no meaning'
  if (pattern.split('*').length - 1 > MAX_WILDCARDS) return `must have at most ${MAX_WILDCARDS} wildcards`
  return undefined
}

/**
 * Reports whether the whole text fits the pattern. Every `*` stands for zero or more characters other than `/`, `:` and
 * `@`; all other characters stand for themselves. An invalid pattern fits nothing.
 *
 * Each part is taken where it first occurs. A later place is never better: a part with a delimiter has one possible place,
 * because no wildcard crosses its delimiter. A part without one leaves only more text for the next wildcard.
 */
export function fitsPattern(pattern: string, text: string): boolean {
  if (invalidPattern(pattern) !== undefined) return false
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return text === pattern
  if (!text.startsWith(first)) return false
  let at = first.length
  for (const part of rest) {
    const found = text.indexOf(part, at)
    if (found < 0 || hasDelimiter(text, at, found)) return false
    at = found + part.length
  }
  const end = text.length - last.length
  return end >= at && text.endsWith(last) && !hasDelimiter(text, at, end)
}

function hasDelimiter(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (DELIMITERS.includes(text.charAt(at))) return true
  return false
}
