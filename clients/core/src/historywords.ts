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
  'scope-trial-refused': 'a trial would have refused',
  revoked: 'revoked',
  'new-address': 'used from a new address',
}

/** Returns what happened. */
export function eventWords({ type, how }: HistoryEvent): string {
  if (type === 'revoked' && how) return how.toLowerCase()
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
  request,
}: HistoryEvent): string[] => [
  ...(request === undefined ? [] : [request]),
  ...fields,
  ...(value === undefined ? [] : [`value ${value}`]),
  ...(overlapSeconds === undefined ? [] : [`overlap ${duration(overlapSeconds)}`]),
  ...(days === undefined ? [] : [`in ${days} ${days === 1 ? 'day' : 'days'}`]),
  ...(ip === undefined ? [] : [`from ${ip}`]),
  ...(userAgent === undefined ? [] : [`by ${userAgent}`]),
  ...(url === undefined ? [] : [`found at ${url}`]),
]
