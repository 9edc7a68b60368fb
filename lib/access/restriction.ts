/** Determines whether a chain of scopes restricts its holder inside a connected cluster or a virtual cluster. */
import type { Attributes } from './attributes/attributes.ts'
import { evaluate } from './scopes/evaluate.ts'
import { type NamedPlace, targetOf } from './scopes/place.ts'
import { projectOf, type ScopeOptions } from './scopes/project.ts'
import type { Scope, ScopeChain } from './scopes/scope.ts'
import { hasView, isView } from './scopes/view.ts'

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

const byTargetAlone = ({
  roles = [],
  clusters = [],
  projects = [],
  virtualClusters = [],
  rules = [],
}: Scope): Scope => ({
  roles: roles.filter(isView),
  clusters,
  projects,
  virtualClusters,
  rules: rules.filter(
    ({ verbs = [], resources = [], resourceNames = [], namespaces = [], nonResourceURLs = [] }) =>
      (verbs.length === 0 || verbs.includes('*')) &&
      resources.length + resourceNames.length + namespaces.length + nonResourceURLs.length === 0,
  ),
})

/**
 * Returns what the chain lets its holder do inside the cluster, as far as a service account of it can stand for that: everything, or what the
 * role view allows. Undefined: something else, which no account can.
 */
export function insideOf(chain: ScopeChain, place: NamedPlace, options: ScopeOptions): 'all' | 'view' | undefined {
  if (!restrictsInside(chain, place, options)) return 'all'
  const isLess = chain.some((scope) => restrictsInside([scope], place, options) && !viewsInside(scope, place, options))
  return isLess ? undefined : 'view'
}

/** Reports whether the scope allows what the role view does in the whole cluster, and nothing else there. */
function viewsInside(scope: Scope, place: NamedPlace, options: ScopeOptions): boolean {
  if (!hasView(scope) || (scope.rules ?? []).length > 0) return false
  if (place.type === 'virtualCluster' && projectOf(place.namespace, options) === undefined) return false
  return evaluate([scope], { ...SOME_READ, target: targetOf(place, options) }, options).allowed
}

/** One request stands for all that the role view allows: its scope has no entry that distinguishes them. */
const SOME_READ = {
  kind: 'resource',
  verb: 'list',
  group: '',
  version: 'v1',
  resource: 'pods',
  subresource: '',
  namespace: '',
  name: '',
  allNamespaces: true,
} as const
