/**
 * Sends requests to a virtual cluster: JSON over TLS only. The client follows no redirects, uses no proxies, reads no
 * files and keeps no connections. It passes on nothing of an answer beyond what was requested.
 */

import type { ClientRequest, IncomingMessage } from 'node:http'
import { type RequestOptions, request } from 'node:https'
import { parseJson, stringify } from '../../meta/encoding/json.ts'
import { checkDeadline, type Deadline } from '../../meta/errors/deadline.ts'
import type { JsonObject } from '../../meta/types.ts'
import { withoutTrailingSlashes } from '../../meta/value/slashes.ts'
import { isObject, own } from '../../meta/value/walk.ts'
import type { Credentials } from './credentials.ts'
import { ClusterError, type ClusterFailure, clusterError } from './failure.ts'

export interface ClusterRequest {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Path below the API's address, beginning with a slash. */
  path: string
  body?: object
  /** Aborts the request, with failure `timeout`. */
  signal: AbortSignal
}

export interface ClusterClient {
  /** NAMESPACE/NAME, for messages. */
  name: string
  /** Returns the JSON object of a 2xx answer. Rejects with a ClusterError otherwise. */
  send(request: ClusterRequest): Promise<JsonObject>
}

/** Limit for one answer, framing included. A signing request with a chain of certificates has a few KiB. */
const MAX_ANSWER_BYTES = 1024 * 1024

/** Returns a client of one virtual cluster that uses one connection for each request. `name` is NAMESPACE/NAME. */
export function createClusterClient(name: string, credentials: Credentials): ClusterClient {
  return {
    name,
    async send(wanted) {
      try {
        const answer = await exchange(credentials, wanted)
        const failure = statusFailure(answer.status)
        if (failure) throw clusterError(failure, name, '', new Error(`HTTP status ${answer.status}`))
        return parse(answer)
      } catch (error) {
        throw asClusterError(error, name, wanted.signal)
      }
    },
  }
}

/**
 * Returns a client that rejects requests after the deadline (504). Deletions are still sent, to clean up. The deadline
 * is checked because a process that was frozen may see an answer before its signal.
 */
export const withDeadline = (client: ClusterClient, deadline: Deadline): ClusterClient => ({
  name: client.name,
  async send(request) {
    if (request.method !== 'DELETE') checkDeadline(deadline)
    return client.send(request)
  },
})

interface Answer {
  status: number
  type: string
  text: string
}

function exchange(credentials: Credentials, wanted: ClusterRequest): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const body = wanted.body === undefined ? undefined : stringify(wanted.body)
    const url = new URL(withoutTrailingSlashes(credentials.server) + wanted.path)
    const outgoing = request(url, options(credentials, wanted, body), (incoming) => {
      receive(incoming).then(resolve, (error) => {
        outgoing.destroy()
        reject(error)
      })
    })
    limit(outgoing, reject)
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

/**
 * Aborts invalid answers. An answer may exceed the limit in parts that the HTTP parser hides: interim answers, empty
 * lines and the framing of single bytes. After a protocol change, not even the signal would end the request.
 */
function limit(outgoing: ClientRequest, refuse: (error: Refused) => void): void {
  const end = (failure: ClusterFailure) => {
    refuse(new Refused(failure))
    outgoing.destroy()
  }
  outgoing.on('socket', (socket) => {
    let size = 0
    socket.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > MAX_ANSWER_BYTES) end('too-large')
    })
  })
  outgoing.on('upgrade', (_, socket) => {
    socket.destroy()
    end('garbage')
  })
}

function options(
  credentials: Credentials,
  { method, signal }: ClusterRequest,
  body: string | undefined,
): RequestOptions {
  const { certificateAuthority, token, clientCertificate } = credentials
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
    headers: {
      Accept: 'application/json',
      'Accept-Encoding': 'identity',
      'User-Agent': 'keyplane',
      Connection: 'close',
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }),
    },
  }
}

async function receive(incoming: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk)
  const { statusCode = 0, headers } = incoming
  return { status: statusCode, type: headers['content-type'] ?? '', text: Buffer.concat(chunks).toString('utf8') }
}

function parse({ type, text }: Answer): JsonObject {
  if (!/^application\/json\s*(;|$)/i.test(type)) throw new Refused('garbage')
  let value: unknown
  try {
    // The depth is limited, so that later code can walk the value.
    ;({ value } = parseJson(text))
  } catch {
    // The parser's message would quote the text.
    throw new Refused('garbage')
  }
  if (!isObject(value)) throw new Refused('garbage')
  return value
}

function statusFailure(status: number): ClusterFailure | undefined {
  if (status >= 200 && status < 300) return undefined
  if (status >= 300 && status < 400) return 'redirect'
  if (status >= 500) return 'failing'
  return BY_STATUS[status] ?? (status >= 400 ? 'rejected' : 'garbage')
}

const BY_STATUS: Readonly<Record<number, ClusterFailure>> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not-found',
  409: 'conflict',
  429: 'busy',
}

/** A failure in the answer, raised where the name of the cluster is unknown. */
class Refused extends Error {
  readonly failure: ClusterFailure

  constructor(failure: ClusterFailure) {
    super(failure)
    this.failure = failure
  }
}

function asClusterError(error: unknown, name: string, signal: AbortSignal): ClusterError {
  if (error instanceof ClusterError) return error
  if (signal.aborted) return clusterError('timeout', name, '', error)
  if (error instanceof Refused) return clusterError(error.failure, name)
  return clusterError(codeFailure((error as NodeJS.ErrnoException).code ?? ''), name, '', withoutMessage(error))
}

/**
 * Returns the error without text from the other side. For example, the message for a name mismatch lists all names of
 * the certificate.
 */
function withoutMessage(error: unknown): unknown {
  const { code = 'no code', syscall } = error as NodeJS.ErrnoException
  return syscall === undefined ? new Error(code) : error
}

/** Maps Node's error codes: from the system, OpenSSL's verification (X509_V_ERR_…), TLS and the HTTP parser. */
function codeFailure(code: string): ClusterFailure {
  const known = own(BY_CODE, code)
  if (known) return known
  if (code.startsWith('HPE_')) return 'garbage'
  return /^(ERR_SSL|ERR_TLS|EPROTO|CERT_|CRL_|UNABLE_)/.test(code) ? 'tls' : 'unroutable'
}

const BY_CODE: Readonly<Record<string, ClusterFailure>> = {
  ECONNREFUSED: 'refused',
  ENOTFOUND: 'unknown-host',
  EAI_AGAIN: 'unknown-host',
  ETIMEDOUT: 'timeout',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  ERR_STREAM_PREMATURE_CLOSE: 'reset',
  ERR_TLS_CERT_ALTNAME_INVALID: 'wrong-name',
  CERT_HAS_EXPIRED: 'expired-certificate',
  CERT_NOT_YET_VALID: 'expired-certificate',
  SELF_SIGNED_CERT_IN_CHAIN: 'untrusted',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'untrusted',
  UNABLE_TO_GET_ISSUER_CERT: 'untrusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'untrusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'untrusted',
  CERT_SIGNATURE_FAILURE: 'untrusted',
  CERT_UNTRUSTED: 'untrusted',
}
