/** Decides how often a list is read again. */

const SHORTEST_MS = 15_000
/** With 150 keys in 15 seconds, a page reads some 10 KB a second at most, which a slow line can bear. */
const KEYS_A_STEP = 150

/** Returns the milliseconds between two readings of a list of so many keys. Long lists are read less often. */
export const pollEvery = (count: number): number => SHORTEST_MS * Math.max(1, Math.ceil(count / KEYS_A_STEP))
