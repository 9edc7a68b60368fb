/**
 * Keeps the access key over a reload of its tab, if the person asked for it: in sessionStorage, which no other tab sees and which
 * ends with the tab. Otherwise the key is in memory only.
 */
import { MINUTE_MS } from '../../../../lib/engine/meta/value/durations.ts'
import { type BrowserStorage, readObject } from './browserstorage.ts'

/** A session ends after this time without input. */
export const IDLE_MS = 15 * MINUTE_MS

const NAME = 'keyplane'

export interface KeptKey {
  key: string
  /** When the key expires, in milliseconds, if an exchange made it. */
  ends?: number
  /** Identifies the session, also in copies of the tab. */
  id?: string
  /** Time of the last input, in milliseconds. */
  seen: number
}

export const keepKey = (storage: BrowserStorage, kept: KeptKey): void => storage.setItem(NAME, JSON.stringify(kept))

export const forgetKey = (storage: BrowserStorage): void => storage.removeItem(NAME)

const isKept = (kept: Partial<KeptKey> | undefined): kept is KeptKey => typeof kept?.key === 'string'

/**
 * Returns the key that an exchange made for an earlier session of the tab and that is still kept, whenever its last input was, unless
 * it is `next`. Nobody uses it after the next sign-in.
 */
export function formerKey(storage: BrowserStorage, next: string): KeptKey | undefined {
  const kept = readObject(storage, NAME) as Partial<KeptKey> | undefined
  return isKept(kept) && kept.ends !== undefined && kept.key !== next ? kept : undefined
}

/** Returns the key of before the reload. Forgets it after the idle time. */
export function keptKey(storage: BrowserStorage, now: Date): KeptKey | undefined {
  const kept = readObject(storage, NAME) as Partial<KeptKey> | undefined
  const age = now.getTime() - (kept?.seen ?? Number.NaN)
  // The last input is in the future if the clock was set back. Then nobody knows how long ago it was.
  if (isKept(kept) && age >= 0 && age < IDLE_MS) return kept
  forgetKey(storage)
  return undefined
}
