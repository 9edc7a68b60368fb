/** Computes the deadline of a request. */
import { checkDeadline, type Deadline, deadlineExceeded } from '../../engine/meta/errors/deadline.ts'
import { withTimeout } from './timeout.ts'

/** Handlers time out before the 29 s of the gateway, so that the client gets a Status. */
const requestMs = 20_000

export interface Clocks {
  now(): Date
  /** Returns milliseconds on a monotonic clock. */
  elapsed(): number
}

/**
 * Returns the deadline of a request that the gateway received at `received` (Unix ms). The time of the authorizer counts,
 * because its data about the key ages as well. The clock that is ahead decides: a monotonic clock may stop while the
 * process is frozen, and a wall clock may be set back. A gateway clock that is ahead does not extend the deadline.
 */
export function requestDeadline({ now, elapsed }: Clocks, received: number): Deadline {
  const end = Math.min(received, now().getTime()) + requestMs
  const monotonicEnd = elapsed() + end - now().getTime()
  return () => Math.min(end - now().getTime(), monotonicEnd - elapsed())
}

/** Does the work of a request that the gateway received at `received`. Throws 504 after the deadline: the work itself continues. */
export async function inTime<T>(
  clocks: Clocks,
  received: number,
  work: (deadline: Deadline) => Promise<T>,
): Promise<T> {
  const deadline = requestDeadline(clocks, received)
  checkDeadline(deadline)
  return withTimeout(deadline(), work(deadline), deadlineExceeded)
}
