/** Defines what the side items of a key have in common that say what happened: its history and its usage. */
import { createHash } from 'node:crypto'
import { DAY_SECONDS } from '../../engine/meta/value/durations.ts'

/** How long an item is kept after what it says. */
const KEPT_SECONDS = 90 * DAY_SECONDS

/** Returns when the store deletes an item of what happened at `at`. Both are unix seconds. */
export const expiryOf = (at: number): number => at + KEPT_SECONDS

/** Returns since when items are kept at `now`. Both are unix seconds. */
export const keptFrom = (now: number): number => now - KEPT_SECONDS

/** Returns a short hash for the key of an item: 96 bits, of items of one access key. */
export const itemHash = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 16)

/** Returns the partition with what is recorded about a key. */
export const usagePartition = (uid: string): string => `usage#${uid}`

/** Returns the UTC day of a time in unix seconds, as `2026-11-26`. */
export const dayOf = (at: number): string => new Date(at * 1000).toISOString().slice(0, 10)
