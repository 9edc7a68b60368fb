/** Connects commands with the streams, the clock and the signals of this process. */
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
    signal: controller.signal,
  }
  return { io, interrupted: () => code }
}

/** Returns a function that reads one line of standard input, and keeps what follows it for the next. */
function lineReader(): (signal: AbortSignal) => Promise<string | undefined> {
  let rest = ''
  let ended = false
  return async (signal) => {
    for (;;) {
      const at = rest.indexOf('\n')
      if (at >= 0) {
        const line = rest.slice(0, at).replace(/\r$/, '')
        rest = rest.slice(at + 1)
        return line
      }
      if (ended) {
        const last = rest
        rest = ''
        return last === '' ? undefined : last
      }
      const chunk = await nextChunk(signal)
      if (chunk === undefined) ended = true
      else rest += chunk
    }
  }
}

function nextChunk(signal: AbortSignal): Promise<string | undefined> {
  const { stdin } = process
  return new Promise((resolve, reject) => {
    const done = (act: () => void) => {
      stdin.off('data', data).off('end', end).off('error', fail)
      signal.removeEventListener('abort', abort)
      stdin.pause()
      act()
    }
    const data = (chunk: Buffer) => done(() => resolve(chunk.toString()))
    const end = () => done(() => resolve(undefined))
    const fail = (error: Error) => done(() => reject(error))
    const abort = () => done(() => reject(signal.reason))
    if (signal.aborted) return reject(signal.reason)
    if (stdin.readableEnded) return resolve(undefined)
    stdin.on('data', data).on('end', end).on('error', fail)
    signal.addEventListener('abort', abort)
    stdin.resume()
  })
}
