/** Says in words what happened to an access key. */
import { duration } from './durations.ts'
import type { AccessKey, HistoryEvent } from './objects.ts'
import { scopeAct, scopeDiff } from './scopechange.ts'

/** What happened, without its details. A type that a later release has added says itself. */
const WORDS: Readonly<Record<string, string>> = {
  created: 'created',
  'first-used': 'used for the first time',
  changed: 'changed',
  expiring: 'expires soon',
  expired: 'expired',
  'rotation-started': 'rotation started',
  rotated: 'new value in use',
  'rotation-stalled': 'new value unused for a day',
  'rotation-replaced': 'unused new value replaced',
  reused: 'ended value used',
  'source-refused': 'use from a refused address',
  leaked: 'reported as leaked',
  revoked: 'revoked',
  'new-address': 'used from a new address',
  'tokens-unconfirmed': 'tokens may still work',
}

const SCOPE = 'scope changed'

/** What a change of fields is, in the order in which it is looked for. "Disabled" is an event of its own. */
const ACTS: readonly [fields: readonly string[], act: string][] = [
  [['spec.disabled'], 'enabled'],
  [['spec.key'], 'value replaced'],
  [['status.values'], 'new value discarded'],
  [['spec.scope'], SCOPE],
  [['status.addedScopes'], 'added scopes changed'],
  [['spec.ttl', 'spec.ttlAfterLastActivity'], 'lifetime changed'],
  [['spec.ttl'], 'lifetime changed'],
  [['spec.ttlAfterLastActivity'], 'lifetime changed'],
  [['spec.sourceCIDRs'], 'addresses changed'],
  [['spec.groups'], 'groups changed'],
  [['spec.displayName'], 'display name changed'],
  [['spec.description'], 'description changed'],
  [['metadata.labels'], 'labels changed'],
  [['metadata.annotations'], 'annotations changed'],
]

/** Returns the acts that a change is, and the fields that are in none of them. */
function actsIn(fields: readonly string[]): { acts: string[]; rest: string[] } {
  const rest = new Set(fields)
  const acts = ACTS.flatMap(([of, act]) => {
    if (!of.every((field) => rest.has(field))) return []
    for (const field of of) rest.delete(field)
    return [act]
  })
  return { acts, rest: [...rest] }
}

/** Says how late the history may be. */
export const LATE = 'What happened in the last minute may be missing.'

/** How far the time of an event may be from the one in the key, in milliseconds. */
const CLOSE_MS = 2000

/** Returns the scopes before and after an event, if it is the last change of the scope of the key. */
function scopesOf({ time, fields }: HistoryEvent, key: AccessKey | undefined) {
  const { formerScope } = key?.status ?? {}
  const isLast =
    fields?.includes('spec.scope') && Math.abs(Date.parse(formerScope?.replaced ?? '') - Date.parse(time)) < CLOSE_MS
  return isLast ? ([formerScope?.scope, key?.spec.scope] as const) : undefined
}

/** Returns what happened. The key, if it is known, says what the last change did to its scope. */
export function eventWords(event: HistoryEvent, key?: AccessKey): string {
  const { type, how, fields = [] } = event
  if (type === 'revoked' && how) return how.toLowerCase()
  const scopes = scopesOf(event, key)
  const acts = actsIn(fields).acts.map((act) => (act === SCOPE && scopes ? `scope ${scopeAct(...scopes)}` : act))
  if (type === 'changed' && acts.length > 0) return acts.join(', ')
  return Object.hasOwn(WORDS, type) ? (WORDS[type] ?? type) : type
}

/** Returns who did it, or an empty text. */
export function actorWords({ actor }: HistoryEvent): string {
  if (actor === undefined) return ''
  const key = actor.accessKey ?? actor.accessKeyUid
  const { user = '' } = actor
  return key === undefined ? user : `${user} with ${key}`
}

/** Returns the details, each in some words. */
export function eventDetails(event: HistoryEvent, key?: AccessKey): string[] {
  const { fields = [], value, overlapSeconds, days, ip, userAgent, url, cluster } = event
  const scopes = scopesOf(event, key)
  return [
    ...(cluster === undefined ? [] : [`in cluster ${cluster}`]),
    ...actsIn(fields).rest,
    ...(scopes ? scopeDiff(...scopes) : []),
    ...(value === undefined ? [] : [`value ${value}`]),
    ...(overlapSeconds === undefined ? [] : [`overlap ${duration(overlapSeconds)}`]),
    ...(days === undefined ? [] : [`in ${days} ${days === 1 ? 'day' : 'days'}`]),
    ...(ip === undefined ? [] : [`from ${ip}`]),
    ...(userAgent === undefined ? [] : [`by ${userAgent}`]),
    ...(url === undefined ? [] : [`found at ${url}`]),
  ]
}
