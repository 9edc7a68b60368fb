/** Matches values against the patterns of schemas. Clients choose the values, so only patterns that cannot backtrack for long are accepted. */

/** Maximum `maxLength` of a field with a pattern: `maxLength` rejects longer values before the pattern runs. */
export const MAX_PATTERN_LENGTH = 1024

/**
 * Reports whether the time for any text is a polynomial of low degree: the pattern has no repeated groups, no back
 * references, no lookaround, and at most two unbounded repetitions.
 */
export function isSafePattern(pattern: string): boolean {
  const bare = pattern.replace(/\\./g, 'x').replace(/\[[^\]]*\]/g, 'x')
  const unbounded = bare.match(/[*+]|\{\d+,\}/g) ?? []
  const anchored = pattern.startsWith('^') && pattern.endsWith('$')
  return anchored && unbounded.length <= 2 && !/\)[*+{]|\(\?[=!<]/.test(bare) && !/\\[1-9k]/.test(pattern)
}

const compiled = new Map<string, RegExp>()

/** Reports whether the text matches the pattern, which must come from a kind, never from a client. Throws an Error for an unsafe pattern. */
export function matchesPattern(pattern: string, text: string): boolean {
  let expression = compiled.get(pattern)
  if (!expression) {
    if (!isSafePattern(pattern)) throw new Error(`the pattern ${pattern} could take too long`)
    expression = new RegExp(pattern, 'u')
    compiled.set(pattern, expression)
  }
  return expression.test(text)
}
