/**
 * Runs the demo virtual cluster: an HTTPS server with its own certificate authority that responds like a small kube-apiserver.
 * It signs client certificates, authenticates their holders and serves two pods.
 */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { rfc3339 } from '../../../lib/engine/meta/encoding/time.ts'
import {
  badRequest,
  internalError,
  requestEntityTooLarge,
  StatusError,
  unsupportedMediaType,
} from '../../../lib/engine/meta/errors/status.ts'
import { isObject } from '../../../lib/engine/meta/value/walk.ts'
import { issueLoopback } from '../host/certificates.ts'
import type { ReviewAccess } from './accessreview.ts'
import { authenticateClient, type Role, type VerifyToken } from './clusteraccess.ts'
import { createViews } from './clustercontent.ts'
import { type ClusterServices, route } from './clusterroutes.ts'
import { type ClusterStateOptions, openClusterState } from './clusterstate.ts'
import { createCsrApi } from './csrapi.ts'
import type { JsonMembers } from './csrobject.ts'

export interface VirtualCluster {
  /** `https://127.0.0.1:PORT` */
  url: string
  /** PEM of the authority that signed its serving certificate. */
  certificateAuthority: string
  /** Bearer tokens by role. */
  token: Readonly<Record<Role, string>>
  /** Verifies all other tokens with `verify` from now on, and authorizes their users with `review`. */
  accept(verify: VerifyToken, review: ReviewAccess): void
  close(): Promise<void>
}

/** kube-apiserver's limit. */
const MAX_BODY_BYTES = 3 * 1024 * 1024

/** Starts the cluster. Throws a StartupError for a damaged file. */
export async function startVirtualCluster(options: ClusterStateOptions): Promise<VirtualCluster> {
  const { authority, tokens, port: lastPort, keepPort } = await openClusterState(options)
  const { now } = options
  const serving = await issueLoopback(authority, now())
  const started = now()
  const time = (): string => rfc3339(new Date(now()))
  let verifyToken: VerifyToken = async () => undefined
  let reviewAccess: ReviewAccess = async () => undefined
  const services: ClusterServices = {
    csr: createCsrApi(authority, now),
    review: (user, asked) => reviewAccess(user, asked),
    views: createViews(started, randomUUID),
    age: () => `${Math.floor((now() - started) / 1000)}s`,
    time,
  }
  const server = createServer(
    {
      cert: serving.certificate,
      key: serving.key,
      ca: authority.certificate,
      requestCert: true,
      // A missing or invalid certificate fails the request, not the connection.
      rejectUnauthorized: false,
      minVersion: 'TLSv1.2',
    },
    async (request, response) => {
      try {
        const { authorization, accept = '' } = request.headers
        const user = await authenticateClient(request.socket as TLSSocket, authorization, tokens, verifyToken, now())
        const url = new URL(request.url ?? '/', 'https://cluster')
        const answer = await route(
          {
            method: request.method ?? '',
            path: url.pathname,
            query: url.searchParams,
            accept,
            user,
            body: () => readBody(request),
          },
          services,
        )
        send(request, response, answer.status, answer.body)
      } catch (error) {
        const { status } = error instanceof StatusError ? error : internalError(error)
        send(request, response, status.code, status)
      }
    },
  )
  const port = await listen(server, lastPort)
  await keepPort(port)

  return {
    url: `https://127.0.0.1:${port}`,
    certificateAuthority: authority.certificate,
    token: tokens,
    accept(verify, review) {
      verifyToken = verify
      reviewAccess = review
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Returns the port, or a free one when it is in use. */
async function listen(server: ReturnType<typeof createServer>, port: number): Promise<number> {
  const attempt = (wanted: number) =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(wanted, '127.0.0.1', () => {
        server.off('error', reject)
        resolve()
      })
    })
  await attempt(port).catch(() => attempt(0))
  return (server.address() as AddressInfo).port
}

async function readBody(request: IncomingMessage): Promise<JsonMembers> {
  const type = (request.headers['content-type'] ?? 'application/json').split(';')[0]?.trim().toLowerCase()
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BODY_BYTES) throw requestEntityTooLarge(`limit is ${MAX_BODY_BYTES}`)
    chunks.push(chunk)
  }
  if (size === 0 && request.method === 'DELETE') return {}
  if (type !== 'application/json') throw unsupportedMediaType(['application/json'])
  let value: unknown
  try {
    value = JSON.parse(Buffer.concat(chunks).toString('utf8'))
  } catch {
    throw badRequest('the object provided is unrecognized: json parse error')
  }
  if (isObject(value)) return value
  throw badRequest('the object provided is unrecognized: it is not an object')
}

function send(request: IncomingMessage, response: ServerResponse, status: number, body: object | string): void {
  const text = typeof body === 'string' ? body : `${JSON.stringify(body)}\n`
  response.writeHead(status, {
    'content-type': typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-cache, private',
    'audit-id': randomUUID(),
    ...(!request.complete && { connection: 'close' }),
  })
  response.end(request.method === 'HEAD' ? undefined : text)
}
