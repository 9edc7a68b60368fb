/** Runs a command for each of several access keys. */
import { StatusError } from '../../api/status.ts'
import type { Io } from '../../io/io.ts'
import { reportError } from '../../output/messages.ts'

/** Does the work for every name, and continues if the server refuses one. Reports each refusal but the last, which it throws. */
export async function forEachName(
  names: readonly string[],
  io: Io,
  work: (name: string) => Promise<void>,
): Promise<void> {
  let last: StatusError | undefined
  for (const name of names) {
    try {
      await work(name)
    } catch (error) {
      // The others would fail as well, with a key that does not work or a server that fails.
      if (!(error instanceof StatusError) || error.code === 401 || error.unavailable) throw error
      if (last !== undefined) reportError(io, last)
      last = error
    }
  }
  if (last !== undefined) throw last
}
