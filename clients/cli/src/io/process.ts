/** Connects commands with the streams, the clock and the signals of this process. */
import { addAbortSignal } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { hiddenLine, lineReader } from './input.ts'
import type { Io } from './io.ts'

/** The exit code of a process whose reader is gone, as shells report SIGPIPE. */
const BROKEN_PIPE = 141
const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const
/** How long a command may clean up after a signal. */
const CLEANUP_MILLISECONDS = 2000

const opened = new Set<'stdout' | 'stderr'>()

/** Opens a stream when something is written to it: that takes longer than answering from a cache. Ends the process if its reader is gone. */
function guarded(name: 'stdout' | 'stderr'): NodeJS.WriteStream {
  const stream = process[name]
  if (!opened.has(name)) {
    opened.add(name)
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
      process.exit(BROKEN_PIPE)
    })
  }
  return stream
}

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
  const lines = lineReader()
  const io: Io = {
    env: process.env,
    program: process.argv[1] ?? '',
    now: () => new Date(),
    elapsed: () => performance.now(),
    pause: (milliseconds, signal = controller.signal) => sleep(milliseconds, undefined, { signal }),
    out: (text) => void guarded('stdout').write(text),
    err: (text) => void guarded('stderr').write(text),
    isTerminal: {
      get in() {
        return process.stdin.isTTY === true
      },
      get out() {
        return process.stdout.isTTY === true
      },
      get err() {
        return process.stderr.isTTY === true
      },
    },
    get columns() {
      return process.stdout.columns ?? 80
    },
    readStdin: async () => {
      const chunks: Buffer[] = []
      for await (const chunk of addAbortSignal(controller.signal, process.stdin)) chunks.push(chunk as Buffer)
      return Buffer.concat(chunks).toString()
    },
    readLine: () => lines(controller.signal),
    readHidden: (prompt) => hiddenLine(prompt, controller.signal),
    signal: controller.signal,
  }
  return { io, interrupted: () => code }
}
