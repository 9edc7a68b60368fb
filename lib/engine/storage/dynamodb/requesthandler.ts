/**
 * Sends the requests of the client. The handler of the SDK also streams bodies and watches sockets, for twice the CPU. Here requests and
 * answers are texts of at most some megabytes.
 */
import http, { type ClientRequest, type IncomingMessage } from 'node:http'
import https from 'node:https'

/** What the SDK gives a handler, and takes of its answer. */
interface Sent {
  protocol: string
  hostname: string
  port?: number
  method: string
  path: string
  headers: Record<string, string>
  body?: string | Uint8Array
}
interface Answer {
  statusCode: number
  headers: Record<string, string>
  body: Uint8Array
}

export interface Patience {
  /** Milliseconds until there is a connection. */
  connectionTimeout: number
  /** Milliseconds until the whole answer has arrived. */
  requestTimeout: number
}

/** The connections to one host, as many as the SDK opens. */
const options = { keepAlive: true, maxSockets: 50 }

/** Has the name by which the SDK recognizes what it may send again. */
class TimeoutError extends Error {
  override name = 'TimeoutError'
}

export function requestHandler({ connectionTimeout, requestTimeout }: Patience) {
  const agents = { http: new http.Agent(options), https: new https.Agent(options) }
  return {
    metadata: { handlerProtocol: 'http/1.1' },
    handle: ({ protocol, hostname, port, method, path, headers, body }: Sent): Promise<{ response: Answer }> =>
      new Promise((resolve, reject) => {
        const isPlain = protocol === 'http:'
        const [{ request }, agent] = isPlain ? [http, agents.http] : [https, agents.https]
        const sent = request({ agent, host: hostname, port, method, path, headers })
        const fail = (error: Error) => {
          clearTimeout(timer)
          reject(error)
        }
        const timer = setTimeout(() => sent.destroy(new TimeoutError('the answer takes too long')), requestTimeout)
        limitConnecting(sent, isPlain ? 'connect' : 'secureConnect', connectionTimeout)
        sent.on('error', fail)
        sent.on('response', (answer) => {
          answer.on('error', fail)
          collect(answer, (response) => {
            clearTimeout(timer)
            resolve({ response })
          })
        })
        sent.end(body)
      }),
    destroy() {
      for (const agent of Object.values(agents)) agent.destroy()
    },
    updateHttpClientConfig() {},
    httpHandlerConfigs: () => ({}),
  }
}

/** Ends a request that gets a new connection, if that takes too long. */
function limitConnecting(request: ClientRequest, connected: 'connect' | 'secureConnect', milliseconds: number): void {
  request.on('socket', (socket) => {
    if (!socket.connecting) return
    const timer = setTimeout(() => request.destroy(new TimeoutError('the connection takes too long')), milliseconds)
    socket.once(connected, () => clearTimeout(timer))
    socket.once('close', () => clearTimeout(timer))
  })
}

function collect(answer: IncomingMessage, done: (response: Answer) => void): void {
  const chunks: Buffer[] = []
  answer.on('data', (chunk: Buffer) => chunks.push(chunk))
  answer.on('end', () =>
    done({
      statusCode: answer.statusCode ?? 0,
      headers: answer.headers as Record<string, string>,
      body: chunks[0] && chunks.length === 1 ? chunks[0] : Buffer.concat(chunks),
    }),
  )
}
