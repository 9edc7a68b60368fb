/**
 * Narrows a line that the key used: a wildcard to the names that were used, and a rule to the requests. Other lines stay whole.
 * Exact rules in their place would take away kube configs with certificates, audiences of tokens, and acceptance by clusters.
 */

import { deepEqual } from '../../engine/meta/value/equal.ts'
import type { Target } from '../attributes/attributes.ts'
import { byteLength, MAX_CHAIN_BYTES } from '../scopes/chain.ts'
import { targetOf } from '../scopes/place.ts'
import { projectOf, type ScopeOptions } from '../scopes/project.ts'
import { isCluster } from '../scopes/roles.ts'
import { type Rule, ruleAllows } from '../scopes/rules.ts'
import { spaceOf } from '../scopes/space.ts'
import { validateRule } from '../scopes/validaterule.ts'
import { validateScope } from '../scopes/validatescope.ts'
import { type Atom, exactRules, sortedRule } from './exactrules.ts'
import { type ExaminedLine, keepsEntries } from './lines.ts'
import type { UsageOptions } from './usage.ts'
import { ANY_NAME, type UsedEntry, type UsedPlace, withUid } from './usedentry.ts'

interface Wildcard {
  /** The member that is `*`. */
  member: string
  /** Returns the names by which the line could list what the request is for. */
  ofRequest(entry: UsedEntry, options: UsageOptions): (string | undefined)[]
  /** Returns the name by which the line could list the place. */
  ofPlace(place: UsedPlace, options: UsageOptions): string | undefined
}

const namespaceOf = ({ attributes }: UsedEntry): string => (attributes.kind === 'resource' ? attributes.namespace : '')

const projectOfPlace = (place: UsedPlace, options: UsageOptions): string | undefined =>
  place.type === 'virtualCluster' ? projectOf(place.namespace, options) : undefined

const WILDCARDS: Partial<Record<ExaminedLine['list'], Wildcard>> = {
  projects: {
    member: 'project',
    ofRequest: (entry, options) => [
      entry.place === undefined ? projectOf(namespaceOf(entry), options) : projectOfPlace(entry.place, options),
      entry.place?.type === 'cluster' ? spaceOf(namespaceOf(entry), options)?.project : undefined,
    ],
    ofPlace: projectOfPlace,
  },
  spaces: {
    member: 'space',
    ofRequest: (entry, options) => [spaceOf(namespaceOf(entry), options)?.space],
    ofPlace: () => undefined,
  },
  virtualClusters: {
    member: 'virtualCluster',
    ofRequest: ({ attributes, place }) => [
      place === undefined && attributes.kind === 'resource' ? attributes.name : place?.name,
    ],
    ofPlace: (place) => (place.type === 'virtualCluster' ? place.name : undefined),
  },
  clusters: {
    member: 'cluster',
    ofRequest: ({ attributes, place }) => [
      place === undefined && attributes.kind === 'resource' && isCluster(attributes) ? attributes.name : undefined,
      place?.type === 'cluster' ? place.name : undefined,
    ],
    ofPlace: (place) => (place.type === 'cluster' ? place.name : undefined),
  },
}

/** A key that used more names than this meets a new one every day, such as a space for each change: it needs the wildcard. */
const MOST_NAMES = 10

/** Returns entries of the same list that keep all uses of the line and allow less, or undefined if there are none. */
export function narrowLine(line: ExaminedLine, options: UsageOptions): readonly object[] | undefined {
  if (line.state !== 'Used' || line.isUncertain) return undefined
  const { list, alone, uses } = line
  const [rule] = alone.rules ?? []
  const narrowed = rule ? narrowRule(rule, uses, options) : namedEntries(line, options)
  if (narrowed === undefined) return undefined
  const after = { [list]: narrowed }
  return keepsEntries(uses, { before: alone, after }, options) ? narrowed : undefined
}

/** Returns the uses that no narrower line can be written for: a text of them would be a wildcard, or is not valid in a scope. */
export function unwritable(line: ExaminedLine, options: UsageOptions): UsedEntry[] {
  if (line.state !== 'Used' || line.isUncertain) return []
  const { list, alone, uses } = line
  const [rule] = alone.rules ?? []
  if (rule) return uses.filter((use) => !isWritable(rule, use, options))
  const [entry] = Object.values(alone).flat() as Readonly<Record<string, unknown>>[]
  const wildcard = WILDCARDS[list]
  if (!wildcard || entry?.[wildcard.member] !== '*') return []
  return uses.filter((use) => !wildcard.ofRequest(use, options).some((name) => name && isListable(line, name)))
}

/** Reports whether the line can list the name instead of its wildcard. */
function isListable({ list, alone }: ExaminedLine, name: string): boolean {
  const [entry] = Object.values(alone).flat() as Readonly<Record<string, unknown>>[]
  const member = WILDCARDS[list]?.member ?? ''
  return name !== '*' && name !== ANY_NAME && validateScope({ [list]: [{ ...entry, [member]: name }] }).length === 0
}

function namedEntries({ list, alone, uses, accepting }: ExaminedLine, options: UsageOptions): object[] | undefined {
  const wildcard = WILDCARDS[list]
  const [entry] = Object.values(alone).flat() as Readonly<Record<string, unknown>>[]
  if (!wildcard || entry?.[wildcard.member] !== '*') return undefined
  const found = [
    ...uses.flatMap((use) => wildcard.ofRequest(use, options)),
    ...accepting.map((place) => wildcard.ofPlace(place, options)),
  ]
  const names = [...new Set(found.filter((name) => name !== undefined && name !== ''))].sort()
  if (names.length === 0 || names.length > MOST_NAMES || names.some((name) => name === '*' || name === ANY_NAME))
    return undefined
  const entries = names.map((name) => ({ ...entry, [wildcard.member]: name }))
  return validateScope({ [list]: entries }).length === 0 ? entries : undefined
}

/** The members that this release understands. Without one of another release, a rule would allow more. */
const MEMBERS: ReadonlySet<string> = new Set(
  'verbs resources resourceNames namespaces nonResourceURLs requestTargets cluster virtualClusters'.split(' '),
)

/**
 * Returns rules that allow less than the rule, and of the entries all that can be written exactly. They never name a cluster that
 * the rule does not name: a TokenReview accepts a key at the clusters that its scope names.
 */
function narrowRule(rule: Rule, entries: readonly UsedEntry[], options: UsageOptions): Rule[] | undefined {
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
function isWritable(rule: Rule, entry: UsedEntry, options: UsageOptions): boolean {
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
