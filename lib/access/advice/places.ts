/**
 * Says what a smaller scope must keep besides requests: the places that accept the key, that it makes tokens and they are valid
 * somewhere, and client certificates. Finds where a key could be used without a record.
 */
import { KINDS } from '../../kinds.ts'
import type { Attributes } from '../attributes/attributes.ts'
import { restrictsInside } from '../restriction.ts'
import { acceptsKeys, acceptsKeysOfSpaces, reviewAttributes, speaksOf } from '../review.ts'
import { evaluate } from '../scopes/evaluate.ts'
import { targetOf } from '../scopes/place.ts'
import { reachableClusters, reachesCluster } from '../scopes/reachableclusters.ts'
import { givesReviews } from '../scopes/roles.ts'
import type { ScopeChain } from '../scopes/scope.ts'
import { kubeConfigOf, makesTokens } from './entryeffects.ts'
import type { ScopeLine } from './scopelines.ts'
import type { Usage, UsageOptions } from './usage.ts'
import { ANY_NAME, judgeEntry, type UsedPlace, withUid } from './usedentry.ts'

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
  const configured = entries.flatMap(({ entry }): Check[] => {
    const place = kubeConfigOf(entry)
    if (place?.type === 'cluster') return [(chain) => reachesCluster(chain, place.name)]
    return place ? [(chain) => !restrictsInside(chain, place, options)] : []
  })
  const tokens = entries.flatMap(({ entry }): Check[] =>
    makesTokens(entry) ? [(chain) => judgeEntry(chain, entry, options).allowed] : [],
  )
  const held = [...acceptances, ...configured, ...tokens].filter((check) => check(before))
  const reached = reachableClusters(before)
  const needsAny = entries.some(({ entry }) => makesTokens(entry)) && (reached === 'all' || reached.size > 0)
  return (chain) => {
    const left = reachableClusters(chain)
    return (!needsAny || left === 'all' || left.size > 0) && held.every((check) => check(chain))
  }
}

interface UnrecordedPlaces {
  /** Whether any cluster that never asks may be such a place. */
  someCluster: boolean
  isCluster(name: string): boolean
  virtualClusters: readonly UsedPlace[]
  /** Whether kube configs were made for virtual clusters that the record does not name. */
  someVirtualCluster: boolean
}

/**
 * Returns where the key could be used without a record. A cluster that never asks lets its own RBAC decide, so nobody knows what a
 * key does there. A key can be used in clusters only by a token or kube config that it made, or by a TokenReview.
 */
export function unrecordedPlaces({ entries, accepted, asked }: Usage): UnrecordedPlaces {
  const made = entries.flatMap(({ entry }) => kubeConfigOf(entry) ?? [])
  const [exact = [], unnamed = []] = [true, false].map((named) =>
    made.filter(({ name }) => (name !== '' && name !== ANY_NAME) === named),
  )
  const madeTokens = entries.some(({ entry }) => makesTokens(entry)) || unnamed.some(({ type }) => type === 'cluster')
  const silent = [...exact, ...accepted.map(({ place }) => place)].filter((place) => asked(place) === undefined)
  const clusters = new Set(silent.flatMap((place) => (place.type === 'cluster' ? [place.name] : [])))
  return {
    someCluster: madeTokens || clusters.size > 0,
    isCluster: (name) => (madeTokens ? asked({ type: 'cluster', name }) === undefined : clusters.has(name)),
    virtualClusters: silent.filter(({ type }) => type === 'virtualCluster'),
    someVirtualCluster: unnamed.some(({ type }) => type === 'virtualCluster'),
  }
}

/** Reports whether the line may be what allows the key something where nobody sees it. */
export function reachesUnrecorded(line: ScopeLine, unrecorded: UnrecordedPlaces, options: UsageOptions): boolean {
  const clusters = reachableClusters([...(options.inherited ?? []), line.alone])
  if (clusters === 'all' ? unrecorded.someCluster : [...clusters].some(unrecorded.isCluster)) return true
  if (unrecorded.someVirtualCluster && reachesPlaces(line)) return true
  return unrecorded.virtualClusters.some((place) => speaksAt(line, place, options))
}

function speaksAt({ list, alone }: ScopeLine, place: UsedPlace, options: UsageOptions): boolean {
  if (list !== 'roles') return speaksOf(alone, withUid(place), options) !== undefined
  const review: Attributes = reviewAttributes(KINDS.TokenReview, targetOf(withUid(place), options))
  return evaluate([alone], review, options).allowed
}

/** Reports whether the line may allow anything in a connected or virtual cluster, or names one. */
export function reachesPlaces({ list, alone }: ScopeLine): boolean {
  if (list === 'roles') return (alone.roles ?? []).some(givesReviews)
  if (list !== 'rules') return list !== 'allowPlatformCli'
  return (alone.rules ?? []).some(
    ({ requestTargets = [], cluster, virtualClusters = [] }) =>
      !requestTargets.includes('Management') || requestTargets.length > 1 || cluster || virtualClusters.length > 0,
  )
}
