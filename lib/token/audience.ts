/** Whom a token is for. Every verifier accepts its own audience only, so that no cluster can replay a token at its neighbour. */
import type { Scope, ScopeChain } from '../authorization/scope.ts'

/** `*` for every cluster. */
export const clusterAudience = (issuer: string, cluster: string): string => `${issuer}/clusters/${cluster}`

/** With the uid: a token for a deleted virtual cluster is nothing to the next one of its name. */
export const virtualClusterAudience = (issuer: string, namespace: string, name: string, uid: string): string =>
  `${issuer}/virtualclusters/${namespace}/${name}/${uid}`

/**
 * The audiences of a direct token: each cluster that every scope of the chain leaves something of, sorted;
 * `ISSUER/clusters/*` when all leave every cluster; none when no cluster is left. What exactly is allowed there is
 * judged at each request; this only bounds where the token is worth anything.
 */
export function clusterAudiences(issuer: string, chain: ScopeChain): string[] {
  let left: Clusters = 'all'
  for (const scope of chain) left = intersect(left, clustersOf(scope))
  if (left === 'all') return [clusterAudience(issuer, '*')]
  return [...left].sort().map((cluster) => clusterAudience(issuer, cluster))
}

type Clusters = 'all' | ReadonlySet<string>

function intersect(a: Clusters, b: Clusters): Clusters {
  if (a === 'all') return b
  return b === 'all' ? a : new Set([...a].filter((one) => b.has(one)))
}

function clustersOf({ clusters = [], rules = [] }: Scope): Clusters {
  const named = clusters.map(({ cluster = '' }) => cluster)
  const reaching = rules
    .filter(({ requestTargets = [], virtualClusters = [] }) => {
      // A rule about virtual clusters is about nothing else (specification 2.3).
      return virtualClusters.length === 0 && (requestTargets.length === 0 || requestTargets.includes('Cluster'))
    })
    .map(({ cluster = '' }) => cluster)
  if (named.includes('*') || reaching.includes('')) return 'all'
  return new Set([...named, ...reaching].filter((name) => CLUSTER_NAME.test(name)))
}

/** A DNS subdomain: a name of any other shape (`*`, `a/../b`) would mean something else inside a URL. */
const CLUSTER_NAME = /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
