/** Provides deadlines for tests that do not test deadlines. */

/** Never expires. */
export const endless = () => Number.POSITIVE_INFINITY

/** Options of a write without a deadline. */
export const unhurried = { deadline: endless }
