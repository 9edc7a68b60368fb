/**
 * Runs a child process that speaks JSON-RPC 2.0 over its standard input and output, one message per line. No other user of the
 * machine can reach that channel. The process exits when its input closes, so it never outlives its parent.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { reasonIn } from '../host/guardedprocess.ts'

export interface RpcProcess {
  /** ID of the process group. */
  pid: number
  /** Resolves, with the line of error output that gives the reason, when the process has exited for any reason. */
  ended: Promise<string>
  /** Returns the result. Rejects with the error of the process, and when the process exits before it responds. */
  call(method: string, params: object): Promise<unknown>
  notify(method: string): void
  /** Closes the input, after two seconds sends SIGKILL, and resolves when the process has exited. */
  stop(): Promise<void>
}

interface Message {
  id?: number
  result?: unknown
  error?: { message: string }
}

/** Makes new files private to their owner, then becomes the process. */
const PRIVATE = 'umask 077; exec "$@"'

/** Characters of error output that are kept; the end contains the reason of an exit. */
const MAX_SAID = 8192
const PATIENCE = 2000

/** Starts the process in its own process group: Ctrl-C must reach only the server, which needs its parts while it stops. */
export function startRpcProcess(binary: string, args: readonly string[]): RpcProcess {
  const child = spawn('/bin/sh', ['-c', PRIVATE, 'private', binary, ...args], { stdio: 'pipe', detached: true })
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  let over = false
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    said = `${said}${chunk}`.slice(-MAX_SAID)
  })
  const ended = Promise.race([once(child, 'close'), once(child, 'error')]).then(() => {
    const why = reasonIn(said)
    for (const { reject } of waiting.values()) reject(new Error(`the process has ended: ${why}`))
    over = true
    return why
  })
  child.stdin.on('error', () => undefined)
  onLines(child.stdout, (line) => {
    const { id = 0, result, error } = JSON.parse(line) as Message
    if (error) waiting.get(id)?.reject(new Error(error.message))
    else waiting.get(id)?.resolve(result)
    waiting.delete(id)
  })
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  let calls = 0
  return {
    pid: child.pid ?? 0,
    ended,
    call(method, params) {
      if (over) return Promise.reject(new Error('the process has ended'))
      const answer = Promise.withResolvers<unknown>()
      waiting.set(++calls, answer)
      send({ id: calls, method, params })
      return answer.promise
    },
    notify: (method) => void send({ method }),
    async stop() {
      child.stdin.end()
      const late = setTimeout(() => child.kill('SIGKILL'), PATIENCE)
      await ended
      clearTimeout(late)
    },
  }
}

/** Calls `take` with each complete line. Joins chunks once per line, so that long lines take linear time. */
function onLines(stream: NodeJS.ReadableStream, take: (line: string) => void): void {
  let pieces: string[] = []
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    const [rest = '', ...more] = chunk.split('\n')
    pieces.push(rest)
    for (const start of more) {
      take(pieces.join(''))
      pieces = [start]
    }
  })
}
