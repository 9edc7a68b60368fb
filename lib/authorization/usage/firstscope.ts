/** Writes a scope for a key that has none, from what it did. */

import { validateChain, withScope } from '../scopes/chain.ts'
import { projectOf } from '../scopes/project.ts'
import type { Scope } from '../scopes/scope.ts'
import { validateScope } from '../scopes/validatescope.ts'
import { impliedBy, kubeConfigOf } from './entryeffects.ts'
import { exactRules } from './exactrules.ts'
import { keepsEntries } from './lines.ts'
import { atomOf } from './narrowrule.ts'
import { keepsPlaces } from './places.ts'
import type { Unknown } from './unknowns.ts'
import type { Usage, UsageOptions } from './usage.ts'
import { ANY_NAME, judgeEntry, type UsedPlace } from './usedentry.ts'

const inexpressible: Unknown = {
  reason: 'Inexpressible',
  message: 'No scope is as narrow as what the key did.',
  withholds: true,
}
const tooLong: Unknown = { reason: 'TooLong', message: 'The scope would be too long.', withholds: true }

/**
 * Returns lines for the clusters where the key acted and the virtual clusters of its kube configs, and exact rules for everything
 * else. A certificate or a token needs the whole line.
 */
export function firstScope(usage: Usage, options: UsageOptions): { scope: Scope } | { unknown: Unknown } {
  const { inherited = [] } = options
  const entries = usage.entries.map(({ entry }) => entry).filter((entry) => !judgeEntry([{}], entry, options).allowed)
  const places = [
    ...entries.flatMap((entry) => entry.place ?? configuredBy(entry) ?? []),
    ...usage.accepted.map(({ place }) => place),
  ]
  const named = placesScope(places, options)
  const others = [...entries, ...entries.flatMap(impliedBy)].filter(
    (entry) => !judgeEntry([named], entry, options).allowed,
  )
  const atoms = others.flatMap(
    (entry) => atomOf(entry, entry.place ? undefined : { requestTargets: ['Management'] }) ?? [],
  )
  const rules = exactRules(atoms)
  const scope = { ...named, ...(rules.length > 0 && { rules }) }
  const chain = withScope(inherited, scope)
  if (validateChain(chain).length > 0) return { unknown: tooLong }
  const isFaithful =
    validateScope(scope).length === 0 &&
    keepsEntries(entries, { before: { rules: [{}] }, after: scope }, options) &&
    keepsPlaces(inherited, usage, options)(chain)
  return isFaithful ? { scope } : { unknown: inexpressible }
}

function configuredBy(entry: Parameters<typeof kubeConfigOf>[0]): UsedPlace | undefined {
  const made = kubeConfigOf(entry)
  return made && { type: 'virtualCluster', namespace: made.namespace, name: made.name }
}

/** Other names would be wildcards, or mean that the name is not recorded. */
const isExact = ({ name }: UsedPlace): boolean => name !== '' && name !== '*' && name !== ANY_NAME

function placesScope(all: readonly UsedPlace[], options: UsageOptions): Scope {
  const places = all.filter(isExact)
  const clusters = places.flatMap((place) => (place.type === 'cluster' ? [{ cluster: place.name }] : []))
  const virtualClusters = places.flatMap((place) => {
    const project = place.type === 'virtualCluster' ? projectOf(place.namespace, options) : undefined
    return project === undefined ? [] : [{ project, virtualCluster: place.name }]
  })
  return {
    ...(clusters.length > 0 && { clusters: distinct(clusters) }),
    ...(virtualClusters.length > 0 && { virtualClusters: distinct(virtualClusters) }),
  }
}

const distinct = <T>(list: readonly T[]): T[] => {
  const byText = new Map(list.map((one) => [JSON.stringify(one), one]))
  return [...byText.keys()].sort().flatMap((text) => byText.get(text) ?? [])
}
