/** Defines how long watches last and how often they send something. */

import type { WatchLimits } from '../call.ts'

/** The interval of bookmarks, or of heartbeats without bookmarks. Clients drop a stream that is silent for 30 s. */
export const heartbeatMs = 20_000

/**
 * Keeps a silent stream open, and carries the headers of a response whose first event is yet to come. White space may
 * precede an event in all clients. An empty line is no event: the Python and Java clients of Kubernetes fail on it.
 */
export const heartbeat = ' '

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
