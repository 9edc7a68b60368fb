/**
 * Reads the record of a key every minute while its command runs. So the report has something to say if the key or the API is gone at the
 * end, and the person learns that somebody has ended the key.
 */
import type { KeyUsage } from '../../../core/src/usage.ts'
import type { Session } from '../api/session.ts'
import { StatusError } from '../api/status.ts'
import { readUsage } from '../api/usage.ts'
import { isPassing } from '../io/errors.ts'
import type { Io } from '../io/io.ts'
import { note } from '../output/messages.ts'
import { sessionWith } from '../rotation/run.ts'

export interface Watched {
  /** The record as it was read last. */
  usage: KeyUsage | undefined
  /** For how many seconds the API could not be reached. */
  away: number
}

const EVERY_MILLISECONDS = 60_000

/** Begins to read the record, until `signal` aborts. */
export function watchKey(io: Io, session: Session, name: string, signal: AbortSignal): Watched {
  const watched: Watched = { usage: undefined, away: 0 }
  // Without it the report has less to say. It must not end what runs.
  void readEveryMinute(io, { session, name, signal, watched }).catch(() => {})
  return watched
}

interface Watch {
  session: Session
  name: string
  signal: AbortSignal
  watched: Watched
}

async function readEveryMinute(io: Io, { session, name, signal, watched }: Watch): Promise<void> {
  // The command has the terminal: that a request takes long is nothing to say in it.
  const quiet = sessionWith({ ...io, err: () => {} }, session, await session.key())
  let before = 0
  for (let answered = io.now().getTime(); ; ) {
    await io.pause(EVERY_MILLISECONDS, signal)
    try {
      watched.usage = (await readUsage(quiet, name, { signal })).usage
      answered = io.now().getTime()
      before = watched.away
    } catch (error) {
      signal.throwIfAborted()
      if (!isPassing(error)) return tellEnd(io, name, error)
      watched.away = before + (io.now().getTime() - answered) / 1000
    }
  }
}

/** Says that somebody has ended the key. Without the right to read the record, nothing is known. */
function tellEnd(io: Io, name: string, error: unknown): void {
  if (error instanceof StatusError && error.code === 404)
    note(io, `${name} was deleted. The command goes on without a key.`)
}
