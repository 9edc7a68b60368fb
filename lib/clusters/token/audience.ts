/**
 * Computes the audiences of tokens. Each verifier accepts only its own audience, so a cluster cannot replay a token at
 * another cluster.
 */

import { formatPlace, type Place, parsePlace } from '../../access/scopes/place.ts'
import { reachableClusters } from '../../access/scopes/reachableclusters.ts'
import type { ScopeChain } from '../../access/scopes/scope.ts'

/** Returns the audience of tokens for a place. */
export const placeAudience = (issuer: string, place: Place): string => `${issuer}/${formatPlace(place)}`

/** Returns the place that an audience of this issuer names, or undefined for any other audience. */
export const placeOfAudience = (issuer: string, audience: string): Place | undefined =>
  audience.startsWith(`${issuer}/`) ? parsePlace(audience.slice(issuer.length + 1)) : undefined

/** Returns the audience of a cluster; `*` means every cluster. */
export const clusterAudience = (issuer: string, cluster: string): string =>
  placeAudience(issuer, { type: 'cluster', name: cluster })

/**
 * Returns the audience of a virtual cluster. It includes the uid, so that a token for a deleted virtual cluster is not
 * valid for a new one of the same name.
 */
export const virtualClusterAudience = (issuer: string, namespace: string, name: string, uid: string): string =>
  placeAudience(issuer, { type: 'virtualCluster', namespace, name, uid })

/**
 * Returns the audiences of a direct token, sorted: every cluster in which the chain allows something. Returns
 * `ISSUER/clusters/*` if that is every cluster, as with spaces, which are the same in all clusters. Returns none if the
 * chain reaches no cluster. Each request is still evaluated in full; the audience only limits where the token is valid.
 */
export function clusterAudiences(issuer: string, chain: ScopeChain): string[] {
  const left = reachableClusters(chain)
  if (left === 'all') return [clusterAudience(issuer, '*')]
  return [...left].sort().map((cluster) => clusterAudience(issuer, cluster))
}
