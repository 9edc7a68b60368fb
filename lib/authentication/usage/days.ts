/** Defines where and for how long usage is kept, and its days. */

/** How long an item is kept after the day of the use. */
export const USAGE_DAYS = 90
const DAY_SECONDS = 86_400

/** Returns the partition with what is recorded about a key. */
export const usagePartition = (uid: string): string => `usage#${uid}`

/** Returns the UTC day of a time in unix seconds, as `2026-11-26`. */
export const dayOf = (at: number): string => new Date(at * 1000).toISOString().slice(0, 10)

/** Returns when the store deletes what was recorded at `at`. Both are unix seconds. */
export const expiryOfDay = (at: number): number => at + USAGE_DAYS * DAY_SECONDS
