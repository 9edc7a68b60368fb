/** Does something with each of several objects. */
import { StatusError } from '../api/status.ts'
import type { Io } from '../io/io.ts'
import { reportError } from '../output/messages.ts'

/** Does the work for every name, also after the server refused one. Throws the last refusal, after it reported the others. */
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
      if (!(error instanceof StatusError) || error.code === 401 || error.code >= 500) throw error
      if (last !== undefined) reportError(io, last)
      last = error
    }
  }
  if (last !== undefined) throw last
}
