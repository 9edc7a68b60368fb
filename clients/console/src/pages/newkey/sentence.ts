/** Says in plain sentences what a key means: whose it is, what it may do, from where, and when it ends. */
import { scopePhrases, scopeWords } from '../../../../../lib/access/scopes/words.ts'
import { DAY_SECONDS } from '../../../../../lib/engine/meta/value/durations.ts'
import type { Scope, Self } from '../../../../core/src/objects.ts'
import { lifetimeWords } from '../../text/lifetime.ts'
import { dateOf } from '../../text/times.ts'
import { type NewKey, namedKind, ownGroups, selfName } from './form.ts'

export interface SentenceContext {
  self: Self
  now: Date
  /** The addresses to which the signed-in key is limited. */
  ownSources?: readonly string[] | undefined
}

/** Returns the sentences. Names in them are as they were typed: show them as texts of others. */
export function sentencesOf({ spec }: NewKey, { self, now, ownSources }: SentenceContext): string[] {
  const { scope, sourceCIDRs, ttl, ttlAfterLastActivity } = spec
  const kind = namedKind(spec)
  return [
    `Acts as ${kind ? `the ${kind} ${said(spec[kind] ?? '')}` : `you, ${selfName(self)}`}.`,
    ...groupsSentences(spec, self),
    scopeSentence(scope, kind ? `this ${kind}` : 'you'),
    ...(self.accessKeyScope
      ? [`Stays within the scope of the key that you signed in with: ${scopeWords(self.accessKeyScope)}.`]
      : []),
    sourcesSentence(sourceCIDRs, ownSources),
    endSentence(ttl, ttlAfterLastActivity, now),
  ]
}

function groupsSentences(spec: NewKey['spec'], self: Self): string[] {
  const { groups = [] } = spec
  const without = namedKind(spec) === undefined ? ownGroups(self).filter((group) => !groups.includes(group)) : []
  const noun = (list: readonly string[]) => `the group${list.length === 1 ? '' : 's'} ${joined(list.map(said))}`
  return [
    ...(groups.length > 0 ? [`Is in ${noun(groups)}.`] : []),
    ...(without.length > 0 ? [`Is not in ${noun(without)}, unlike you.`] : []),
  ]
}

function scopeSentence(scope: Scope | undefined, holder: string): string {
  if (scope === undefined) return `May do everything that ${holder} may.`
  const entries = scopePhrases(withSaidNames(scope))
  if (entries.length === 0) return 'May only ask who it is, what it may do, and what the API offers.'
  return `May use ${joined(entries)}, and nothing else, as far as ${holder} may.`
}

function sourcesSentence(sources: readonly string[] | undefined, ownSources: readonly string[] | undefined): string {
  if (sources) return `Works only from ${joined(sources.map(said))}.`
  if (ownSources?.length) return `Works only from ${joined(ownSources)}, like the key that you signed in with.`
  return 'Works from every address.'
}

/** For the server, a key that would end later does not end. */
const LAST_END = new Date('9999-12-31T23:59:59Z')

function endSentence(ttl: number | undefined, isFromLastUse: boolean | undefined, now: Date): string {
  const end = new Date(now.getTime() + (ttl ?? Number.POSITIVE_INFINITY) * 1000)
  if (ttl === undefined || !(end <= LAST_END)) return 'Never expires, unless the server sets a limit.'
  const date = ttl < 2 * DAY_SECONDS ? `${dateOf(end)}, ${minuteOf(end)}` : dateOf(end)
  return isFromLastUse
    ? `Ends ${lifetimeWords(ttl)} after its last use; if it is never used, on ${date}.`
    : `Ends on ${date}.`
}

const minuteOf = (time: Date): string =>
  new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' }).format(time)

/** Returns `a`, `a and b` or `a, b and c`. */
const joined = (list: readonly string[]): string => new Intl.ListFormat('en-GB').format(list)

/** Returns a name that was typed: in quotation marks if it could be read as part of the sentence, `…` if it is not typed yet. */
function said(name: string): string {
  if (name === '') return '…'
  return /^[\w.:/*-]+$/.test(name) ? name : `“${name.replaceAll(/[“”]/g, "'")}”`
}

/** Returns the scope with its names as a sentence says them. */
const withSaidNames = (scope: Scope): Scope =>
  JSON.parse(JSON.stringify(scope), (_, value) => (typeof value === 'string' && value !== '' ? said(value) : value))
