/**
 * Puts the DynamoDB emulator behind a proxy that fails a share of the SDK's calls. A failing call fails with all of its
 * tries. The seed decides: the same calls in the same order have the same faults.
 */

import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { listening } from './listening.ts'

export type Fault =
  /** Throttled; not executed. */
  | 'throttled'
  /** The connection closes before execution. */
  | 'lost'
  /** Executed; the connection closes before the answer. */
  | 'unanswered'
  /** Executed only after the client has timed out. */
  | 'late'
  /** A transaction conflict; not executed. */
  | 'conflict'
  /** 500; not executed. */
  | 'broken'

export interface Weather {
  /** The share of failing calls, from 0 to 1. */
  share: number
  /** Faults, each as likely as its number of entries. */
  faults: readonly Fault[]
  /** Only these operations (`TransactWriteItems`); all when absent. */
  operations?: readonly string[]
}

export interface BadNetwork {
  endpoint: string
  /** From now on. */
  weather: Weather
  /** The number of calls by fault; `none` for calls without a fault. */
  met: Map<Fault | 'none', number>
  /** The highest number of tries of one call. */
  mostTries(): number
  stop(): Promise<void>
}

/** Slightly longer than the timeout of the functions' clients. */
const silenceMs = 1200

const reads = new Set(['GetItem', 'BatchGetItem', 'Query'])

/** `random` in [0, 1). */
export async function startBadNetwork(target: string, random: () => number): Promise<BadNetwork> {
  const agent = new Agent({ keepAlive: true })
  const decided = new Map<string, Fault | undefined>()
  const tries = new Map<string, number>()
  const network: Omit<BadNetwork, 'endpoint'> = {
    weather: { share: 0, faults: [] },
    met: new Map(),
    mostTries: () => Math.max(...tries.values()),
    async stop() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
      agent.destroy()
    },
  }

  /** Decides once for all tries of a call, which share an ID. */
  function faultOf(call: string, operation: string): Fault | undefined {
    tries.set(call, (tries.get(call) ?? 0) + 1)
    if (decided.has(call)) return decided.get(call)
    const { share, faults, operations } = network.weather
    const isMeant = operations === undefined || operations.includes(operation)
    const fault = isMeant && random() < share ? faults[Math.floor(random() * faults.length)] : undefined
    decided.set(call, fault)
    network.met.set(fault ?? 'none', (network.met.get(fault ?? 'none') ?? 0) + 1)
    return fault
  }

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    const operation = String(incoming.headers['x-amz-target']).split('.').at(-1) ?? ''
    const forward = () => sendOn(target, agent, incoming, body)
    const fault = faultOf(String(incoming.headers['amz-sdk-invocation-id']), operation)
    if (fault === 'throttled') return refuse(outgoing, 400, 'ProvisionedThroughputExceededException')
    if (fault === 'broken' || (fault === 'conflict' && reads.has(operation)))
      return refuse(outgoing, 500, 'InternalServerError')
    if (fault === 'conflict' && operation === 'TransactWriteItems') {
      const { TransactItems } = JSON.parse(body.toString()) as { TransactItems: unknown[] }
      const CancellationReasons = TransactItems.map((_, index) => ({
        Code: index === 0 ? 'TransactionConflict' : 'None',
      }))
      return refuse(outgoing, 400, 'TransactionCanceledException', { CancellationReasons })
    }
    if (fault === 'conflict') return refuse(outgoing, 400, 'TransactionConflictException')
    if (fault === 'late') await delay(silenceMs)
    if (fault !== 'lost') {
      const { status, headers, text } = await forward()
      if (fault === undefined) return void outgoing.writeHead(status, headers).end(text)
    }
    outgoing.destroy()
  }

  const server = createServer((incoming, outgoing) => {
    serve(incoming, outgoing).catch(() => outgoing.destroy())
  })
  const { url } = await listening(server)
  return Object.assign(network, { endpoint: url })
}

function refuse(outgoing: ServerResponse, status: number, name: string, more: object = {}): void {
  const body = JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: 'injected', ...more })
  outgoing.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(body)
}

function sendOn(target: string, agent: Agent, { method, headers }: IncomingMessage, body: Buffer) {
  return new Promise<{ status: number; headers: IncomingMessage['headers']; text: Buffer }>((resolve, reject) => {
    const { host: _, ...rest } = headers
    const sent = request(target, { method, agent, headers: rest }, async (answer) => {
      const chunks: Buffer[] = []
      for await (const chunk of answer as AsyncIterable<Buffer>) chunks.push(chunk)
      resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text: Buffer.concat(chunks) })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
