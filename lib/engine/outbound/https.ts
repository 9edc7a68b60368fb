/**
 * Sends one request over TLS 1.2 or later. It follows no redirect, uses no proxy, reads no file, and keeps no connection unless it is
 * asked to. The size of the answer is limited, and one signal ends the request at any point.
 */
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { Agent, type RequestOptions, request } from 'node:https'
import { buffer } from 'node:stream/consumers'
import { PROGRAM } from '../meta/program.ts'
import { checkHost, type Destinations, lookupAllowed } from './addresses.ts'
import { OutboundError, type OutboundFailure, outboundError } from './failure.ts'

interface HttpsRequest {
  url: URL
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  headers?: Readonly<Record<string, string>>
  body?: string
  /** Aborts the request, with failure `timeout`. */
  signal: AbortSignal
  /** Limit for the answer, framing included. */
  maxBytes: number
  /** PEM of the trusted authorities. Default: the public ones. */
  certificateAuthority?: string
  /** PEM. */
  clientCertificate?: { certificate: string; key: string }
  /** Limits where the request may go. Default: anywhere. */
  destinations?: Destinations
  /**
   * Uses a connection that was kept, and keeps it. A request whose connection was gone is sent once more, so it may take effect twice.
   * Not together with `destinations`, which are checked when a connection is made.
   */
  keepsConnection?: boolean
}

/** An answer with any status. */
export interface HttpsAnswer {
  status: number
  headers: IncomingHttpHeaders
  body: Buffer
}

/** Returns the answer. Rejects with an OutboundError if there is none. */
export async function sendHttps(wanted: HttpsRequest): Promise<HttpsAnswer> {
  try {
    if (wanted.destinations) checkHost(wanted.url)
    return await exchange(wanted)
  } catch (error) {
    throw wanted.signal.aborted ? new OutboundError('timeout', error) : outboundError(error)
  }
}

/** Connections to servers that are asked often. They differ in the credentials and authorities as well (Agent.getName of Node). */
const kept = new Agent({ keepAlive: true, maxSockets: 16, maxFreeSockets: 4 })

function exchange(wanted: HttpsRequest): Promise<HttpsAnswer> {
  return new Promise((resolve, reject) => {
    let answered = false
    const outgoing = request(wanted.url, options(wanted), (incoming) => {
      answered = true
      receive(incoming).then(resolve, (error) => {
        outgoing.destroy()
        reject(error)
      })
    })
    limit(outgoing, wanted.maxBytes, reject)
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      // The server has closed the connection meanwhile, or the process was frozen.
      const wasGone = outgoing.reusedSocket && !answered && ['ECONNRESET', 'EPIPE'].includes(error.code ?? '')
      if (wasGone && !wanted.signal.aborted) exchange({ ...wanted, keepsConnection: false }).then(resolve, reject)
      else reject(error)
    })
    outgoing.end(wanted.body)
  })
}

/**
 * Aborts invalid answers. An answer may exceed the limit in parts that the HTTP parser hides: interim answers, empty
 * lines and the framing of single bytes. After a protocol change, not even the signal would end the request.
 */
function limit(outgoing: ClientRequest, maxBytes: number, refuse: (error: OutboundError) => void): void {
  const end = (failure: OutboundFailure) => {
    refuse(new OutboundError(failure))
    outgoing.destroy()
  }
  outgoing.on('socket', (socket) => {
    let size = 0
    const count = (chunk: Buffer) => {
      size += chunk.length
      if (size > maxBytes) end('too-large')
    }
    socket.on('data', count)
    outgoing.on('close', () => socket.off('data', count))
  })
  outgoing.on('upgrade', (_, socket) => {
    socket.destroy()
    end('garbage')
  })
}

function options(wanted: HttpsRequest): RequestOptions {
  const { method, signal, headers, body, certificateAuthority, clientCertificate, destinations, keepsConnection } =
    wanted
  return {
    method,
    signal,
    // Ignores proxy settings of the environment. `false` is a separate connection.
    agent: keepsConnection ? kept : false,
    // Explicit, because NODE_TLS_REJECT_UNAUTHORIZED would change the default.
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
    ...(certificateAuthority !== undefined && { ca: certificateAuthority }),
    ...(clientCertificate && { cert: clientCertificate.certificate, key: clientCertificate.key }),
    ...(destinations && { lookup: lookupAllowed(destinations) }),
    headers: {
      'Accept-Encoding': 'identity',
      'User-Agent': PROGRAM,
      ...(keepsConnection ? {} : { Connection: 'close' }),
      ...headers,
      ...(body !== undefined && { 'Content-Length': Buffer.byteLength(body) }),
    },
  }
}

async function receive(incoming: IncomingMessage): Promise<HttpsAnswer> {
  const { statusCode: status = 0, headers } = incoming
  return { status, headers, body: await buffer(incoming) }
}
