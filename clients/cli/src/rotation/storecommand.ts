/** Runs the command that stores a new value. The value reaches it on standard input alone, and no secret appears in its output or its environment. */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { duration } from '../../../core/src/durations.ts'
import { CliError } from '../io/errors.ts'
import type { Io } from '../io/io.ts'
import { redactor, withoutSecrets } from './redact.ts'

const isWindows = process.platform === 'win32'

/**
 * Runs the command "$@" with a pipe as its standard input. Node.js itself would give it a socket, and programs cannot open
 * /dev/stdin if that is one. The command begins only when the value has arrived, so that it never stores half of it because
 * this process was killed. File descriptor 3 gets the process id of the command, and 4 what the command has not read.
 */
const WRAPPER = `read -r ready || exit 125
cat | {
  sh -c 'echo $$ >&3; exec "$@" 3>&-' sh "$@" 4>&-
  status=$?
  cat >&4
  exit $status
}`

/** How long the command may take to end after each signal. After Ctrl-C, this process itself ends within two seconds. */
const GRACE_MILLISECONDS = { late: 5000, interrupted: 500 }
/** How long to wait for output after the end of the command. Programs that it left behind may hold the pipe. */
const OUTPUT_MILLISECONDS = 1000

/**
 * Runs the command to its end. Throws a CliError unless it has read the value and ended with 0 in time. `oldValue` is the one that this
 * program uses, which the command must not get.
 */
export async function storeValue(
  io: Io,
  command: readonly string[],
  { value, oldValue }: { value: string; oldValue: string },
  timeoutSeconds: number,
): Promise<void> {
  const secrets = [value, oldValue]
  const [program = '', ...args] = isWindows ? command : ['sh', '-c', WRAPPER, 'sh', ...command]
  // Other commands need not load it, and the plugin of kubectl must start quickly.
  const { spawn } = await import('node:child_process')
  const child = spawn(program, args, {
    env: withoutSecrets(io.env, secrets),
    stdio: ['pipe', 'pipe', 'pipe', 'pipe', 'pipe'],
  })
  const began = once(child, 'spawn')
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  ended.catch(() => {})
  await began.catch((error: Error) => {
    throw new CliError(`${program} cannot be started: ${error.message}`, { cause: error })
  })
  const output = collect(io, child, secrets)
  const [stdin] = child.stdio as [Writable, ...unknown[]]
  const refused = once(stdin, 'error').then(() => true)
  stdin.end(isWindows ? value : `ready\n${value}`)

  const stopped = await endOf(io, child, ended, () => output.pid, timeoutSeconds)
  await within(io, OUTPUT_MILLISECONDS, output.read)
  output.end()
  const isUnread = output.unread || (await Promise.race([refused, turn(false)]))
  // Otherwise what the command has left behind keeps this process alive as long as it holds the pipes.
  for (const stream of child.stdio) stream?.destroy()
  const [code, signal] = await ended
  const shown = command[0] ?? ''
  if (stopped === 'interrupted') throw io.signal.reason
  if (stopped === 'late') throw new CliError(`${shown} did not end within ${duration(timeoutSeconds)} and was stopped.`)
  if (code !== 0) {
    throw new CliError(`${shown} ${code === null ? `was ended by ${signal}` : `failed with exit code ${code}`}.`)
  }
  if (isUnread) {
    throw new CliError(`${shown} has not read the new value from its standard input, so it cannot have stored it.`)
  }
}

interface Output {
  /** The process id of the command, once it is known. */
  pid: number | undefined
  /** Whether the command has left something of its standard input. */
  unread: boolean
  /** Resolves when all has been read. */
  read: Promise<unknown>
  end(): void
}

/** Writes all output of the command to standard error, because standard output is for the result. */
function collect(io: Io, child: ChildProcess, secrets: readonly string[]): Output {
  const [, stdout, stderr, pids, rest] = child.stdio as [Writable, Readable, Readable, Readable, Readable]
  const redactors = [stdout, stderr].map((stream) => {
    const one = redactor(secrets, io.err)
    stream.on('data', one.push)
    return one
  })
  const output: Output = {
    pid: undefined,
    unread: false,
    read: Promise.all([stdout, stderr, rest].map((stream) => once(stream, 'end'))),
    end: () => redactors.forEach((one) => void one.end()),
  }
  let text = ''
  pids.on('data', (chunk: Buffer) => {
    text += chunk.toString()
    if (text.endsWith('\n')) output.pid = Number(text)
  })
  rest.on('data', () => {
    output.unread = true
  })
  return output
}

/** Waits for the end of the command. Ends it after the timeout, and when this process gets a signal. */
async function endOf(
  io: Io,
  child: ChildProcess,
  ended: Promise<unknown>,
  pid: () => number | undefined,
  timeoutSeconds: number,
): Promise<'late' | 'interrupted' | undefined> {
  const { signal } = io
  const over = new AbortController()
  const stopped = io.pause(timeoutSeconds * 1000, AbortSignal.any([signal, over.signal])).then(
    () => 'late' as const,
    () => 'interrupted' as const,
  )
  const why = await Promise.race([ended.then(() => undefined), stopped])
  over.abort()
  if (why === undefined) return signal.aborted ? 'interrupted' : undefined
  const graces = GRACE_MILLISECONDS[why]
  // In a terminal, Ctrl-C has reached the command already.
  if (why === 'interrupted') await within(io, graces, ended)
  for (const one of ['SIGTERM', 'SIGKILL'] as const) {
    if (child.exitCode !== null || child.signalCode !== null) break
    send(one, pid() ?? child.pid)
    await within(io, graces, ended)
  }
  return why
}

/** Waits for the work, but no longer than this, also after a signal. */
async function within({ pause }: Io, milliseconds: number, work: Promise<unknown>): Promise<void> {
  const over = new AbortController()
  await Promise.race([work, pause(milliseconds, over.signal).catch(() => {})])
  over.abort()
}

function send(signal: NodeJS.Signals, pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
