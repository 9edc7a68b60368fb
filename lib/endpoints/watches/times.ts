/** How long watches last, and how often they say something. */

/** Below the 300 s after which the platform cuts a streamed answer. */
export const maxWatchMs = 280_000

/** Clients drop streams that are silent for 30 s: a bookmark, or a bare newline where bookmarks are not wanted. */
export const heartbeatMs = 20_000

/** Milliseconds that a watch lasts. */
export const watchMs = (timeoutSeconds: number | undefined): number =>
  Math.min(maxWatchMs, timeoutSeconds ? timeoutSeconds * 1000 : maxWatchMs)
