/**
 * A DynamoDB that a part of the SDK's calls does not get through to, or hears nothing from: the emulator behind a proxy.
 * A call that fails, fails with all of its tries. Seeded: the same calls in the same order meet with the same faults.
 */
import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

export type Fault =
  /** Refused for being too many; nothing is done. */
  | 'throttled'
  /** The connection ends before anything is done. */
  | 'lost'
  /** It is done, and the connection ends before the answer. */
  | 'unanswered'
  /** Silence until the client has given up; only then it is done. */
  | 'late'
  /** A transaction holds an item; nothing is done. */
  | 'conflict'
  /** 500; nothing is done. */
  | 'broken'

export interface Weather {
  /** Of calls, from 0 to 1. */
  share: number
  /** What befalls them, each as often as it stands here. */
  faults: readonly Fault[]
  /** Only these operations (`TransactWriteItems`); all when absent. */
  operations?: readonly string[]
}

export interface BadNetwork {
  endpoint: string
  /** From now on. */
  weather: Weather
  /** How many calls met with what; `none` of those that went well. */
  met: Map<Fault | 'none', number>
  /** The most tries that one call took. */
  mostTries(): number
  stop(): Promise<void>
}

/** Somewhat longer than the functions' clients wait. */
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

  /** Once for all tries of a call, which have an id in common. */
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
    const forward = () => forwarded(target, agent, incoming, body)
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
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return Object.assign(network, { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
}

function refuse(outgoing: ServerResponse, status: number, name: string, more: object = {}): void {
  const body = JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: 'injected', ...more })
  outgoing.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(body)
}

function forwarded(target: string, agent: Agent, { method, headers }: IncomingMessage, body: Buffer) {
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
