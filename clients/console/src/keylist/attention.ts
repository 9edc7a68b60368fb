/**
 * Decides which access keys need attention, and why. Of keys that do not work only leaked ones do: the others can do no harm. Nobody
 * can give what the server made for itself an end, a scope or a use.
 */
import { isUnrestricted } from '../../../../lib/access/scopes/unrestricted.ts'
import { DAY_MS } from '../../../../lib/engine/meta/value/durations.ts'
import { isExchanged, lastUse, lifeOf, livesADay, timeOf } from '../../../core/src/keylives.ts'
import type { AccessKey } from '../../../core/src/objects.ts'
import { openRotation } from '../api/keyfacts.ts'
import { isServerMade } from '../api/servermade.ts'

const UNUSED_MS = 90 * DAY_MS
const SOON_MS = 14 * DAY_MS

export interface Card {
  title: string
  /** What it means, and what to do. */
  about: string
  phase?: string
  /** Judges a key that no exchange made and that works, or has another `phase`. */
  concerns(key: AccessKey, now: number): boolean
}

const TABLE = {
  leaked: {
    title: 'Leaked',
    about:
      'The value was reported as leaked, gives no access, and never works again. Rotate the key if it is still needed, store its new value, and enable it. Otherwise delete it.',
    phase: 'Leaked',
    concerns: () => true,
  },
  'rotation-pending': {
    title: 'Rotation pending',
    about:
      'The new value has not been used yet, so the old one keeps working. Store the new value wherever the old one is. If it is lost, end the rotation on the page of the key.',
    concerns: (key) => openRotation(key) === 'Pending',
  },
  'expires-soon': {
    title: 'Expires within 14 days',
    about: 'What uses the key stops working when it expires. If it is still needed, make a new one.',
    concerns: expiresSoon,
  },
  unused: {
    title: 'Unused for 90 days',
    about: 'Disable the key first. If nobody misses it, delete it.',
    concerns: (key, now) => !isServerMade(key) && now - (lastUse(key) ?? now) >= UNUSED_MS,
  },
  'never-expires': {
    title: 'Never expires',
    about:
      'The key, and every copy of it, works until somebody revokes it. Make a key that expires, use it instead, and delete this one.',
    concerns: (key) => !isServerMade(key) && key.status?.expirationTimestamp === undefined,
  },
  'no-scope': {
    title: 'No scope',
    about:
      'The key may do everything that its owner may, unless it was made with a key that has a scope. A job needs a key that may do only what the job does.',
    concerns: (key) => !isServerMade(key) && isUnrestricted(key.spec.scope),
  },
} satisfies Record<string, Card>

export type CardName = keyof typeof TABLE

/** The cards, the most urgent first. */
export const cards: ReadonlyMap<CardName, Card> = new Map(Object.entries(TABLE) as [CardName, Card][])

export const isCardName = (text: string): text is CardName => cards.has(text as CardName)

/** Reports whether the key belongs to the card. */
export const needs = (name: CardName, key: AccessKey, now: Date): boolean =>
  key.status?.phase === (cards.get(name)?.phase ?? 'Active') &&
  cards.get(name)?.concerns(key, now.getTime()) === true &&
  !isExchanged(key)

/** Reports whether a key expires within 14 days. A key that each use extends counts only if its lifetime is longer than that. */
function expiresSoon(key: AccessKey, now: number): boolean {
  const end = timeOf(key.status?.expirationTimestamp)
  if (end === undefined || end - now > SOON_MS || livesADay(key)) return false
  return !key.spec.ttlAfterLastActivity || (lifeOf(key) ?? 0) > SOON_MS
}
