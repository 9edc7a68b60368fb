/** Refuses a clock that is certainly behind, as on a machine that was without power for long. */
import { rfc3339 } from '../../../lib/engine/meta/encoding/time.ts'
import { StartupError } from './startuperror.ts'

/** Before the first release. A later time may be right: tests and demos begin in the past. */
const EARLIEST = Date.UTC(2026, 0, 1)

/** Throws a StartupError if this time, in Unix milliseconds, cannot be right. */
export function checkClock(now: number): void {
  if (now >= EARLIEST) return
  throw new StartupError(
    `The clock of this machine is behind: it says ${rfc3339(new Date(now))}, and keyplane is younger. Set the clock, on which certificates and tokens depend.`,
  )
}
