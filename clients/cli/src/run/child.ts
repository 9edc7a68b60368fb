/** Runs the command of a session in the foreground. */
import { once } from 'node:events'
import { constants } from 'node:os'
import { CliError } from '../io/errors.ts'
import type { Signals } from './signals.ts'

/**
 * Runs the command to its end and returns its exit code, as a shell reports it. Does not start it if a signal has asked the session to
 * end. `end` is called when the command has ended, and some seconds after a signal has asked it to end, even if it goes on.
 */
export async function runCommand(
  signals: Signals,
  [program = '', ...args]: readonly string[],
  env: NodeJS.ProcessEnv,
  end: () => Promise<unknown>,
): Promise<number> {
  // Other commands need not load it, and the plugin of kubectl must start quickly.
  const { spawn } = await import('node:child_process')
  const before = signals.exitCode()
  if (before !== undefined) return before
  const child = spawn(program, args, { env, stdio: 'inherit' })
  signals.passTo((signal) => child.kill(signal))
  signals.late.addEventListener('abort', () => void end().catch(() => {}))
  try {
    const [code, signal] = await (once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>).catch(
      (error: Error) => {
        throw new CliError(`${program} cannot be started: ${error.message}`, { cause: error })
      },
    )
    return code ?? 128 + (signal === null ? 0 : constants.signals[signal])
  } finally {
    await end()
  }
}
