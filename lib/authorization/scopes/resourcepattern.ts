/**
 * The patterns of `rules[].resources[].resources`: `pods`, `pods/log`, `*` (all resources and their subresources),
 * `pods/*` (all subresources of pods), `*` + `/log` (that subresource of every resource). Specification section 2.3.
 */

/** `pods/log` → [pods, log]; a resource without subresource has ''. */
function split(text: string): [string, string] {
  const slash = text.indexOf('/')
  return slash < 0 ? [text, ''] : [text.slice(0, slash), text.slice(slash + 1)]
}

/** Whether the pattern covers a request for this resource and subresource ('' = the resource itself). */
export function patternMatches(pattern: string, resource: string, subresource: string): boolean {
  if (pattern === '*') return true
  const [ofResource, ofSubresource] = split(pattern)
  if (ofResource !== '*' && ofResource !== resource) return false
  return ofSubresource === '*' ? subresource !== '' : ofSubresource === subresource
}

/** Whether some resource or subresource is covered by both patterns. */
export function patternsOverlap(one: string, other: string): boolean {
  if (one === '*' || other === '*') return true
  const [resource, subresource] = split(one)
  const [otherResource, otherSubresource] = split(other)
  const resources = resource === otherResource || resource === '*' || otherResource === '*'
  const wild = (subresource === '*' && otherSubresource !== '') || (otherSubresource === '*' && subresource !== '')
  return resources && (subresource === otherSubresource || wild)
}

/** Whether the text is a pattern at all: one or two steps, each a word or `*`, never `*` beside other characters. */
export const isPattern = (text: string): boolean => /^(\*|[^*/\s]+)(\/(\*|[^*/\s]+))?$/.test(text)
