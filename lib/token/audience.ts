/** Whom a token is for. Every verifier accepts its own audience only, so that no cluster can replay a token at its neighbour. */

import { formatPlace, type Place, parsePlace } from '../authorization/scopes/place.ts'
import { reachableClusters } from '../authorization/scopes/reachableclusters.ts'
import type { ScopeChain } from '../authorization/scopes/scope.ts'

/** The audience of tokens for a place. */
export const placeAudience = (issuer: string, place: Place): string => `${issuer}/${formatPlace(place)}`

/** The place that an audience of this issuer names; undefined for every other audience. */
export const placeOfAudience = (issuer: string, audience: string): Place | undefined =>
  audience.startsWith(`${issuer}/`) ? parsePlace(audience.slice(issuer.length + 1)) : undefined

/** `*` for every cluster. */
export const clusterAudience = (issuer: string, cluster: string): string =>
  placeAudience(issuer, { type: 'cluster', name: cluster })

/** With the uid: a token for a deleted virtual cluster is nothing to the next one of its name. */
export const virtualClusterAudience = (issuer: string, namespace: string, name: string, uid: string): string =>
  placeAudience(issuer, { type: 'virtualCluster', namespace, name, uid })

/**
 * The audiences of a direct token: each cluster of which the chain leaves something, sorted; `ISSUER/clusters/*` when it
 * does of every cluster, as spaces do, which are the same in all of them; none when no cluster is left. What exactly is
 * allowed there is judged at each request; this only bounds where the token is worth anything.
 */
export function clusterAudiences(issuer: string, chain: ScopeChain): string[] {
  const left = reachableClusters(chain)
  if (left === 'all') return [clusterAudience(issuer, '*')]
  return [...left].sort().map((cluster) => clusterAudience(issuer, cluster))
}
