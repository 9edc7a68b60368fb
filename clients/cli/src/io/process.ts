/** Connects commands with the streams, the clock and the signals of this process. */
import { spawn } from 'node:child_process'
import { addAbortSignal } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { asSentence } from '../../../core/src/answers.ts'
import { shellOf } from '../../../core/src/shellwords.ts'
import { reasonOf } from './filefailure.ts'
import { hiddenLine, lineReader } from './input.ts'
import type { Io } from './io.ts'
import { parentProcess } from './parent.ts'

/** The exit code of a process whose reader is gone, as shells report SIGPIPE. */
const BROKEN_PIPE = 141
const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const
/** What ends a process besides those, and is passed on with them. SIGBREAK is Ctrl-Break of Windows. */
const PASSED: readonly NodeJS.Signals[] = [
  ...(['SIGQUIT', 'SIGBREAK', 'SIGABRT', 'SIGTRAP', 'SIGSYS', 'SIGUSR1', 'SIGUSR2', 'SIGALRM'] as const),
  ...(['SIGVTALRM', 'SIGXCPU', 'SIGPWR', 'SIGIO', 'SIGSTKFLT'] as const),
]
/** How long a command may clean up after a signal. */
const CLEANUP_MILLISECONDS = 2000

const opened = new Set<'stdout' | 'stderr'>()

/** Writes to a stream, which opens it: that takes longer than answering from a cache. */
function write(name: 'stdout' | 'stderr', text: string, fail: (error: NodeJS.ErrnoException) => void): void {
  const stream = process[name]
  if (!opened.has(name)) {
    opened.add(name)
    stream.on('error', fail)
  }
  stream.write(text, (error) => error && fail(error))
}

/** Ends the process, because nobody gets its result. */
function failOutput(error: NodeJS.ErrnoException, ifLost: string | undefined): never {
  const isGone = error.code === 'EPIPE'
  const message = isGone ? [] : [asSentence(`Error: Standard output cannot be written: ${reasonOf(error)}`)]
  const said = [...message, ...(ifLost === undefined ? [] : [ifLost])].map((line) => `${line}\n`).join('')
  if (said !== '') process.stderr.write(said)
  process.exit(isGone ? BROKEN_PIPE : 1)
}

function detach(program: string, args: readonly string[]): void {
  spawn(program, args, { detached: true, stdio: 'ignore', windowsHide: true })
    .on('error', () => {})
    .unref()
}

/** Returns the program that opens a URL, and its arguments. None is a shell, which could take a part of the URL for something else. */
export function browserCall(platform: NodeJS.Platform, url: string): [program: string, args: string[]] {
  if (platform === 'darwin') return ['open', [url]]
  return platform === 'win32' ? ['rundll32', ['url.dll,FileProtocolHandler', url]] : ['xdg-open', [url]]
}

/** Returns the Io of this process, and the exit code of a command that a signal ended. */
export function processIo(): { io: Io; interrupted(): number } {
  const controller = new AbortController()
  let code = SIGNALS.SIGINT as number
  let receive: ((signal: NodeJS.Signals) => void) | undefined
  for (const [signal, exitCode] of Object.entries(SIGNALS)) {
    process.on(signal, () => {
      if (receive) return receive(signal as NodeJS.Signals)
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
    parent: parentProcess,
    shell: shellOf(process.env, process.platform),
    now: () => new Date(),
    elapsed: () => performance.now(),
    pause: (milliseconds, signal = controller.signal) => sleep(milliseconds, undefined, { signal }),
    out: (text, ifLost) => write('stdout', text, (error) => failOutput(error, ifLost)),
    // What is done must not depend on whether somebody reads of it.
    err: (text) => write('stderr', text, () => {}),
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
    startDetached: (args) => detach(process.execPath, [process.argv[1] ?? '', ...args]),
    openBrowser: (url) => detach(...browserCall(process.platform, url)),
    signal: controller.signal,
    passSignals: (listener) => {
      receive = listener
      for (const signal of PASSED) process.on(signal, listener)
      return () => {
        receive = undefined
        for (const signal of PASSED) process.off(signal, listener)
      }
    },
  }
  return { io, interrupted: () => code }
}
