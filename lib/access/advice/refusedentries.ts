/** Finds what a key did that a change of its scopes would refuse. */
import { reachableClusters, reachesCluster } from '../scopes/reachableclusters.ts'
import type { ScopeChain } from '../scopes/scope.ts'
import { kubeConfigOf, makesTokens } from './entryeffects.ts'
import type { UsageOptions } from './usage.ts'
import { ANY_NAME, grantOf, judgeEntry, type UsedEntry } from './usedentry.ts'

/** A change of the scopes of a key: its chains before and afterwards. */
interface ChainChange {
  before: ScopeChain
  after: ScopeChain
  /** The name of the key. */
  name: string
  /** Whether the user of the key is an administrator. Others never see more than their own objects. */
  isMaster: boolean
}

interface RefusedEntry {
  entry: UsedEntry
  day: string
  /** Whether all requests of the entry would be refused. If not, it depends on the object, whose name is not recorded. */
  isCertain: boolean
}

/** Returns the recorded requests that the chain allows now, and would no longer allow as it does now. */
export const refusedEntries = (
  recorded: readonly Omit<RefusedEntry, 'isCertain'>[],
  change: ChainChange,
  options: UsageOptions,
): RefusedEntry[] =>
  recorded.flatMap((one) => {
    const refusal = refusalOf(one.entry, change, options)
    return refusal === undefined ? [] : [{ ...one, isCertain: refusal === 'certain' }]
  })

function refusalOf(
  entry: UsedEntry,
  { before, after, name, isMaster }: ChainChange,
  options: UsageOptions,
): 'certain' | 'possible' | undefined {
  const grant = (chain: ScopeChain) => grantOf(judgeEntry(chain, entry, options))
  const [held, left] = [grant(before), grant(after)]
  if (held === undefined || reachesNone(entry, before)) return undefined
  if (left === undefined) return isForSomeNames(entry, after, options) ? 'possible' : 'certain'
  if (reachesNone(entry, after)) return 'certain'
  const { attributes } = entry
  const isOfItself = attributes.kind === 'resource' && attributes.name === name
  const isLess = left !== held && ((left === 'self' && !isOfItself) || (left === 'own' && isMaster))
  return isLess ? 'possible' : undefined
}

/** Reports whether the entry makes a token that would be for no cluster, or a kube config of a cluster that the chain does not reach. */
function reachesNone(entry: UsedEntry, chain: ScopeChain): boolean {
  const place = kubeConfigOf(entry)
  if (place?.type === 'cluster') return !reachesCluster(chain, place.name)
  const reached = reachableClusters(chain)
  return makesTokens(entry) && reached !== 'all' && reached.size === 0
}

/** Reports whether the chain refuses every name, but allows one that it mentions. */
function isForSomeNames(entry: UsedEntry, chain: ScopeChain, options: UsageOptions): boolean {
  const { attributes } = entry
  if (attributes.kind !== 'resource' || attributes.name !== ANY_NAME) return false
  return textsIn(chain).some(
    (name) => judgeEntry(chain, { ...entry, attributes: { ...attributes, name } }, options).allowed,
  )
}

const textsIn = (value: unknown): string[] =>
  typeof value === 'string'
    ? value.split('/')
    : typeof value === 'object' && value !== null
      ? Object.values(value).flatMap(textsIn)
      : []
