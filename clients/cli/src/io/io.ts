/** Defines what a command sees of its process: environment, streams, clock and signals. */
import type { Shell } from '../../../core/src/shellwords.ts'

export interface Io {
  env: NodeJS.ProcessEnv
  /** The path of this program, as it was called. */
  program: string
  /** Names the process that runs this one, and no later one. */
  parent(): string
  /** The shell for which commands in messages are written. */
  shell: Shell
  now(): Date
  /** A clock that nobody sets, in milliseconds. */
  elapsed(): number
  /** Waits. Rejects when the signal aborts, by default that of the process. */
  pause(milliseconds: number, signal?: AbortSignal): Promise<void>
  /** Writes a result to standard output. Ends the process if that fails, and tells `ifLost`: what to do without the result. */
  out(text: string, ifLost?: string): void
  /** Writes messages and progress to standard error. They are lost if nobody reads them: that ends nothing. */
  err(text: string): void
  isTerminal: { in: boolean; out: boolean; err: boolean }
  /** Columns of the terminal of standard output; 80 without one. */
  columns: number
  /** Reads standard input to its end. */
  readStdin(): Promise<string>
  /** Reads one line of standard input without its end, undefined after the last one. */
  readLine(): Promise<string | undefined>
  /** Asks for one line in the terminal, which does not show what is typed. */
  readHidden(prompt: string): Promise<string | undefined>
  /** Starts this program again, as a process that goes on alone, without input and output. */
  startDetached(args: readonly string[]): void
  /** Asks the system to open a URL. Nothing is known of whether it does. */
  openBrowser(url: string): void
  /** Aborts with Ctrl-C or SIGTERM. */
  signal: AbortSignal
  /** Gives all signals that would end this process to `receive` instead, until the function that it returns is called. */
  passSignals(receive: (signal: NodeJS.Signals) => void): () => void
}
