/**
 * Says what a smaller scope must keep besides requests: the places that accept the key, that it makes tokens and they are valid
 * somewhere, and client certificates.
 */

import { restrictsInside } from '../restriction.ts'
import { acceptsKeys, acceptsKeysOfSpaces } from '../review.ts'
import { reachableClusters } from '../scopes/reachableclusters.ts'
import type { ScopeChain } from '../scopes/scope.ts'
import { kubeConfigOf, makesTokens } from './entryeffects.ts'
import type { Usage, UsageOptions } from './usage.ts'
import { judgeEntry, type UsedPlace, withUid } from './usedentry.ts'

/** Reports whether the place accepts access keys with this chain. */
export const acceptedBy = (chain: ScopeChain, place: UsedPlace, options: UsageOptions): boolean =>
  acceptsKeys(chain, withUid(place), options) || acceptsKeysOfSpaces(chain, withUid(place))

/** Something that holds for a chain. */
type Check = (chain: ScopeChain) => boolean

/** Returns a check for chains: what held for the former chain at the places of the record still holds. */
export function keepsPlaces(before: ScopeChain, { entries, accepted }: Usage, options: UsageOptions): Check {
  const acceptances = accepted.flatMap(({ place }): Check[] => [
    (chain) => acceptsKeys(chain, withUid(place), options),
    (chain) => acceptsKeysOfSpaces(chain, withUid(place)),
  ])
  const certificates = entries.flatMap(({ entry }): Check[] => {
    const place = kubeConfigOf(entry)
    return place ? [(chain) => !restrictsInside(chain, place, options)] : []
  })
  const tokens = entries.flatMap(({ entry }): Check[] =>
    makesTokens(entry) ? [(chain) => judgeEntry(chain, entry, options).allowed] : [],
  )
  const held = [...acceptances, ...certificates, ...tokens].filter((check) => check(before))
  const reached = reachableClusters(before)
  const needsAny = entries.some(({ entry }) => makesTokens(entry)) && (reached === 'all' || reached.size > 0)
  return (chain) => {
    const left = reachableClusters(chain)
    return (!needsAny || left === 'all' || left.size > 0) && held.every((check) => check(chain))
  }
}
