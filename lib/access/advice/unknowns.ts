/** Says what advice about a scope cannot know, and what keeps it from being given. */

import { describeRequest } from '../scopes/evaluate.ts'
import { reachableClusters } from '../scopes/reachableclusters.ts'
import type { Scope } from '../scopes/scope.ts'
import { asksForReviews, makesTokens, managesKeys, readsUsage } from './entryeffects.ts'
import type { ExaminedLine } from './lines.ts'
import { unwritable } from './narrow.ts'
import type { Usage, UsageOptions } from './usage.ts'
import { grantOf, judgeEntry, withoutAnyName } from './usedentry.ts'

export interface Unknown {
  reason: /** The record, or what a scope can say of it, does not cover everything that the key needs. */
    | 'Incomplete'
    /** Nothing is recorded. */
    | 'Unused'
    /** A line reaches clusters that never ask. */
    | 'ClusterNeverAsks'
    /** The key makes or changes keys. */
    | 'MakesKeys'
  message: string
  /** Set when no scope may be advised because of it. */
  withholds?: true
}

/** Below this, a request that a job makes once a week may be missing. */
const WEEK = 7

const said = (reason: Unknown['reason'], isTrue: boolean, message: string): Unknown[] =>
  isTrue ? [{ reason, message }] : []
const withheld = (reason: Unknown['reason'], isTrue: boolean, message: string): Unknown[] =>
  isTrue ? [{ reason, message, withholds: true }] : []

export function unknownsOf(
  scope: Scope | undefined,
  lines: readonly ExaminedLine[],
  usage: Usage,
  options: UsageOptions,
): Unknown[] {
  const { entries, accepted, days, isIncomplete } = usage
  const judged = entries.filter(({ entry }) => !judgeEntry([{}], entry, options).allowed)
  const did = (what: typeof makesTokens) => judged.some(({ entry }) => what(entry))
  const isScoped = scope !== undefined
  const isUnused = isScoped ? lines.every(({ state }) => state !== 'Used') : judged.length + accepted.length === 0
  const makesKeys = judged.some(
    ({ entry }) => managesKeys(entry) && (!isScoped || grantOf(judgeEntry([scope], entry, options)) !== 'self'),
  )
  const tokenLines = did(makesTokens) ? unusedClusters(lines) : []
  const silent = lines.filter(({ reachesSilent }) => reachesSilent).map(({ line }) => line)
  return [
    ...said('Incomplete', !(days >= WEEK), `The record covers ${daysText(days)}, so rare requests may be missing.`),
    ...withheld('Incomplete', isIncomplete, 'The record is incomplete: the key did more than it shows.'),
    ...withheld('Unused', isUnused, 'No request that a scope can limit is recorded.'),
    ...withheld(
      'MakesKeys',
      makesKeys,
      'The key makes or changes access keys or trusts. Its usage does not include what they do, and with another scope it could not change those that carry its present scope.',
    ),
    ...said(
      'Incomplete',
      !makesKeys && did(readsUsage),
      'The key reads the usage or the history of access keys. With the smaller scope, it may read only its own and that of keys that carry this scope.',
    ),
    ...withheld(
      'Incomplete',
      !isScoped && did(makesTokens),
      'The key made tokens, and usage does not record for which clusters.',
    ),
    ...withheld(
      'Incomplete',
      !isScoped && did(asksForReviews),
      'Usage does not record which clusters the key asked reviews for.',
    ),
    ...said(
      'Incomplete',
      tokenLines.length > 0,
      `The key made tokens. Some may be only for clusters of these lines, in which it did nothing: ${tokenLines.join(', ')}.`,
    ),
    ...said(
      'ClusterNeverAsks',
      silent.length > 0,
      `These lines reach clusters that never ask what keys may do, so they stay as they are: ${silent.join(', ')}.`,
    ),
  ]
}

const daysText = (days: number): string => (days >= 2 ? `${days} days` : days >= 1 ? '1 day' : 'less than a day')

/** Returns the unused lines for clusters: a token that is only for those clusters is refused without the lines. */
const unusedClusters = (lines: readonly ExaminedLine[]): string[] =>
  lines
    .filter(({ state, alone }) => {
      const reached = reachableClusters([alone])
      return state === 'Unused' && (reached === 'all' || reached.size > 0)
    })
    .map(({ line }) => line)

/** How many requests a message has. */
const MOST_NAMED = 3

/** Returns which lines stay whole because no rule or name is as narrow as what the key did with them. */
export const wholeLines = (lines: readonly ExaminedLine[], options: UsageOptions): Unknown[] =>
  lines.flatMap((line) => {
    const texts = unwritable(line, options).map(({ attributes }) =>
      describeRequest(withoutAnyName(attributes), options),
    )
    const more = texts.length > MOST_NAMED ? [`${texts.length - MOST_NAMED} more`] : []
    const which = [...texts.slice(0, MOST_NAMED), ...more].join(', ')
    return said(
      'Incomplete',
      texts.length > 0,
      `${line.line} stays as it is: no entry of a scope is as narrow as ${which}.`,
    )
  })
