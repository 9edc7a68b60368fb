/** Deadlines of what is tested for something else. */

/** All the time that is wanted. */
export const endless = () => Number.POSITIVE_INFINITY

/** What a write is given then. */
export const unhurried = { deadline: endless }
