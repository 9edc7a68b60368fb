/**
 * Simulates the certificates API of a virtual cluster over TLS. It works correctly by default and can simulate each
 * failure. It checks what kube-apiserver checks (uid, resourceVersion, preconditions).
 */

import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { TLSSocket } from 'node:tls'
import { afterEach, beforeAll } from 'vitest'
import type { Credentials } from '../../../lib/clusters/cluster/credentials.ts'
import { listening } from '../../support/listening.ts'
import { type Authority, type Pair, testAuthority, type Wish } from './authority.ts'

export type Step = 'create' | 'approve' | 'read' | 'delete'

interface SigningRequest {
  metadata: { name: string; uid: string; resourceVersion: string; labels?: Record<string, string> }
  spec: { request: string; signerName: string; usages: string[]; expirationSeconds?: number }
  status: { conditions?: { type: string; status: string }[]; certificate?: string }
}

export interface Call {
  step: Step
  /** `METHOD path`. */
  line: string
  // biome-ignore lint/suspicious/noExplicitAny: whatever was sent
  body: any
  stored: SigningRequest | undefined
  response: ServerResponse
  answer(code: number, body: object): void
  /** Returns the answer of a healthy cluster. */
  proceed(): Promise<void>
}

/** Simulates a step. Without an answer, the client keeps waiting. */
export type Play = (call: Call) => void | Promise<void>

export interface FaultyCluster {
  url: string
  /** Token of an administrator of the cluster. */
  credentials: Credentials & { token: string }
  calls: { step: Step; line: string; body: unknown }[]
  stored: Map<string, SigningRequest>
  close(): Promise<void>
}

export interface ClusterOptions {
  authority: Authority
  plays?: Partial<Record<Step, Play>>
  /** Its own certificate; default: for 127.0.0.1 and localhost. */
  server?: Pair
  /** What the signer adds to the request before it signs. */
  signed?: Wish
  /** Number of reads of a request before it is signed. */
  readsBeforeSigned?: number
}

const TOKEN = 'cluster-administrator-token'
const status = (code: number, reason: string) => ({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason })

export async function startFaultyCluster(options: ClusterOptions): Promise<FaultyCluster> {
  const { authority, plays = {}, readsBeforeSigned = 1 } = options
  const stored = new Map<string, SigningRequest>()
  const calls: FaultyCluster['calls'] = []
  const tls =
    options.server ?? (await authority.pair({ names: ['127.0.0.1', 'localhost'], usages: ['1.3.6.1.5.5.7.3.1'] }))
  let reads = 0

  async function healthy({ step, body, stored: known, answer }: Call): Promise<void> {
    if (step === 'create') {
      const made = { ...body, status: {} }
      made.metadata = { ...body.metadata, uid: randomUUID(), resourceVersion: '1' }
      stored.set(made.metadata.name, made)
      return answer(201, made)
    }
    if (!known) return answer(404, status(404, 'NotFound'))
    if (step === 'approve') {
      const { uid, resourceVersion } = body.metadata
      if (uid !== known.metadata.uid || resourceVersion !== known.metadata.resourceVersion) {
        return answer(409, status(409, 'Conflict'))
      }
      known.status.conditions = body.status.conditions
      known.metadata.resourceVersion = String(Number(resourceVersion) + 1)
    }
    if (
      step === 'read' &&
      ++reads >= readsBeforeSigned &&
      known.status.conditions?.some(({ type }) => type === 'Approved')
    ) {
      const pem = await authority.sign(Buffer.from(known.spec.request, 'base64').toString(), wishFor(known, options))
      known.status.certificate = Buffer.from(pem).toString('base64')
    }
    if (step === 'delete') {
      const uid = body?.preconditions?.uid
      if (uid !== undefined && uid !== known.metadata.uid) return answer(409, status(409, 'Conflict'))
      stored.delete(known.metadata.name)
      return answer(200, { kind: 'Status', apiVersion: 'v1', status: 'Success' })
    }
    answer(200, known)
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = (code: number, body: object) => {
      response.writeHead(code, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
    }
    const certificate = (request.socket as TLSSocket).getPeerCertificate()
    if (request.headers.authorization !== `Bearer ${TOKEN}` && certificate.subject?.CN !== 'administrator') {
      return answer(401, status(401, 'Unauthorized'))
    }
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString()
    const body = text ? JSON.parse(text) : undefined
    const path = (request.url ?? '').split('/certificatesigningrequests')[1] ?? ''
    const step = stepOf(request.method, path)
    const line = `${request.method} ${request.url}`
    calls.push({ step, line, body })
    const call = { step, line, body, stored: stored.get(path.split('/')[1] ?? ''), response, answer }
    const proceed = () => healthy({ ...call, proceed: async () => undefined })
    await (plays[step] ?? (({ proceed }) => proceed()))({ ...call, proceed })
  }

  const server = createServer(
    { cert: tls.certificate, key: tls.key, ca: authority.certificate, requestCert: true, rejectUnauthorized: false },
    (request, response) => {
      serve(request, response).catch((error) => response.destroy(error))
    },
  )
  const { port, stop } = await listening(server)
  const url = `https://127.0.0.1:${port}`
  return {
    url,
    credentials: { server: url, certificateAuthority: authority.certificate, token: TOKEN },
    calls,
    stored,
    close: stop,
  }
}

/** Returns clusters of one authority for the tests of a file. Each stops with the test that started it. */
export function useFaultyClusters(): {
  readonly authority: Authority
  start(options?: Partial<ClusterOptions>): Promise<FaultyCluster>
} {
  let authority: Authority
  const started: FaultyCluster[] = []
  beforeAll(async () => {
    authority = await testAuthority()
  })
  afterEach(async () => {
    for (const cluster of started.splice(0)) await cluster.close()
  })
  return {
    get authority() {
      return authority
    },
    async start(options = {}) {
      const cluster = await startFaultyCluster({ authority, ...options })
      started.push(cluster)
      return cluster
    },
  }
}

function stepOf(method = '', path: string): Step {
  if (method === 'POST') return 'create'
  if (method === 'PUT' && path.endsWith('/approval')) return 'approve'
  return method === 'DELETE' ? 'delete' : 'read'
}

function wishFor({ spec }: SigningRequest, { signed = {} }: ClusterOptions): Wish {
  const seconds = spec.expirationSeconds ?? 365 * 86_400
  return { notAfter: new Date(Date.now() + seconds * 1000), ...signed }
}
