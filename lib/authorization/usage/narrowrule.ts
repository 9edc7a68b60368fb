/** Narrows a rule to the requests that used it. */

import { deepEqual } from '../../meta/value/equal.ts'
import type { Target } from '../attributes/attributes.ts'
import { byteLength, MAX_CHAIN_BYTES } from '../scopes/chain.ts'
import { targetOf } from '../scopes/place.ts'
import { projectOf, type ScopeOptions } from '../scopes/project.ts'
import { type Rule, ruleAllows } from '../scopes/rules.ts'
import { validateRule } from '../scopes/validaterule.ts'
import { type Atom, exactRules, sortedRule } from './exactrules.ts'
import type { UsageOptions } from './usage.ts'
import { ANY_NAME, type UsedEntry, withUid } from './usedentry.ts'

/** The members that this release understands. Without one of another release, a rule would allow more. */
const MEMBERS: ReadonlySet<string> = new Set(
  'verbs resources resourceNames namespaces nonResourceURLs requestTargets cluster virtualClusters'.split(' '),
)

/**
 * Returns rules that allow less than the rule, and of the entries all that can be written exactly. They never name a cluster that
 * the rule does not name: a TokenReview accepts a key at the clusters that its scope names.
 */
export function narrowRule(rule: Rule, entries: readonly UsedEntry[], options: UsageOptions): Rule[] | undefined {
  if (!Object.keys(rule).every((member) => MEMBERS.has(member)) || validateRule(rule, '').length > 0) return undefined
  if (namesOf(rule).some((name) => name === '' || name === ANY_NAME)) return undefined
  const atoms = entries.flatMap((entry) => atomOf(entry, whereOf(rule, entry, options)) ?? [])
  if (atoms.length === 0 || isTooLong(atoms)) return undefined
  const narrowed = exactRules(atoms)
  if (narrowed.some((one) => validateRule(one, '').length > 0)) return undefined
  const isSame = narrowed.length === 1 && deepEqual(sortedRule(rule), narrowed[0])
  return isSame ? undefined : narrowed
}

/** Reports whether the names and paths alone exceed a scope, before they are merged: that takes long for many. */
const isTooLong = (atoms: readonly Atom[]): boolean =>
  byteLength([...new Set(atoms.map(({ what }) => ('path' in what ? what.path : (what.name ?? ''))))]) > MAX_CHAIN_BYTES

/** The names that a rule is limited to. A request without a name matches the empty one, but no other without a name. */
const namesOf = ({ resourceNames = [], resources = [] }: Rule): string[] => [
  ...resourceNames,
  ...resources.flatMap((entry) => entry.resourceNames ?? []),
]

/** Reports whether a valid rule allows exactly the entry, where the former rule allowed it. */
export function isWritable(rule: Rule, entry: UsedEntry, options: UsageOptions): boolean {
  const atom = atomOf(entry, whereOf(rule, entry, options))
  return atom !== undefined && exactRules([atom]).every((one) => validateRule(one, '').length === 0)
}

/** Returns the request of an entry as a part of a rule. Returns undefined when a rule would take a text of it for a wildcard. */
export function atomOf({ attributes }: UsedEntry, where: Atom['where'] | undefined): Atom | undefined {
  if (where === undefined) return undefined
  const { verb } = attributes
  if (attributes.kind === 'nonresource') {
    const { path } = attributes
    return `${verb}${path}`.includes('*') ? undefined : { verb, where, what: { path } }
  }
  const { group, resource, subresource, namespace, name, allNamespaces } = attributes
  if (`${verb}${resource}${subresource}`.includes('*')) return undefined
  const what = {
    group,
    resource: subresource ? `${resource}/${subresource}` : resource,
    ...(!allNamespaces && { namespace }),
    ...(name !== '' && name !== ANY_NAME && { name }),
  }
  return { verb, where, what }
}

/** Returns the members that limit a rule to where the entry was, as far as the rule names places. */
function whereOf(rule: Rule, entry: UsedEntry, options: UsageOptions): Atom['where'] | undefined {
  const { place } = entry
  if (place === undefined) return { requestTargets: ['Management'] }
  if (place.type === 'virtualCluster') {
    if (!rule.virtualClusters?.length) return { requestTargets: ['ProjectVirtualCluster'] }
    const { namespace, name } = place
    return name !== '' && projectOf(namespace, options) !== undefined
      ? { virtualClusters: [{ namespace, name }] }
      : undefined
  }
  if (rule.cluster) return { cluster: rule.cluster }
  return isAllowedIn(targetOf(withUid(place), options), rule, entry, options)
    ? { requestTargets: ['Cluster'] }
    : { requestTargets: ['ProjectSpace'] }
}

/** Reports whether the rule allows the request to the cluster as a whole, and not only to a space of it. */
const isAllowedIn = (target: Target, rule: Rule, { attributes }: UsedEntry, options: ScopeOptions): boolean =>
  ruleAllows(rule, { ...attributes, target }, options)
