/**
 * Sends one request over TLS 1.2 or later. It follows no redirect, uses no proxy, reads no file and keeps no connection.
 * The size of the answer is limited, and one signal ends the request at any point.
 */
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { type RequestOptions, request } from 'node:https'
import { buffer } from 'node:stream/consumers'
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

function exchange(wanted: HttpsRequest): Promise<HttpsAnswer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(wanted.url, options(wanted), (incoming) => {
      receive(incoming).then(resolve, (error) => {
        outgoing.destroy()
        reject(error)
      })
    })
    limit(outgoing, wanted.maxBytes, reject)
    outgoing.on('error', reject)
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
    socket.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > maxBytes) end('too-large')
    })
  })
  outgoing.on('upgrade', (_, socket) => {
    socket.destroy()
    end('garbage')
  })
}

function options(wanted: HttpsRequest): RequestOptions {
  const { method, signal, headers, body, certificateAuthority, clientCertificate, destinations } = wanted
  return {
    method,
    signal,
    // Use a separate connection and ignore proxy settings of the environment.
    agent: false,
    // Explicit, because NODE_TLS_REJECT_UNAUTHORIZED would change the default.
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
    ...(certificateAuthority !== undefined && { ca: certificateAuthority }),
    ...(clientCertificate && { cert: clientCertificate.certificate, key: clientCertificate.key }),
    ...(destinations && { lookup: lookupAllowed(destinations) }),
    headers: {
      'Accept-Encoding': 'identity',
      'User-Agent': 'keyplane',
      Connection: 'close',
      ...headers,
      ...(body !== undefined && { 'Content-Length': Buffer.byteLength(body) }),
    },
  }
}

async function receive(incoming: IncomingMessage): Promise<HttpsAnswer> {
  const { statusCode: status = 0, headers } = incoming
  return { status, headers, body: await buffer(incoming) }
}
