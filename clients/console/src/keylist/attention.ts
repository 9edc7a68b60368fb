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
      'The values of these keys were reported as leaked and never work again. What uses the keys has no access. Rotate each key that is still needed, store its new value, and enable it. Delete the others.',
    phase: 'Leaked',
    concerns: () => true,
  },
  'rotation-pending': {
    title: 'Rotation pending',
    about:
      'These keys have a new value that has not been used yet, so their old value keeps working. Store the new value wherever the old one is. If the new value is lost, end the rotation on the page of the key.',
    concerns: (key) => openRotation(key) === 'Pending',
  },
  'expires-soon': {
    title: 'Expires within 14 days',
    about:
      'Everything that uses these keys stops working when they expire. For each key that is still needed, make a new one. Keys made for a day or less are left out, and so are keys that each use extends by up to 14 days.',
    concerns: expiresSoon,
  },
  unused: {
    title: 'Unused for 90 days',
    about:
      'These keys were last used 90 days ago or earlier, or were created then and never used. Disable a key first. If it is not missed, delete it.',
    concerns: (key, now) => !isServerMade(key) && now - (lastUse(key) ?? now) >= UNUSED_MS,
  },
  'never-expires': {
    title: 'Never expires',
    about:
      'These keys, and every copy of them, work until somebody revokes them. Make a new key that expires, use it in place of the old one, and delete the old one.',
    concerns: (key) => !isServerMade(key) && key.status?.expirationTimestamp === undefined,
  },
  'no-scope': {
    title: 'No scope',
    about:
      'These keys may do everything that their owner may, unless they were made with a key that has a scope. For a job, make a key that may do only what the job does.',
    concerns: (key) => !isServerMade(key) && isUnrestricted(key.spec.scope),
  },
} satisfies Record<string, Card>

export type CardName = keyof typeof TABLE

/** The cards, the most urgent first. */
export const cards: ReadonlyMap<CardName, Card> = new Map(Object.entries(TABLE) as [CardName, Card][])

export const isCardName = (text: string): text is CardName => cards.has(text as CardName)

/** Reports whether the key belongs to the card. */
export const needs = (name: CardName, key: AccessKey, now: Date): boolean =>
  !isExchanged(key) &&
  key.status?.phase === (cards.get(name)?.phase ?? 'Active') &&
  cards.get(name)?.concerns(key, now.getTime()) === true

/** Returns how many keys belong to each card. */
export const countCards = (keys: readonly AccessKey[], now: Date): ReadonlyMap<CardName, number> =>
  new Map([...cards.keys()].map((name) => [name, keys.filter((key) => needs(name, key, now)).length]))

/** Reports whether a key expires within 14 days. A key that each use extends counts only if its lifetime is longer than that. */
function expiresSoon(key: AccessKey, now: number): boolean {
  const end = timeOf(key.status?.expirationTimestamp)
  if (end === undefined || end - now > SOON_MS || livesADay(key)) return false
  return !key.spec.ttlAfterLastActivity || (lifeOf(key) ?? 0) > SOON_MS
}
