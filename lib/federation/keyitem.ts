/** Keeps the fetched keys of a provider in a side item, which all functions share. Pinned keys have none. */
import type { JsonObject } from '../meta/types.ts'
import type { CompanionItem } from '../storage/interface.ts'
import { normalizeKeySet, type PublicKey } from './jwks.ts'

/** The keys of a provider, and when they were fetched. Times are in unix ms. */
export interface KeyState {
  /** The revision of the provider. With another one, neither the keys nor the attempt count. */
  revision: number
  /** When the last fetch began, successful or not. */
  attemptedAt: number
  /** The keys of the last successful fetch; empty before the first. */
  keys: readonly PublicKey[]
  /** When that fetch began. */
  fetchedAt: number
  /** How long the keys are fresh after that, in ms. */
  freshFor: number
}

export const keyItemKey = (providerUid: string) => ({ pk: `jwks#${providerUid}`, sk: '#' })

/** How long the table keeps an item without a new attempt. */
const KEPT_SECONDS = 86_400

/** The time of what never happened: before every interval that ends now. */
export const NEVER = Number.NEGATIVE_INFINITY

export function encodeKeyItem(providerUid: string, state: KeyState): CompanionItem {
  const { revision, attemptedAt, keys, fetchedAt, freshFor } = state
  const fetched = keys.length > 0 ? { keys: keys.map((key): JsonObject => key), fetchedAt, freshFor } : {}
  const expires = Math.ceil(attemptedAt / 1000) + KEPT_SECONDS
  return { ...keyItemKey(providerUid), attributes: { revision, attemptedAt, ...fetched, expires } }
}

/** Returns the state in an item. Returns undefined without an item, and for one that this version cannot read. */
export function decodeKeyItem(item: CompanionItem | undefined): KeyState | undefined {
  const { revision, attemptedAt, keys = [], fetchedAt = NEVER, freshFor = 0 } = item?.attributes ?? {}
  if (typeof revision !== 'number' || typeof attemptedAt !== 'number') return undefined
  if (!Array.isArray(keys) || typeof fetchedAt !== 'number' || typeof freshFor !== 'number') return undefined
  return { revision, attemptedAt, keys: normalizeKeySet({ keys }), fetchedAt, freshFor }
}
