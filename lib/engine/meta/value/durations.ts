/** Lengths of time: in seconds, as the fields of objects have them, and in milliseconds, as clocks count. */
export const HOUR_SECONDS = 3600
export const DAY_SECONDS = 24 * HOUR_SECONDS
export const MINUTE_MS = 60_000
export const DAY_MS = 1000 * DAY_SECONDS
