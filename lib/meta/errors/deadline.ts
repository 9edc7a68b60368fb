/** The time that a request has, from the moment in which it was allowed. */
import { undecided } from './status.ts'

/** Returns the milliseconds that are left. Once there are none, nothing of the request begins any more. */
export type Deadline = () => number

/** The 504 of a request whose time is over. */
export const timeIsOver = (cause?: unknown) =>
  undecided('request did not complete within requested timeout - context deadline exceeded', cause)

/** Throws 504 once the time is over. */
export function demandTime(deadline: Deadline): void {
  if (deadline() <= 0) throw timeIsOver()
}
