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
  reason: /** Usage has been recorded for a short time. */
    | 'Window'
    /** The key did more than is recorded. */
    | 'Others'
    /** Nothing is recorded. */
    | 'Unused'
    /** A line reaches clusters that never ask. */
    | 'ClusterNeverAsks'
    /** The key made tokens, for clusters that are not recorded. */
    | 'Tokens'
    /** The key asks for reviews. */
    | 'Reviews'
    /** The key makes or changes keys, or reads what they do. */
    | 'Keys'
    /** Roles that other services or releases understand. */
    | 'Roles'
    /** Requests that are judged together with recorded ones. */
    | 'Implied'
    /** No rule is as narrow as a request, so its line stays whole. */
    | 'Inexpressible'
    /** The scope would be too long. */
    | 'TooLong'
  message: string
  /** Set when no scope may be advised because of it. */
  withholds?: true
}

/** Below this, a request that a job makes once a week may be missing. */
const WEEK = 7

const withheld = (reason: Unknown['reason'], message: string): Unknown => ({ reason, message, withholds: true })

export function unknownsOf(
  scope: Scope | undefined,
  lines: readonly ExaminedLine[],
  usage: Usage,
  options: UsageOptions,
): Unknown[] {
  const { entries, accepted, days, isIncomplete } = usage
  const judged = entries.filter(({ entry }) => !judgeEntry([{}], entry, options).allowed)
  const did = (what: typeof makesTokens) => judged.some(({ entry }) => what(entry))
  const isUnused =
    scope === undefined ? judged.length + accepted.length === 0 : lines.every(({ state }) => state !== 'Used')
  const makesKeys = judged.some(
    ({ entry }) =>
      managesKeys(entry) && (scope === undefined || grantOf(judgeEntry([scope], entry, options)) !== 'self'),
  )
  return [
    ...windowOf(days),
    ...(isIncomplete ? [withheld('Others', 'The key did more than is recorded.')] : []),
    ...(isUnused ? [withheld('Unused', 'No use of the key that a scope limits is recorded.')] : []),
    ...(makesKeys
      ? [
          withheld(
            'Keys',
            'The key makes or changes access keys or trusts. What they do is not in its own usage, and it may not change those that carry its former scope.',
          ),
        ]
      : []),
    ...(!makesKeys && did(readsUsage) ? [READS_USAGE] : []),
    ...(scope === undefined ? withoutScope() : [...(did(makesTokens) ? tokensOf(lines) : []), ...unknownLines(lines)]),
  ]

  function withoutScope(): Unknown[] {
    return [
      ...(did(makesTokens)
        ? [withheld('Tokens', 'The key made tokens for clusters. With a scope, they would be valid at other clusters.')]
        : []),
      ...(did(asksForReviews)
        ? [withheld('Reviews', 'Usage does not record which clusters the key asked reviews for.')]
        : []),
    ]
  }
}

function windowOf(days: number): Unknown[] {
  if (days >= WEEK) return []
  const since = days >= 2 ? `${days} days` : days >= 1 ? '1 day' : 'less than a day'
  return [{ reason: 'Window', message: `The record covers ${since}, so rare requests may be missing.` }]
}

const READS_USAGE: Unknown = {
  reason: 'Keys',
  message:
    'The key reads the usage or the history of access keys. With the smaller scope, it may read only its own and that of keys that carry this scope.',
}

/** A token that is only for clusters of lines that go would be refused. */
function tokensOf(lines: readonly ExaminedLine[]): Unknown[] {
  const isForClusters = ({ state, alone }: ExaminedLine) => {
    const reached = reachableClusters([alone])
    return state === 'Unused' && (reached === 'all' || reached.size > 0)
  }
  const unused = lines.filter(isForClusters).map(({ line }) => line)
  const message = `The key made tokens. Some may be only for clusters of these lines, in which it did nothing: ${unused.join(', ')}.`
  return unused.length > 0 ? [{ reason: 'Tokens', message }] : []
}

const LINE_REASONS = {
  ClusterNeverAsks: 'These lines reach clusters that never ask what keys may do, so they stay as they are',
  Reviews: 'These lines may name the places for which the key asks for reviews, so they stay as they are',
  Roles: 'These roles are not for this API, so they stay as they are',
  Implied: 'An apply, a namespace or a client certificate may need these lines, so they stay as they are',
} as const

function unknownLines(lines: readonly ExaminedLine[]): Unknown[] {
  return (Object.keys(LINE_REASONS) as (keyof typeof LINE_REASONS)[]).flatMap((reason) => {
    const unknown = lines.filter((line) => line.unknown === reason).map(({ line }) => line)
    return unknown.length > 0 ? [{ reason, message: `${LINE_REASONS[reason]}: ${unknown.join(', ')}.` }] : []
  })
}

/** How many requests a message has. */
const MOST_NAMED = 3

/** Returns which lines stay whole because no rule or name is as narrow as what the key did with them. */
export const wholeLines = (lines: readonly ExaminedLine[], options: UsageOptions): Unknown[] =>
  lines.flatMap((line) => {
    const texts = unwritable(line, options).map(({ attributes }) =>
      describeRequest(withoutAnyName(attributes), options),
    )
    if (texts.length === 0) return []
    const more = texts.length > MOST_NAMED ? [`${texts.length - MOST_NAMED} more`] : []
    const which = [...texts.slice(0, MOST_NAMED), ...more].join(', ')
    return [
      {
        reason: 'Inexpressible',
        message: `${line.line} stays as it is: no entry of a scope is as narrow as ${which}.`,
      },
    ]
  })
