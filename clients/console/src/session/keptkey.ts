/**
 * Keeps the access key over a reload of its tab, if the person asked for it: in sessionStorage, which no other tab sees and which
 * ends with the tab. Otherwise the key is in memory only.
 */

/** A session ends after this time without input. */
export const IDLE_MS = 15 * 60_000

const NAME = 'keyplane'

export interface KeptKey {
  key: string
  /** When the key expires, in milliseconds, if an exchange made it. */
  ends?: number
  /** Time of the last input, in milliseconds. */
  seen: number
}

export const keepKey = (storage: Storage, kept: KeptKey): void => storage.setItem(NAME, JSON.stringify(kept))

export const forgetKey = (storage: Storage): void => storage.removeItem(NAME)

/** Returns the key of before the reload. Forgets it after the idle time. */
export function keptKey(storage: Storage, now: Date): KeptKey | undefined {
  const text = storage.getItem(NAME)
  const kept = text === null ? undefined : (JSON.parse(text) as KeptKey)
  if (kept && now.getTime() - kept.seen < IDLE_MS) return kept
  forgetKey(storage)
  return undefined
}
