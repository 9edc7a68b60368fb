/**
 * Authorizes TokenReviews and SubjectAccessReviews, which connected clusters create: for which place, and which access keys a
 * place accepts. `users/reviewright.ts` says who may create them. See docs/clusters.md.
 */
import { KINDS, type KindRow } from '../kinds.ts'
import { type Attributes, managementRequest, type Target } from './attributes/attributes.ts'
import { evaluate } from './scopes/evaluate.ts'
import { type NamedPlace, type Place, targetOf } from './scopes/place.ts'
import type { ScopeOptions } from './scopes/project.ts'
import { reachableClusters } from './scopes/reachableclusters.ts'
import { ruleAllows } from './scopes/rules.ts'
import type { Scope, ScopeChain } from './scopes/scope.ts'

/** Returns the attributes of a request that creates a review. */
export const reviewAttributes = (review: KindRow, target: Target): Attributes => ({
  ...managementRequest(review, { verb: 'create' }),
  target,
})

/** Reports whether the caller's scopes allow reviews for this place. */
export const mayReviewAt = (chain: ScopeChain, place: Place, options: ScopeOptions): boolean =>
  evaluate(chain, reviewAttributes(KINDS.SubjectAccessReview, targetOf(place, options)), options).allowed

/**
 * Returns the places that the caller's chain names and for which it allows reviews: clusters for role agent, virtual
 * clusters for role vcluster, and both for a chain with neither role. Wildcards name no place.
 */
export function namedPlaces(chain: ScopeChain, options: ScopeOptions): NamedPlace[] {
  const roles = new Set(chain.flatMap(({ roles = [] }) => roles.map(({ role }) => role)))
  const neither = !roles.has('agent') && !roles.has('vcluster')
  const named: NamedPlace[] = [
    ...(neither || roles.has('agent') ? chain.flatMap(clustersNamed) : []),
    ...(neither || roles.has('vcluster')
      ? chain.flatMap((scope) => virtualClustersNamed(scope, options.projectNamespacePrefix))
      : []),
  ]
  const distinct = new Map(named.map((place) => [JSON.stringify(place), place]))
  return [...distinct.values()].filter((place) =>
    mayReviewAt(chain, place.type === 'cluster' ? place : { ...place, uid: '' }, options),
  )
}

const isName = (name: string | undefined): name is string => name !== undefined && name !== '' && name !== '*'

function clustersNamed({ clusters = [], rules = [] }: Scope): NamedPlace[] {
  const names = [...clusters, ...rules].map(({ cluster }) => cluster).filter(isName)
  return names.map((name) => ({ type: 'cluster', name }))
}

function virtualClustersNamed({ roles = [], virtualClusters = [], rules = [] }: Scope, prefix: string): NamedPlace[] {
  const inProjects = [
    ...virtualClusters.map(({ project, virtualCluster }) => [project, virtualCluster]),
    ...roles.flatMap(({ projects = [], virtualClusters: listed = [] }) =>
      listed.flatMap((one) => (one.includes('/') ? [one.split('/')] : projects.map((project) => [project, one]))),
    ),
  ]
  const places = inProjects.flatMap(([project, name]): NamedPlace[] =>
    isName(project) && isName(name) ? [{ type: 'virtualCluster', namespace: prefix + project, name }] : [],
  )
  const ofRules = rules.flatMap(({ virtualClusters: listed = [] }) => listed)
  return [
    ...places,
    ...ofRules.flatMap(({ namespace, name }): NamedPlace[] =>
      isName(namespace) && isName(name) ? [{ type: 'virtualCluster', namespace, name }] : [],
    ),
  ]
}

/**
 * Reports whether a place accepts access keys with this chain. Every scope must allow something at the place, and at
 * least one must select it by name, project or wildcard. Keys without a scope are never accepted: the operator of a
 * cluster must not obtain an unrestricted key.
 */
export function acceptsKeys(chain: ScopeChain, place: Place, options: ScopeOptions): boolean {
  if (place.type === 'virtualCluster') {
    const left = chain.map((scope) => speaksOf(scope, place, options))
    return left.every((one) => one !== undefined) && left.includes('named')
  }
  const left = reachableClusters(chain)
  if (left !== 'all') return left.has(place.name)
  return chain.some(({ clusters = [], rules = [] }) =>
    [
      ...clusters.map(({ cluster }) => (cluster === '*' ? place.name : cluster)),
      ...rules.map(({ cluster }) => cluster),
    ].includes(place.name),
  )
}

/**
 * Reports whether a connected cluster that identifies itself by an audience also accepts access keys with this chain.
 * Every scope must allow something in the cluster, and one must list spaces. A space is a namespace in every connected
 * cluster, not in a particular one. A project covers more than its spaces, so a project alone does not suffice.
 */
export const acceptsKeysOfSpaces = (chain: ScopeChain, place: Place): boolean => {
  const left = reachableClusters(chain)
  return (
    place.type === 'cluster' &&
    (left === 'all' || left.has(place.name)) &&
    chain.some(({ spaces = [] }) => spaces.length > 0)
  )
}

/** Reports whether any place could accept access keys with this chain. */
export const acceptsKeysAnywhere = (chain: ScopeChain): boolean =>
  chain.some(
    ({ clusters = [], spaces = [], projects = [], virtualClusters = [], rules = [] }) =>
      [clusters, spaces, projects, virtualClusters].some((list) => list.length > 0) ||
      rules.some((rule) => isName(rule.cluster) || (rule.virtualClusters ?? []).length > 0),
  )

/** Reports whether a scope allows anything in a virtual cluster, and whether it selects that cluster explicitly. */
export function speaksOf(scope: Scope, place: Place, options: ScopeOptions): 'named' | 'left' | undefined {
  const { projects = [], virtualClusters = [], rules = [] } = scope
  const target = targetOf(place, options)
  const anything: Attributes = { kind: 'nonresource', target, verb: 'get', path: '/' }
  if (evaluate([{ projects, virtualClusters }], anything, options).allowed) return 'named'
  const reaching = rules.filter(({ requestTargets = [], cluster = '', virtualClusters: listed = [] }) =>
    ruleAllows({ requestTargets, cluster, virtualClusters: listed }, anything, options),
  )
  if (reaching.some(({ virtualClusters: listed = [] }) => listed.length > 0)) return 'named'
  return reaching.length > 0 ? 'left' : undefined
}
