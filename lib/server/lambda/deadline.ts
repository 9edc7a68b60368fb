/** The deadline of a request. */
import type { Deadline } from '../../meta/errors/deadline.ts'

/** Handlers give up before the gateway's 29 s, so that the client gets a Status. */
const requestMs = 20_000

export interface Clocks {
  now(): Date
  /** Milliseconds on a clock that never goes back. */
  elapsed(): number
}

/**
 * Returns the deadline of a request that the gateway received at `received` (Unix ms): the time of the authorizer counts,
 * since what it read of the key is as old. Whichever clock is ahead decides: a monotonic clock may stand still while the
 * process is frozen, and a wall clock may be set back. A gateway whose clock is ahead gives nobody more time.
 */
export function deadlineOf({ now, elapsed }: Clocks, received: number): Deadline {
  const end = Math.min(received, now().getTime()) + requestMs
  const monotonicEnd = elapsed() + end - now().getTime()
  return () => Math.min(end - now().getTime(), monotonicEnd - elapsed())
}
