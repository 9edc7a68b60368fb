/** Says in words what happened to an access key. */
import { duration } from './durations.ts'
import type { HistoryEvent } from './objects.ts'

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

/** What a change of fields is, in the order in which it is looked for. "Disabled" is an event of its own. */
const ACTS: readonly [fields: readonly string[], act: string][] = [
  [['spec.disabled'], 'enabled'],
  [['spec.key'], 'value replaced'],
  [['status.values'], 'new value discarded'],
  [['spec.scope'], 'scope changed'],
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

/** Returns what happened. */
export function eventWords({ type, how, fields = [] }: HistoryEvent): string {
  if (type === 'revoked' && how) return how.toLowerCase()
  const { acts } = actsIn(fields)
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
export const eventDetails = ({
  fields = [],
  value,
  overlapSeconds,
  days,
  ip,
  userAgent,
  url,
  cluster,
}: HistoryEvent): string[] => [
  ...(cluster === undefined ? [] : [`in cluster ${cluster}`]),
  ...actsIn(fields).rest,
  ...(value === undefined ? [] : [`value ${value}`]),
  ...(overlapSeconds === undefined ? [] : [`overlap ${duration(overlapSeconds)}`]),
  ...(days === undefined ? [] : [`in ${days} ${days === 1 ? 'day' : 'days'}`]),
  ...(ip === undefined ? [] : [`from ${ip}`]),
  ...(userAgent === undefined ? [] : [`by ${userAgent}`]),
  ...(url === undefined ? [] : [`found at ${url}`]),
]
