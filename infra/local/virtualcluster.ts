/**
 * The demo virtual cluster: an HTTPS server with an authority of its own that answers like a small kube-apiserver. It
 * signs client certificates, knows who presents one, and has two pods to look at.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import {
  badRequest,
  internalError,
  requestEntityTooLarge,
  StatusError,
  unsupportedMediaType,
} from '../../lib/meta/errors.ts'
import { issueLoopback, type KeyPair, keepAuthority } from './certificates.ts'
import { authenticate, type Role, type VerifyToken } from './clusteraccess.ts'
import { createViews } from './clustercontent.ts'
import { type ClusterServices, route } from './clusterroutes.ts'
import { createCsrApi } from './csrapi.ts'
import type { Members } from './csrvalidation.ts'
import { openStored } from './stored.ts'

export interface VirtualClusterOptions {
  /** Keeps authority, port and tokens; absent = in memory. */
  path?: string
  /** Unix milliseconds. */
  now: () => number
}

/** The demo, or a real kube-apiserver in its place. */
export interface VirtualCluster {
  /** `https://127.0.0.1:PORT` */
  url: string
  /** PEM of the authority that signed its serving certificate. */
  certificateAuthority: string
  /** A bearer token of a role. */
  token: Readonly<Record<Role, string>>
  /** From now on tokens are also put to this; before, there are no others than those of the roles. */
  accept(verify: VerifyToken): void
  close(): Promise<void>
}

interface ClusterState {
  authority: KeyPair
  /** So that kube configs of yesterday find it again. */
  port: number
  tokens: Record<Role, string>
}

/** kube-apiserver's own limit. */
const MAX_BODY_BYTES = 3 * 1024 * 1024

/** Throws a StartupError for a damaged file. */
export async function startVirtualCluster({ path, now }: VirtualClusterOptions): Promise<VirtualCluster> {
  const stored = await openStored<ClusterState | Record<string, never>>(path, {})
  const kept = stored.state as Partial<ClusterState>
  const authority = await keepAuthority(kept.authority, 'keyplane demo virtual cluster', now())
  const tokens = kept.tokens ?? { manager: newToken(), approver: newToken(), requester: newToken() }
  const serving = await issueLoopback(authority, now())
  const started = now()
  const time = (): string => `${new Date(now()).toISOString().slice(0, 19)}Z`
  const services: ClusterServices = {
    csr: createCsrApi(authority, now),
    views: createViews(started, randomUUID),
    age: () => `${Math.floor((now() - started) / 1000)}s`,
    time,
  }
  let verifyToken: VerifyToken = async () => undefined

  const server = createServer(
    {
      cert: serving.certificate,
      key: serving.key,
      ca: authority.certificate,
      requestCert: true,
      // Without a certificate, or with a bad one, it is for the request to be refused, not for the connection.
      rejectUnauthorized: false,
      minVersion: 'TLSv1.2',
    },
    async (request, response) => {
      try {
        const { authorization, accept = '' } = request.headers
        const user = await authenticate(request.socket as TLSSocket, authorization, tokens, verifyToken, now())
        const url = new URL(request.url ?? '/', 'https://cluster')
        const answer = await route(
          {
            method: request.method ?? '',
            path: url.pathname,
            watch: url.searchParams.has('watch') && !/^(false|0|f)$/i.test(url.searchParams.get('watch') ?? ''),
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
  const port = await listen(server, kept.port ?? 0)
  if (kept.port !== port || kept.authority !== authority)
    await stored.change((draft) => Object.assign(draft, { authority, port, tokens }))

  return {
    url: `https://127.0.0.1:${port}`,
    certificateAuthority: authority.certificate,
    token: tokens,
    accept(verify) {
      verifyToken = verify
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const newToken = (): string => randomBytes(32).toString('base64url')

/** The port, or a free one when somebody else has it. */
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

async function readBody(request: IncomingMessage): Promise<Members> {
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
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Members
  throw badRequest('the object provided is unrecognized: it is no object')
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
