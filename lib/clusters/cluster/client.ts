/**
 * Sends requests to a cluster: JSON over TLS only. The client follows no redirects, uses no proxies and reads no files. It passes on
 * nothing of an answer beyond what was requested.
 */

import { parseJson, stringify } from '../../engine/meta/encoding/json.ts'
import { checkDeadline, type Deadline } from '../../engine/meta/errors/deadline.ts'
import type { JsonObject } from '../../engine/meta/types.ts'
import { defined } from '../../engine/meta/value/defined.ts'
import { withoutTrailingSlashes } from '../../engine/meta/value/slashes.ts'
import { isObject, own } from '../../engine/meta/value/walk.ts'
import { OutboundError, outboundError } from '../../engine/outbound/failure.ts'
import { type HttpsAnswer, sendHttps } from '../../engine/outbound/https.ts'
import type { Credentials } from './credentials.ts'
import { ClusterError, type ClusterFailure, clusterError, type Missing } from './failure.ts'

interface ClusterRequest {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Path below the API's address, beginning with a slash. */
  path: string
  body?: object
  /** Aborts the request, with failure `timeout`. */
  signal: AbortSignal
}

export interface ClusterClient {
  /** The name for messages: see clusterError. */
  name: string
  /** Returns the JSON object of a 2xx answer. Rejects with a ClusterError otherwise. */
  send(request: ClusterRequest): Promise<JsonObject>
}

/** Limit for one answer, framing included. A signing request with a chain of certificates has a few KiB. */
const MAX_ANSWER_BYTES = 1024 * 1024

/**
 * Returns a client of one cluster, which uses one connection for each request unless it `keepsConnections`: then a request may take
 * effect twice. See clusterError for `name`.
 */
export function createClusterClient(
  name: string,
  credentials: Credentials,
  { keepsConnections = false } = {},
): ClusterClient {
  return {
    name,
    async send(wanted) {
      try {
        const answer = await exchange(credentials, wanted, keepsConnections)
        const failure = statusFailure(answer.status)
        const missing = failure === 'not-found' ? missingOf(answer) : undefined
        if (failure) throw clusterError(failure, name, '', new Error(`HTTP status ${answer.status}`), missing)
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

function exchange(
  credentials: Credentials,
  { method, path, body, signal }: ClusterRequest,
  keepsConnection: boolean,
): Promise<HttpsAnswer> {
  const { server, certificateAuthority, token, clientCertificate } = credentials
  return sendHttps({
    url: new URL(withoutTrailingSlashes(server) + path),
    method,
    signal,
    maxBytes: MAX_ANSWER_BYTES,
    keepsConnection,
    ...defined({ certificateAuthority, clientCertificate }),
    headers: {
      Accept: 'application/json',
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    },
    ...(body !== undefined && { body: stringify(body) }),
  })
}

function parse({ headers, body }: HttpsAnswer): JsonObject {
  if (!/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? '')) throw new OutboundError('garbage')
  let value: unknown
  try {
    // The depth is limited, so that later code can walk the value.
    ;({ value } = parseJson(body.toString('utf8')))
  } catch {
    // The parser's message would quote the text.
    throw new OutboundError('garbage')
  }
  if (!isObject(value)) throw new OutboundError('garbage')
  return value
}

/** Returns what is missing by the Status of a Kubernetes API. A proxy that does not know the path says nothing of the kind. */
function missingOf(answer: HttpsAnswer): Missing | undefined {
  try {
    const { kind, details } = parse(answer)
    return kind === 'Status' ? MISSING.find((one) => isObject(details) && own(details, 'kind') === one) : undefined
  } catch {
    return undefined
  }
}

const MISSING: readonly Missing[] = ['secrets', 'serviceaccounts', 'namespaces']

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

function asClusterError(error: unknown, name: string, signal: AbortSignal): ClusterError {
  if (error instanceof ClusterError) return error
  if (signal.aborted) return clusterError('timeout', name, '', error)
  const { failure, cause } = outboundError(error)
  return clusterError(failure, name, '', cause)
}
