/** Determines whether a chain of scopes restricts its holder inside a virtual cluster. */
import type { Attributes, Target } from './attributes/attributes.ts'
import { evaluate } from './scopes/evaluate.ts'
import { projectOf, type ScopeOptions } from './scopes/project.ts'
import type { Scope, ScopeChain } from './scopes/scope.ts'

/**
 * Reports whether the chain would deny any request inside the virtual cluster. A certificate carries no scope, so its
 * holder would gain what the chain denies. A scope does not restrict when a single line of it allows every request to
 * that virtual cluster: its project, the virtual cluster itself, or a rule that selects only by target. Lines that
 * allow everything only in combination do not count, because no list of verbs and resources is complete.
 */
export function restrictsInside(
  chain: ScopeChain,
  { namespace, name }: { namespace: string; name: string },
  options: ScopeOptions,
): boolean {
  if (chain.length === 0) return false
  const project = projectOf(namespace, options)
  if (project === undefined) return true
  const target: Target = { type: 'ProjectVirtualCluster', project, virtualCluster: name }
  // The remaining entries distinguish requests only by target, so one request stands for all.
  const any: Attributes = { kind: 'nonresource', target, verb: 'get', path: '/' }
  return !evaluate(chain.map(byTargetAlone), any, options).allowed
}

const byTargetAlone = ({ projects = [], virtualClusters = [], rules = [] }: Scope): Scope => ({
  projects,
  virtualClusters,
  rules: rules.filter(
    ({ verbs = [], resources = [], resourceNames = [], namespaces = [], nonResourceURLs = [] }) =>
      (verbs.length === 0 || verbs.includes('*')) &&
      resources.length + resourceNames.length + namespaces.length + nonResourceURLs.length === 0,
  ),
})
