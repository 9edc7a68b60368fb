/** Defines how long watches last and how often they send bookmarks. */

import type { WatchLimits } from '../call.ts'

/**
 * The interval of bookmarks. Some clients drop a stream that is silent for 30 s. Those that take no bookmarks get nothing
 * between events, as from kube-apiserver: clients read lines, and fail on white space that no event follows.
 */
export const bookmarkMs = 20_000

/**
 * Returns a function that computes when a watch ends: after its longest time, or after a quiet time since its last event.
 * All times are milliseconds of one clock. Clients resume a watch that ends. If they have left, only its end is noticed:
 * Lambda does not stop a function that streams.
 */
export function watchEnd(
  { maxSeconds, quietSeconds }: WatchLimits,
  timeoutSeconds: number | undefined,
  began: number,
): (lastEvent: number) => number {
  const latest = began + Math.min(maxSeconds, timeoutSeconds || maxSeconds) * 1000
  return (lastEvent) => (quietSeconds > 0 ? Math.min(latest, lastEvent + quietSeconds * 1000) : latest)
}
