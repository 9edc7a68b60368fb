/** Provides deadlines for tests that do not test deadlines. */

/** Never expires. */
export const endless = () => Number.POSITIVE_INFINITY

/** Returns a signal that never aborts, in place of one that aborts after so many milliseconds. */
export const unlimited = (): AbortSignal => new AbortController().signal

/** Options of a write without a deadline. */
export const unhurried = { deadline: endless }
