/** Receives the signals of a session, from before its key exists until everything of it has ended. None of them ends this program. */
import { constants } from 'node:os'
import type { Io } from '../io/io.ts'

/** How long a request or a command goes on after a signal that asks it to end. */
const GRACE_MILLISECONDS = 5000
/** Those that ask a program to end. */
const ENDING: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGBREAK']
/** A terminal sends them to the command as well. */
const OF_TERMINALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT', 'SIGBREAK']

export interface Signals {
  /** Aborts when the session is to end: with any signal before the command, and with one that asks it to end afterwards. */
  asked: AbortSignal
  /** Aborts some seconds later, for what should not be broken off at once. */
  late: AbortSignal
  /** Returns the exit code, as a shell reports it, if the session was asked to end. */
  exitCode(): number | undefined
  /** Passes signals on to the command from now on, except those that a terminal sends to it as well. */
  passTo(kill: (signal: NodeJS.Signals) => void): void
  /** Gives the signals back to the process. */
  stop(): void
}

/** Begins to receive the signals. Throws the reason of the signal that the process has had before. */
export function receiveSignals(io: Pick<Io, 'passSignals' | 'isTerminal' | 'signal'>): Signals {
  const hasTerminal = io.isTerminal.in || io.isTerminal.out || io.isTerminal.err
  const asked = new AbortController()
  const late = new AbortController()
  let pass: ((signal: NodeJS.Signals) => void) | undefined
  let exitCode: number | undefined
  const stop = io.passSignals((signal) => {
    // Many programs go on after Ctrl-C, so that alone ends nothing.
    const isTyped = pass !== undefined && hasTerminal && OF_TERMINALS.includes(signal)
    if (!isTyped) pass?.(signal)
    const asks = pass === undefined || (!isTyped && ENDING.includes(signal))
    if (!asks || asked.signal.aborted) return
    exitCode = 128 + constants.signals[signal]
    asked.abort(new Error(`ended by ${signal}`))
    setTimeout(() => late.abort(asked.signal.reason), GRACE_MILLISECONDS).unref()
  })
  if (io.signal.aborted) {
    stop()
    throw io.signal.reason
  }
  return {
    asked: asked.signal,
    late: late.signal,
    exitCode: () => exitCode,
    passTo: (kill) => {
      pass = kill
    },
    stop,
  }
}
