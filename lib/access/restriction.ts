/** Determines whether a chain of scopes restricts its holder inside a connected cluster or a virtual cluster. */
import type { Attributes } from './attributes/attributes.ts'
import { evaluate } from './scopes/evaluate.ts'
import { type NamedPlace, targetOf } from './scopes/place.ts'
import { projectOf, type ScopeOptions } from './scopes/project.ts'
import type { Scope, ScopeChain } from './scopes/scope.ts'

/**
 * Reports whether the chain would deny any request inside the cluster. A certificate carries no scope, so its
 * holder would gain what the chain denies. A scope does not restrict when a single line of it allows every request to
 * that cluster: its project, the cluster itself, or a rule that selects only by target. Lines that
 * allow everything only in combination do not count, because no list of verbs and resources is complete.
 */
export function restrictsInside(chain: ScopeChain, place: NamedPlace, options: ScopeOptions): boolean {
  if (chain.length === 0) return false
  if (place.type === 'virtualCluster' && projectOf(place.namespace, options) === undefined) return true
  const target = targetOf(place, options)
  // The remaining entries distinguish requests only by target, so one request stands for all.
  const any: Attributes = { kind: 'nonresource', target, verb: 'get', path: '/' }
  return !evaluate(chain.map(byTargetAlone), any, options).allowed
}

const byTargetAlone = ({ clusters = [], projects = [], virtualClusters = [], rules = [] }: Scope): Scope => ({
  clusters,
  projects,
  virtualClusters,
  rules: rules.filter(
    ({ verbs = [], resources = [], resourceNames = [], namespaces = [], nonResourceURLs = [] }) =>
      (verbs.length === 0 || verbs.includes('*')) &&
      resources.length + resourceNames.length + namespaces.length + nonResourceURLs.length === 0,
  ),
})
