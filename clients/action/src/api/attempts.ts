/** Repeats what fails for a passing reason. */
import { setTimeout as sleep } from 'node:timers/promises'
import { asSentence } from '../../../core/src/answers.ts'
import { Failure } from '../runner/failure.ts'

/** With the waits between them, these take half a minute. */
const MOST = 6
/** How often something is renewed whose last one still works. */
export const FEW = 3
/** A job waits no longer, whatever the server asks for. */
const MAX_WAIT_SECONDS = 30

/** Returns the result of the first attempt that succeeds. Throws the failure of the last, or one that does not pass. */
export async function withAttempts<T>(
  attempt: () => Promise<T>,
  report: (message: string) => void,
  most = MOST,
): Promise<T> {
  for (let count = 1; ; count++) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof Failure) || !error.isPassing || count === most) throw error
      const seconds = Math.min(error.retryAfter ?? 2 ** (count - 1), MAX_WAIT_SECONDS)
      report(`Attempt ${count} of ${most} failed: ${asSentence(error.message)} The next one is in ${seconds} s.`)
      await sleep(seconds * 1000)
    }
  }
}
