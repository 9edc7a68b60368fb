/**
 * A child process that is spoken to over its own input and output, in JSON-RPC 2.0 with one message a line: a channel that
 * no other user of the machine reaches. The process ends with its input, so it never outlives this one.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { reasonIn } from '../host/guardedprocess.ts'

export interface RpcProcess {
  /** Of the process group. */
  pid: number
  /** Resolves when the process has ended, whoever ended it, with the line of its error output that says why. */
  ended: Promise<string>
  /** The result. Rejects with what the process says is wrong with the call, and when it ends before it answers. */
  call(method: string, params: object): Promise<unknown>
  notify(method: string): void
  /** Resolves when it has ended: with its input, after two seconds by SIGKILL. */
  stop(): Promise<void>
}

interface Message {
  id?: number
  result?: unknown
  error?: { message: string }
}

/** Keeps the files that the process makes from others, and becomes the process. */
const PRIVATE = 'umask 077; exec "$@"'

/** Characters of error output that are kept: the end of it says why a process ended. */
const MAX_SAID = 8192
const PATIENCE = 2000

/** In a process group of its own: Ctrl-C is for the server, which still needs its parts while it stops. */
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

/** Calls `take` with each whole line. Chunks are joined once a line, so that long lines cost no more than their length. */
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
