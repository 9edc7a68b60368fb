/**
 * Computes the connected clusters in which a chain of scopes allows anything. Each request is still evaluated in full.
 * Spaces and projects name no cluster, so a scope that lists them reaches those spaces in every cluster.
 */

import { dnsLabelErrors, dnsSubdomainErrors } from '../../engine/meta/object/names.ts'
import { KINDS } from '../../kinds.ts'
import type { Attributes } from '../attributes/attributes.ts'
import { isCluster, isTokenRequest } from './roles.ts'
import type { Rule } from './rules.ts'
import type { Scope, ScopeChain } from './scope.ts'

type Clusters = 'all' | ReadonlySet<string>

/**
 * Returns the clusters in which all scopes of the chain have something in common. An empty chain reaches all clusters.
 */
export function reachableClusters(chain: ScopeChain): Clusters {
  const areas = chain.map(areaOf)
  if (leavesSomething(areas, undefined)) return 'all'
  const named = areas.flatMap(({ clusters }) => (clusters === 'all' ? [] : [...clusters]))
  return new Set(named.filter((cluster) => leavesSomething(areas, cluster)))
}

/** Reports whether the chain reaches this cluster. */
export function reachesCluster(chain: ScopeChain, name: string): boolean {
  const reached = reachableClusters(chain)
  return reached === 'all' || reached.has(name)
}

/** Returns the connected cluster whose kube config the request creates. */
export const kubeConfigCluster = (attributes: Attributes): string | undefined =>
  attributes.kind === 'resource' &&
  isCluster(attributes) &&
  attributes.verb === 'create' &&
  attributes.subresource === KINDS.ClusterKubeConfig.subresource
    ? attributes.name
    : undefined

/** Reports whether the request makes a token for connected clusters. A rule may allow it, but puts no cluster into the token. */
export const makesClusterToken = (attributes: Attributes): boolean =>
  isTokenRequest(attributes) || kubeConfigCluster(attributes) !== undefined

/** The part of the connected clusters that a scope allows: some clusters entirely, and some spaces of all clusters. */
interface Area {
  clusters: Clusters
  spaces: readonly Space[]
}

/** `*` selects all. Two spaces are disjoint, or one contains the other. */
interface Space {
  project: string
  space: string
}

/** Reports whether all areas overlap in this cluster or, if undefined, in a cluster that no scope names. */
function leavesSomething(areas: readonly Area[], cluster: string | undefined): boolean {
  const confined = areas.filter(
    ({ clusters }) => clusters !== 'all' && !(cluster !== undefined && clusters.has(cluster)),
  )
  const [first, ...others] = confined.map(({ spaces }) => spaces)
  return first === undefined || others.reduce(inBoth, first).length > 0
}

function inBoth(some: readonly Space[], others: readonly Space[]): readonly Space[] {
  const both = some.flatMap((one) => others.flatMap((other) => inBothSpaces(one, other) ?? []))
  return [...new Map(both.map((space) => [JSON.stringify(space), space])).values()]
}

function inBothSpaces(one: Space, other: Space): Space | undefined {
  const project = one.project === '*' ? other.project : one.project
  const space = one.space === '*' ? other.space : one.space
  const meet = (a: string, b: string) => a === b || a === '*' || b === '*'
  return meet(one.project, other.project) && meet(one.space, other.space) ? { project, space } : undefined
}

function areaOf({ clusters = [], projects = [], spaces = [], rules = [] }: Scope): Area {
  const named = clusters.map(({ cluster = '' }) => cluster)
  // A rule with virtualClusters applies to nothing else (specification 2.3).
  const places = rules.filter(({ virtualClusters = [] }) => virtualClusters.length === 0)
  const reaching = places.filter(reaches('Cluster')).map(({ cluster = '' }) => cluster)
  const everySpace = places.some((rule) => !rule.cluster && reaches('ProjectSpace')(rule))
  const all = named.includes('*') || reaching.includes('')
  return {
    clusters: all ? 'all' : new Set([...named, ...reaching].filter(isClusterName)),
    spaces: [
      ...(everySpace ? [{ project: '*', space: '*' }] : []),
      ...projects.map(({ project = '' }) => ({ project, space: '*' })),
      ...spaces.map(({ project = '', space = '' }) => ({ project, space })).filter(({ project }) => project !== '*'),
    ].filter(({ project, space }) =>
      [project, space].every((name) => name === '*' || dnsLabelErrors(name).length === 0),
    ),
  }
}

const reaches =
  (target: 'Cluster' | 'ProjectSpace') =>
  ({ requestTargets = [] }: Rule): boolean =>
    requestTargets.length === 0 || requestTargets.includes(target)

/** Names of any other form (`*`, `a/../b`) would have another meaning in a URL. */
const isClusterName = (name: string): boolean => dnsSubdomainErrors(name).length === 0
