/** Which connected clusters a chain of scopes leaves anything of; what exactly is judged at each request. */
import type { Scope, ScopeChain } from './scope.ts'

export type Clusters = 'all' | ReadonlySet<string>

/** Each cluster that every scope of the chain leaves something of; of an empty chain all. */
export function clustersLeft(chain: ScopeChain): Clusters {
  let left: Clusters = 'all'
  for (const scope of chain) left = intersect(left, clustersOf(scope))
  return left
}

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
