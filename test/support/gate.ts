/** Proxies an HTTP service and holds requests until the test releases them. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

export interface Gate {
  endpoint: string
  /** Holds every request for this operation until `open`; resolves when the first one has arrived. */
  hold(operation: string): { arrived: Promise<void>; open(): void }
  stop(): Promise<void>
}

const isFor = ({ headers }: IncomingMessage, operation: string): boolean =>
  String(headers['x-amz-target']).endsWith(`.${operation}`)

/** `target` is `http://HOST:PORT`. */
export async function startGate(target: string): Promise<Gate> {
  let held: { operation: string; arrive(): void; opened: Promise<void> } | undefined
  async function pass(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(incoming)
    if (held && isFor(incoming, held.operation)) {
      held.arrive()
      await held.opened
    }
    const { method, headers } = incoming
    const outgoing = request(new URL(incoming.url ?? '/', target), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    outgoing.on('error', () => response.destroy())
    outgoing.end(body)
  }
  const server = createServer((incoming, response) => void pass(incoming, response).catch(() => response.destroy()))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hold(operation) {
      const arrived = Promise.withResolvers<void>()
      const opened = Promise.withResolvers<void>()
      held = { operation, arrive: arrived.resolve, opened: opened.promise }
      const open = () => {
        held = undefined
        opened.resolve()
      }
      return { arrived: arrived.promise, open }
    },
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
