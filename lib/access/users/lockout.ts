/**
 * Warns of changes that lock users out of clusters. A cluster asks keyplane with one access key about all its users: once that key gives
 * less, each of them is refused. Nothing says which key a cluster has, so the warning is about every key with the right to review.
 */
import { deepEqual } from '../../engine/meta/value/equal.ts'
import { isSameScope } from '../scopes/chain.ts'
import type { Scope, ScopeChain } from '../scopes/scope.ts'
import { endsByField, lengthens } from './ends.ts'
import type { KeySpec } from './identity.ts'
import { holdsRight, type ReviewRight } from './reviewright.ts'
import { widensSources } from './sourcecidrs.ts'

/** A key, or a trust with the spec of its keys, as far as it says who may review with it. */
export interface Reviewer extends ReviewRight {
  spec: KeySpec
  chain: ScopeChain
}

/** Reports whether clusters may ask with this. */
export const mayReview = (one: Reviewer): boolean => holdsRight(one, one.chain)

/** The most clusters that a warning names. */
const MOST_NAMED = 5

/** Returns the clusters that the scopes name, as a list for people; undefined if they name none. */
export function namedClusters(chains: readonly ScopeChain[]): string | undefined {
  const names = chains
    .flat()
    .flatMap(({ clusters = [], virtualClusters = [] }) => [
      ...clusters.map(({ cluster }) => cluster),
      ...virtualClusters.map(({ project, virtualCluster }) => `${project}/${virtualCluster}`),
    ])
  const distinct = [...new Set(names)].filter((name) => name !== undefined && !name.includes('*'))
  if (distinct.length === 0) return undefined
  const more = distinct.length > MOST_NAMED ? [`${distinct.length - MOST_NAMED} more`] : []
  return [...distinct.slice(0, MOST_NAMED), ...more].join(', ')
}

/** What a change may take away besides what the spec shows: of a trust some of its jobs, of a key its value at once. */
export const NARROWED = 'it is narrowed'
export const REPLACED = 'its value is replaced'
type HiddenEnd = typeof NARROWED | typeof REPLACED

const named = (chain: ScopeChain): string => {
  const clusters = namedClusters([chain])
  return clusters === undefined ? '' : `: ${clusters}`
}

/**
 * Returns the warning of a change, or of a deletion (`after` is undefined), after which clusters refuse all users of keyplane if they ask
 * with this. `before` gives access. The `end` is what the change takes away that the spec of the keys does not show.
 */
export function lockoutWarning(
  what: string,
  before: Reviewer,
  after: Reviewer | undefined,
  end?: HiddenEnd,
): string | undefined {
  if (!mayReview(before)) return undefined
  const taken = after === undefined ? 'it is deleted' : endOf(before, after, end)
  if (taken === undefined) return undefined
  return `${what} has the right to review: once ${taken}, each cluster that asks with it refuses all users of keyplane${named(before.chain)}`
}

/** Says what a change takes away from who reviews. */
function endOf(before: Reviewer, after: Reviewer, end: HiddenEnd | undefined): string | undefined {
  const [old, next] = [before.spec, after.spec]
  if (endsByField('disabled', next.disabled)) return 'it is disabled'
  if (end === REPLACED) return end
  if (
    end === NARROWED ||
    !mayReview(after) ||
    after.chain.length > before.chain.length ||
    !keeps(old.scope, next.scope)
  )
    return NARROWED
  if (widensSources(next, old)) return 'it is limited to fewer addresses'
  return lengthens(next, old) ? 'its shorter life has ended' : undefined
}

/** Reports whether a scope with the right still has each entry that it had. */
function keeps(old: Scope = {}, next: Scope = {}): boolean {
  if (isSameScope(old, next)) return true
  const left = new Map<string, unknown>(Object.entries(next))
  return Object.entries(old).every(([member, entries]) => {
    const others = left.get(member)
    if (!Array.isArray(entries)) return !entries || others === entries
    const isLeft = (entry: unknown) => (one: unknown) => deepEqual(one, entry) || isEveryCluster(one)
    return Array.isArray(others) && entries.every((entry) => others.some(isLeft(entry)))
  })
}

const isEveryCluster = (entry: unknown): boolean => deepEqual(entry, { cluster: '*' })

/** Returns the warning of a revocation that ends several of these, or undefined. `what` is such as `access keys`. */
export function lockoutsWarning(what: string, ended: readonly Reviewer[]): string | undefined {
  const chains = ended.filter(mayReview).map(({ chain }) => chain)
  if (chains.length === 0) return undefined
  const clusters = namedClusters(chains)
  const have = chains.length === 1 ? 'has' : 'have'
  return `${chains.length} of these ${what} ${have} the right to review: each cluster that asks with one refuses all users of keyplane from then on${clusters === undefined ? '' : `: ${clusters}`}`
}
