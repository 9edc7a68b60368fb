/** Says for each line of a scope whether the key used it, and what cannot be known about it. */
import { restrictsInside } from '../restriction.ts'
import { isJudgedHere } from '../scopes/roles.ts'
import type { Scope } from '../scopes/scope.ts'
import { asksForReviews, impliedBy, kubeConfigOf, makesTokens } from './entryeffects.ts'
import { acceptedBy, reachesPlaces, reachesUnrecorded, unrecordedPlaces } from './places.ts'
import { linesOf, type ScopeLine } from './scopelines.ts'
import type { Usage, UsageOptions } from './usage.ts'
import { grantOf, judgeEntry, type UsedEntry, type UsedPlace } from './usedentry.ts'

interface UsedLine {
  line: string
  state: 'Used' | 'Unused' | 'Unknown'
  lastUsed?: string
}

/** A line with what advice about it needs. */
export interface ExaminedLine extends UsedLine, ScopeLine {
  /** The recorded and the implied requests that the line alone allows. */
  uses: readonly UsedEntry[]
  /** The places that accept the key by this line. */
  accepting: readonly UsedPlace[]
  /** Whether the key may need more of the line than is recorded, so that advice leaves it as it is. */
  isUncertain: boolean
  /** Whether the line reaches a cluster that never asks, in which the key could be used. */
  reachesSilent: boolean
}

/** Returns whether each line was used, in the order of the scope, and when last. */
export const usedLines = (scope: Scope | undefined, usage: Usage, options: UsageOptions): UsedLine[] =>
  examineLines(scope, usage, options).map(({ line, state, lastUsed }) => ({
    line,
    state,
    ...(lastUsed !== undefined && { lastUsed }),
  }))

export function examineLines(scope: Scope | undefined, usage: Usage, options: UsageOptions): ExaminedLine[] {
  if (scope === undefined) return []
  const { inherited = [] } = options
  const entries = usage.entries.filter(({ entry }) => !judgeEntry([{}], entry, options).allowed)
  const implied = entries.flatMap(({ entry }) => impliedBy(entry))
  const accepted = usage.accepted.filter(({ place }) => acceptedBy([...inherited, scope], place, options))
  const configured = entries.flatMap(({ entry }) => kubeConfigOf(entry) ?? [])
  const asksReviews = entries.some(({ entry }) => asksForReviews(entry))
  const unrecorded = unrecordedPlaces(usage)

  return linesOf(scope).map((line) => {
    const allows = (entry: UsedEntry) => judgeEntry([line.alone], entry, options).allowed
    // Every cluster of the scope allows tokens: for which one a token was is not recorded.
    const uses = (entry: UsedEntry) => allows(entry) && !(line.list === 'clusters' && makesTokens(entry))
    const used = entries.filter(({ entry }) => uses(entry))
    const accepting = accepted.filter(({ place }) => acceptedBy([...inherited, line.alone], place, options))
    const impliedUses = implied.filter(allows)
    const lastUsed = [...used, ...accepting].map(({ day }) => day).reduce(later, undefined)
    const reachesSilent = reachesUnrecorded(line, unrecorded, options)
    const isUncertain =
      usage.isIncomplete ||
      reachesSilent ||
      isJudgedElsewhere(line) ||
      (lastUsed === undefined && mayBeNeeded(line, impliedUses))
    const state = lastUsed !== undefined ? 'Used' : isUncertain ? 'Unknown' : 'Unused'
    return {
      ...line,
      state,
      uses: [...used.map(({ entry }) => entry), ...impliedUses],
      accepting: accepting.map(({ place }) => place),
      ...(lastUsed !== undefined && { lastUsed }),
      isUncertain,
      reachesSilent,
    }
  })

  /** Other services and releases understand other roles, and the key may ask for reviews at each place that its scope reaches. */
  function isJudgedElsewhere(line: ScopeLine): boolean {
    if (line.list === 'roles' && !(line.alone.roles ?? []).every(isJudgedHere)) return true
    return asksReviews && (line.list === 'roles' || reachesPlaces(line))
  }

  /** No cluster asks about what a client certificate does, which a scope may only not restrict. */
  function mayBeNeeded({ alone }: ScopeLine, impliedUses: readonly UsedEntry[]): boolean {
    return (
      impliedUses.length > 0 ||
      configured.some((place) => place.type === 'virtualCluster' && !restrictsInside([alone], place, options))
    )
  }
}

const later = (one: string | undefined, other: string): string => (one !== undefined && one > other ? one : other)

/** Reports whether the scope allows the request of each entry as the former scope does. */
export const keepsEntries = (
  entries: readonly UsedEntry[],
  { before, after }: { before: Scope; after: Scope },
  options: UsageOptions,
): boolean =>
  entries.every(
    (entry) => grantOf(judgeEntry([after], entry, options)) === grantOf(judgeEntry([before], entry, options)),
  )
