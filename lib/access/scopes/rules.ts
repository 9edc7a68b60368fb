/**
 * Evaluates the rules of a scope. A rule allows a request when all of its members match. An absent or empty
 * member matches everything, so an empty rule allows everything. Specification section 2.3; wildcards work as in
 * Kubernetes audit policies. A pattern of resources is `pods`, `pods/log`, `*` (all resources and subresources), `pods/*` (all
 * subresources of pods) or `*` + `/log` (that subresource of every resource).
 */
import type { FromSchema } from '../../engine/meta/schema/schema.ts'
import type { Attributes, NonResourceAttributes, ResourceAttributes, Target } from '../attributes/attributes.ts'
import type { ScopeOptions } from './project.ts'
import type { scopeSchema } from './scope.ts'

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

export type Rule = FromSchema<(typeof scopeSchema)['properties']['rules']['items']>

type Listed = readonly string[] | undefined

const anyOf = (list: Listed, value: string): boolean => list === undefined || list.length === 0 || list.includes(value)
const isGiven = (list: readonly unknown[] | undefined): boolean => list !== undefined && list.length > 0

/** Reports whether the rule allows the request. A rule with both resources and paths allows nothing. */
export function ruleAllows(rule: Rule, attributes: Attributes, options: ScopeOptions): boolean {
  return (
    verbMatches(rule.verbs, attributes.verb) &&
    anyOf(rule.requestTargets, attributes.target.type) &&
    clusterMatches(rule, attributes.target, options) &&
    (attributes.kind === 'resource' ? resourceMatches(rule, attributes) : pathMatches(rule, attributes))
  )
}

const verbMatches = (verbs: Listed, verb: string): boolean => anyOf(verbs, verb) || verbs?.includes('*') === true

function clusterMatches(rule: Rule, target: Target, { projectNamespacePrefix }: ScopeOptions): boolean {
  if (rule.cluster && !(target.type === 'Cluster' && target.cluster === rule.cluster)) return false
  if (!rule.virtualClusters?.length) return true
  if (target.type !== 'ProjectVirtualCluster') return false
  const namespace = projectNamespacePrefix + target.project
  return rule.virtualClusters.some(
    (one) => (!one.name || one.name === target.virtualCluster) && (!one.namespace || one.namespace === namespace),
  )
}

function resourceMatches(rule: Rule, { group, resource, subresource, name, ...at }: ResourceAttributes): boolean {
  if (isGiven(rule.nonResourceURLs)) return false
  if (isGiven(rule.namespaces) && (at.allNamespaces || !anyOf(rule.namespaces, at.namespace))) return false
  if (!anyOf(rule.resourceNames, name)) return false
  if (!rule.resources?.length) return true
  return rule.resources.some(
    (entry) =>
      (entry.group ?? '') === group &&
      anyOf(entry.resourceNames, name) &&
      (!entry.resources?.length || entry.resources.some((pattern) => patternMatches(pattern, resource, subresource))),
  )
}

function pathMatches(rule: Rule, { path }: NonResourceAttributes): boolean {
  if (isGiven(rule.resources) || isGiven(rule.namespaces) || isGiven(rule.resourceNames)) return false
  if (!rule.nonResourceURLs?.length) return true
  return rule.nonResourceURLs.some(
    (url) => url === path || url === '*' || (url.endsWith('/*') && path.startsWith(url.slice(0, -1))),
  )
}
