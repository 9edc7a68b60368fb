/**
 * Matches the patterns of `rules[].resources[].resources`: `pods`, `pods/log`, `*` (all resources and subresources),
 * `pods/*` (all subresources of pods), `*` + `/log` (that subresource of every resource). Specification section 2.3.
 */

/** Splits `pods/log` into pods and log. A resource without a subresource has ''. */
function split(text: string): [string, string] {
  const slash = text.indexOf('/')
  return slash < 0 ? [text, ''] : [text.slice(0, slash), text.slice(slash + 1)]
}

/** Reports whether the pattern matches this resource and subresource ('' = the resource itself). */
export function patternMatches(pattern: string, resource: string, subresource: string): boolean {
  if (pattern === '*') return true
  const [ofResource, ofSubresource] = split(pattern)
  if (ofResource !== '*' && ofResource !== resource) return false
  return ofSubresource === '*' ? subresource !== '' : ofSubresource === subresource
}

/** Reports whether any resource or subresource matches both patterns. */
export function patternsOverlap(one: string, other: string): boolean {
  if (one === '*' || other === '*') return true
  const [resource, subresource] = split(one)
  const [otherResource, otherSubresource] = split(other)
  const resources = resource === otherResource || resource === '*' || otherResource === '*'
  const wild = (subresource === '*' && otherSubresource !== '') || (otherSubresource === '*' && subresource !== '')
  return resources && (subresource === otherSubresource || wild)
}

/**
 * Reports whether the text is a valid pattern: one or two segments, each a word or `*`, and never `*` beside other
 * characters.
 */
export const isPattern = (text: string): boolean => /^(\*|[^*/\s]+)(\/(\*|[^*/\s]+))?$/.test(text)
