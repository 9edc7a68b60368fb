/** Defines how long watches last and how often they send something. */

/** Less than 300 s, after which API Gateway cuts a streamed response. */
export const maxWatchMs = 280_000

/** The interval of bookmarks, or of empty lines without bookmarks. Clients drop a stream that is silent for 30 s. */
export const heartbeatMs = 20_000

/** Returns the duration of a watch in milliseconds. */
export const watchMs = (timeoutSeconds: number | undefined): number =>
  Math.min(maxWatchMs, timeoutSeconds ? timeoutSeconds * 1000 : maxWatchMs)
