/** Sends requests over keep-alive connections with HTTP/1.1 and TLS, which both servers support. */
import https from 'node:https'

export interface Served {
  /** Root of the API, before `/apis/…`. */
  base: string
  certificateAuthority: string
  token: string
}

export interface Sent {
  method: string
  path: string
  body?: unknown
  type?: string
}

/** The server is overloaded and returned 429 or 503. */
export class Refused extends Error {}

export interface Connections {
  /** Returns the body of an answer with this status. Throws Refused on 429 and 503, and an error on any other status. */
  send(expected: number, sent: Sent): Promise<Buffer>
  close(): void
}

export function openConnections({ base, certificateAuthority, token }: Served, count: number): Connections {
  const agent = new https.Agent({ ca: certificateAuthority, keepAlive: true, maxSockets: count, maxFreeSockets: count })
  return {
    send: (expected, { method, path, body, type = 'application/json' }) =>
      new Promise((resolve, reject) => {
        const text = body === undefined ? undefined : JSON.stringify(body)
        const headers = {
          authorization: `Bearer ${token}`,
          accept: 'application/json',
          ...(text !== undefined && { 'content-type': type, 'content-length': Buffer.byteLength(text) }),
        }
        const sent = https.request(`${base}${path}`, { method, agent, headers }, (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.on('error', reject)
          response.on('end', () => {
            const received = Buffer.concat(chunks)
            if (response.statusCode === expected) resolve(received)
            else if (response.statusCode === 429 || response.statusCode === 503) reject(new Refused())
            else reject(new Error(`${method} ${path}: ${response.statusCode} ${received.toString().slice(0, 300)}`))
          })
        })
        sent.on('error', reject)
        sent.end(text)
      }),
    close: () => agent.destroy(),
  }
}
