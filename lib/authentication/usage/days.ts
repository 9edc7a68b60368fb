/** Defines where usage is kept, and its days. */

/** Returns the partition with what is recorded about a key. */
export const usagePartition = (uid: string): string => `usage#${uid}`

/** Returns the UTC day of a time in unix seconds, as `2026-11-26`. */
export const dayOf = (at: number): string => new Date(at * 1000).toISOString().slice(0, 10)
