/** Connects commands with the streams, the clock and the signals of this process. */
import { hiddenLine, lineReader } from './input.ts'
import type { Io } from './io.ts'

/** The exit code of a process whose reader is gone, as shells report SIGPIPE. */
const BROKEN_PIPE = 141
const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const
/** How long a command may clean up after a signal. */
const CLEANUP_MILLISECONDS = 2000

/** Returns the Io of this process, and the exit code of a command that a signal ended. */
export function processIo(): { io: Io; interrupted(): number } {
  const controller = new AbortController()
  let code = SIGNALS.SIGINT as number
  for (const [signal, exitCode] of Object.entries(SIGNALS)) {
    process.on(signal, () => {
      if (controller.signal.aborted) process.exit(exitCode)
      code = exitCode
      controller.abort(new Error(`ended by ${signal}`))
      setTimeout(() => process.exit(exitCode), CLEANUP_MILLISECONDS).unref()
    })
  }
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
      process.exit(BROKEN_PIPE)
    })
  }
  const lines = lineReader()
  const io: Io = {
    env: process.env,
    now: () => new Date(),
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    isTerminal: {
      in: process.stdin.isTTY === true,
      out: process.stdout.isTTY === true,
      err: process.stderr.isTTY === true,
    },
    columns: process.stdout.columns ?? 80,
    readStdin: async () => {
      const chunks: Buffer[] = []
      for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
      return Buffer.concat(chunks).toString()
    },
    readLine: () => lines(controller.signal),
    readHidden: (prompt) => hiddenLine(prompt, controller.signal),
    signal: controller.signal,
  }
  return { io, interrupted: () => code }
}
