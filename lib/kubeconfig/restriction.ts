/** Whether a chain of scopes restricts its holder inside one virtual cluster. */
import type { Attributes, Target } from '../authorization/attributes/attributes.ts'
import { evaluate } from '../authorization/scopes/evaluate.ts'
import { projectOf, type ScopeOptions } from '../authorization/scopes/project.ts'
import type { Scope, ScopeChain } from '../authorization/scopes/scope.ts'

/**
 * True when the chain would deny anything at all inside the virtual cluster: a certificate carries no scope, so its
 * holder would get what the chain leaves out. A scope restricts nothing there when one single line of it allows every
 * request to that virtual cluster: its project, itself, or a rule that selects by target alone. Lines that only
 * together allow everything do not count: no list of verbs and resources is complete.
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
  // What is left of the scopes tells requests apart by target alone, so that one stands for all.
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
