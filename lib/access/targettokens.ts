/** Decides whether scopes give an exchange the token of a cluster or virtual cluster, and finds the entries that they lack. */
import { stringify } from '../engine/meta/encoding/json.ts'
import type { ResourceAttributes } from './attributes/attributes.ts'
import { withEntry } from './missingentry.ts'
import { evaluate } from './scopes/evaluate.ts'
import { exactEntry } from './scopes/exactentry.ts'
import type { NamedPlace } from './scopes/place.ts'
import { projectOf, type ScopeOptions } from './scopes/project.ts'
import { reachesCluster } from './scopes/reachableclusters.ts'
import { hasReviews } from './scopes/roles.ts'
import type { Scope, ScopeChain } from './scopes/scope.ts'

interface AskedToken {
  place: NamedPlace
  /** The request of this API that makes such a token with an access key. */
  request: ResourceAttributes
  /** Whether a rule about requests inside of the place gives its token, which is limited to them only if the place asks. */
  byRule: boolean
}

/** A scope of the chain that does not give the token, and an entry with which it would, if there is one. */
interface Lack {
  index: number
  entry: Scope | undefined
}

/** Returns the scopes of the chain that do not give the token. */
export const lacksForToken = (chain: ScopeChain, asked: AskedToken, options: ScopeOptions): Lack[] =>
  chain.flatMap((scope, index) =>
    givesToken(scope, asked, options) ? [] : [{ index, entry: lackingEntry(scope, asked, options) }],
  )

/** Returns what the scopes of a chain lack, for the audit record: `chain[1].spec.scope: {"clusters":[{"cluster":"eu"}]}`. */
export const lackWords = (lacks: readonly Lack[], chain: ScopeChain): string[] =>
  lacks.flatMap(({ index, entry }) =>
    entry ? [`${chain.length > 1 ? `chain[${index}].` : ''}spec.scope: ${stringify(entry)}`] : [],
  )

function givesToken(scope: Scope, { place, request, byRule }: AskedToken, options: ScopeOptions): boolean {
  const isMade = evaluate([scope], request, options).allowed || (byRule && namesInRule(scope, place))
  return isMade && (place.type !== 'cluster' || reachesCluster([scope], place.name))
}

/** Reports whether a rule of the scope is about requests inside of this place. A scope for reviews makes no tokens. */
const namesInRule = (scope: Scope, { type, ...place }: NamedPlace): boolean =>
  !hasReviews(scope) &&
  (scope.rules ?? []).some(({ requestTargets = [], cluster = '', virtualClusters = [] }) => {
    const target = type === 'cluster' ? 'Cluster' : 'ProjectVirtualCluster'
    if (requestTargets.length > 0 && !requestTargets.includes(target)) return false
    if (type === 'cluster') return cluster === place.name && virtualClusters.length === 0
    const isNamed = (one: { name?: string; namespace?: string }) =>
      one.name === place.name && 'namespace' in place && one.namespace === place.namespace
    return cluster === '' && virtualClusters.some(isNamed)
  })

/** Returns the first entry that suffices. Where a rule names the place, the exact one: the other would open the whole place. */
function lackingEntry(scope: Scope, asked: AskedToken, options: ScopeOptions): Scope | undefined {
  const whole = wholePlace(asked.place, options)
  const exact = exactEntry(asked.request, options)
  return (namesInRule(scope, asked.place) ? [exact, whole] : [whole, exact]).find(
    (entry) => entry && givesToken(withEntry(scope, entry), asked, options),
  )
}

function wholePlace(place: NamedPlace, options: ScopeOptions): Scope | undefined {
  if (place.type === 'cluster') return { clusters: [{ cluster: place.name }] }
  const project = projectOf(place.namespace, options)
  return project === undefined ? undefined : { virtualClusters: [{ project, virtualCluster: place.name }] }
}
