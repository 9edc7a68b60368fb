/**
 * Narrows a line that the key used: a wildcard to the names that were used, and a rule to the requests. Other lines stay whole.
 * Exact rules in their place would take away kube configs with certificates, audiences of tokens, and acceptance by clusters.
 */

import { projectOf } from '../scopes/project.ts'
import { spaceOf } from '../scopes/space.ts'
import { validateScope } from '../scopes/validatescope.ts'
import { type ExaminedLine, keepsEntries } from './lines.ts'
import { isWritable, narrowRule } from './narrowrule.ts'
import type { UsageOptions } from './usage.ts'
import { ANY_NAME, type UsedEntry, type UsedPlace } from './usedentry.ts'

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
    ofRequest: ({ place }) => [place?.type === 'cluster' ? place.name : undefined],
    ofPlace: (place) => (place.type === 'cluster' ? place.name : undefined),
  },
}

/** A key that used more names than this meets a new one every day, such as a space for each change: it needs the wildcard. */
const MOST_NAMES = 10

/** Returns entries of the same list that keep all uses of the line and allow less, or undefined if there are none. */
export function narrowLine(line: ExaminedLine, options: UsageOptions): readonly object[] | undefined {
  if (line.state !== 'Used' || line.unknown !== undefined) return undefined
  const { list, alone, uses } = line
  const [rule] = alone.rules ?? []
  const narrowed = rule ? narrowRule(rule, uses, options) : namedEntries(line, options)
  if (narrowed === undefined) return undefined
  const after = { [list]: narrowed }
  return keepsEntries(uses, { before: alone, after }, options) ? narrowed : undefined
}

/** Returns the uses that no narrower line can be written for: a text of them would be a wildcard, or is not valid in a scope. */
export function unwritable(line: ExaminedLine, options: UsageOptions): UsedEntry[] {
  if (line.state !== 'Used' || line.unknown !== undefined) return []
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
