/** Sends the request of a step and reads the whole answer. */
import http from 'node:http'
import https from 'node:https'
import { setTimeout as delay } from 'node:timers/promises'
import type { Json, Request, Step } from './scenario.ts'

/** A server for scenarios. */
export interface Target {
  /** Root of the API without a trailing slash. */
  base: string
  certificateAuthority: string
  /** The group of paths that begin with one slash. Default: the group of this API. */
  group?: string
  /** Bearer tokens by the names in steps; '' is the token of steps without a name. */
  tokens: Readonly<Record<string, string>>
}

export interface Reply {
  code: number
  headers: Readonly<Record<string, string>>
  text: string
  /** Parsed lines of a watch. */
  events: Json[]
  /** Whether the server ended the answer. */
  ended: boolean
}

const answerSeconds = 60
const watchSeconds = 5

export interface Client {
  send(step: Step): Promise<Reply>
  close(): void
}

/** As many as client-go makes. */
const MOST_TRIES = 10

/**
 * Reports whether a busy server asks to repeat a request, which had no effect. Clients of Kubernetes do so by themselves, and no
 * recording has such an answer.
 */
const isOverloaded = ({ code, headers }: Reply): boolean => code === 503 && headers['retry-after'] !== undefined

export function createClient(target: Target): Client {
  const { base, certificateAuthority: ca, group = 'management.platform' } = target
  const { Agent, request } = base.startsWith('https:') ? https : http
  const agent = new Agent({ ...(ca && { ca }), keepAlive: true })

  /** `reads` gets the number of events whenever some have arrived. */
  async function exchange(step: Step, reads: (events: number) => void = () => undefined): Promise<Reply> {
    const path = step.path.startsWith('//') ? step.path.slice(1) : `/apis/${group}/v1${step.path}`
    const text = step.body === undefined || typeof step.body === 'string' ? step.body : JSON.stringify(step.body)
    const headers = headersOf(target, step, text)
    const options = { method: step.method, agent, headers }
    return new Promise((resolve, reject) => {
      const sent = request(`${base}${path}`, options, (response) => {
        const lines = createLines()
        const streams = step.watch !== undefined && response.statusCode === 200
        const most = streams ? (step.watch?.events ?? 0) : 0
        const finish = (ended: boolean): void => {
          clearTimeout(timer)
          sent.destroy()
          const events = lines.complete.slice(0, most).map((line) => JSON.parse(line))
          const code = response.statusCode ?? 0
          resolve({ code, headers: joinHeaders(response.headers), text: lines.text(), events, ended })
        }
        const seconds = streams ? (step.watch?.seconds ?? watchSeconds) : answerSeconds
        const timer = setTimeout(() => finish(false), seconds * 1000)
        response.on('data', (chunk: Buffer) => {
          lines.add(chunk)
          reads(lines.complete.length)
          if (streams && lines.complete.length >= most) finish(false)
        })
        response.on('end', () => finish(true))
        response.on('error', () => finish(false))
      })
      sent.on('error', reject)
      sent.end(text)
    })
  }

  return {
    async send(step) {
      const waiting = [...(step.during ?? [])]
      const sent: Promise<Reply>[] = []
      let reply = await exchange(step, (events) => {
        for (const request of waiting.splice(0, events - sent.length)) sent.push(exchange(request))
      })
      for (let tries = 1; isOverloaded(reply) && tries < MOST_TRIES; tries++) {
        await delay(Number(reply.headers['retry-after']) * 1000)
        reply = await exchange(step)
      }
      await Promise.all(sent)
      return reply
    },
    close: () => agent.destroy(),
  }
}

function headersOf(target: Target, step: Request & { as?: string }, text: string | undefined): Record<string, string> {
  const token = step.as === 'none' ? undefined : target.tokens[step.as ?? '']
  const all: Record<string, string | null> = {
    accept: 'application/json',
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(text !== undefined && typeof step.body !== 'string' && { 'content-type': 'application/json' }),
    ...step.headers,
    ...(text !== undefined && { 'content-length': String(Buffer.byteLength(text)) }),
  }
  return Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null))
}

const joinHeaders = (headers: NodeJS.Dict<string | string[]>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]))

/** Collects bytes and returns complete non-empty lines. */
function createLines() {
  const chunks: Buffer[] = []
  const complete: string[] = []
  // A chunk may end in the middle of a character.
  const decoder = new TextDecoder()
  let rest = ''
  return {
    complete,
    add(chunk: Buffer): void {
      chunks.push(chunk)
      const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n')
      rest = parts.pop() ?? ''
      complete.push(...parts.map((part) => part.trim()).filter(Boolean))
    },
    text: (): string => Buffer.concat(chunks).toString(),
  }
}
