/** Runs the command of a session in the foreground, and passes signals on to it. */
import { once } from 'node:events'
import { constants } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { CliError } from '../io/errors.ts'
import type { Io } from '../io/io.ts'

/** How long the key of a command lives on after a signal that asks the command to end. */
const GRACE_MILLISECONDS = 5000
/** Those that ask a program to end. */
const ENDING: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGBREAK']
/** A terminal sends them to the command as well. */
const OF_TERMINALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT', 'SIGBREAK']

/**
 * Runs the command to its end and returns its exit code, as a shell reports it. Many programs go on after Ctrl-C, so that alone ends
 * nothing. `end` is called, and awaited, once: when the command has ended, or soon after another signal asked it to end, even if it goes on.
 */
export async function runCommand(
  io: Io,
  [program = '', ...args]: readonly string[],
  env: NodeJS.ProcessEnv,
  end: () => Promise<void>,
): Promise<number> {
  // Other commands need not load it, and the plugin of kubectl must start quickly.
  const { spawn } = await import('node:child_process')
  const hasTerminal = io.isTerminal.in || io.isTerminal.out || io.isTerminal.err
  let over: Promise<void> | undefined
  const endOnce = () => {
    over ??= end()
    return over
  }
  const asked = new AbortController()
  const child = spawn(program, args, { env, stdio: 'inherit' })
  const stopPassing = io.passSignals((signal) => {
    const isTyped = hasTerminal && OF_TERMINALS.includes(signal)
    if (!isTyped) child.kill(signal)
    if (!isTyped && ENDING.includes(signal)) asked.abort()
  })
  try {
    const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
    asked.signal.addEventListener('abort', () => {
      const late = Promise.race([ended, sleep(GRACE_MILLISECONDS, undefined, { ref: false })])
      void late.then(endOnce, () => {})
    })
    const [code, signal] = await ended.catch((error: Error) => {
      throw new CliError(`${program} cannot be started: ${error.message}`, { cause: error })
    })
    return code ?? 128 + (signal === null ? 0 : constants.signals[signal])
  } finally {
    await endOnce()
    stopPassing()
  }
}
