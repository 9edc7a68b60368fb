/** Finds the rules of a scope that another list says more simply. All other rules say what no list can, and refusals recommend them. */
import { SCOPE_PATH } from './chain.ts'
import { projectOf, type ScopeOptions } from './project.ts'
import { hasReviews } from './roles.ts'
import type { Rule } from './rules.ts'
import type { Scope } from './scope.ts'
import { hasView } from './view.ts'

/** Returns the deprecation warning for each rule of the scope that another list replaces, as Kubernetes words it. */
export function ruleWarnings(scope: Scope | undefined, options: ScopeOptions): string[] {
  // Beside a role for reviews, or view, the other lists say where it holds.
  if (scope === undefined || hasReviews(scope) || hasView(scope)) return []
  return (scope.rules ?? []).flatMap((rule, index) => {
    const list = listInstead(rule, options)
    return list ? [`${SCOPE_PATH}.rules[${index}]: deprecated since v1; use ${SCOPE_PATH}.${list} instead`] : []
  })
}

/** Returns the list that allows everything in the same clusters, if the rule limits nothing but these. */
function listInstead(
  { verbs = [], requestTargets = [], cluster = '', virtualClusters = [], ...limits }: Rule,
  options: ScopeOptions,
): 'clusters' | 'virtualClusters' | undefined {
  const isLimited =
    Object.values(limits).some((list) => list.length > 0) || !(verbs.length === 0 || verbs.includes('*'))
  const targets = new Set(requestTargets)
  const isFor = (target: (typeof requestTargets)[number]) => targets.size === 0 || targets.has(target)
  if (isLimited) return undefined
  if (virtualClusters.length > 0) {
    const areOfProjects = virtualClusters.every(({ namespace = '' }) => projectOf(namespace, options) !== undefined)
    return cluster === '' && areOfProjects && isFor('ProjectVirtualCluster') ? 'virtualClusters' : undefined
  }
  if (cluster !== '') return isFor('Cluster') ? 'clusters' : undefined
  return targets.size === 1 && targets.has('Cluster') ? 'clusters' : undefined
}
