/** Enforces the deadline of a request, which starts when the request is authorized. */
import { undecided } from './status.ts'

/** Returns the remaining milliseconds. At zero or below, the request must not start anything new. */
export type Deadline = () => number

/** Returns the 504 for a request that exceeded its deadline. */
export const deadlineExceeded = (cause?: unknown) =>
  undecided('request did not complete within requested timeout - context deadline exceeded', cause)

/** Throws 504 when the deadline has passed. */
export function checkDeadline(deadline: Deadline): void {
  if (deadline() <= 0) throw deadlineExceeded()
}
