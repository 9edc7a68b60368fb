/** Patterns of schemas. They run on what clients send, so only those are taken that cannot run away. */

/** Longer values are refused by `maxLength` before the pattern is tried; a pattern needs one of at most this. */
export const MAX_PATTERN_LENGTH = 1024

/**
 * Whether backtracking stays polynomial of low degree on any text: no repeated group, no reference, nothing that looks
 * around, at most two repetitions without a bound.
 */
export function isSafePattern(pattern: string): boolean {
  const bare = pattern.replace(/\\./g, 'x').replace(/\[[^\]]*\]/g, 'x')
  const unbounded = bare.match(/[*+]|\{\d+,\}/g) ?? []
  const anchored = pattern.startsWith('^') && pattern.endsWith('$')
  return anchored && unbounded.length <= 2 && !/\)[*+{]|\(\?[=!<]/.test(bare) && !/\\[1-9k]/.test(pattern)
}

const compiled = new Map<string, RegExp>()

/** Patterns are the kinds' own, never a client's. Throws for one that is not safe. */
export function matchesPattern(pattern: string, text: string): boolean {
  let expression = compiled.get(pattern)
  if (!expression) {
    if (!isSafePattern(pattern)) throw new Error(`the pattern ${pattern} could take too long`)
    expression = new RegExp(pattern, 'u')
    compiled.set(pattern, expression)
  }
  return expression.test(text)
}
