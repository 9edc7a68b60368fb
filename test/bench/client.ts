/** Requests over so many keep-alive connections of HTTP/1.1 and TLS, which both servers speak. */
import https from 'node:https'
import type { Served } from './processes.ts'

export interface Sent {
  method: string
  path: string
  body?: unknown
  type?: string
}

/** The server has too much to do, and says so: 429 or 503. */
export class Refused extends Error {}

export interface Connections {
  /** The body of an answer with this status; throws Refused, and an error for any other. */
  send(expected: number, sent: Sent): Promise<Buffer>
  close(): void
}

export function connections({ base, certificateAuthority, token }: Served, count: number): Connections {
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
