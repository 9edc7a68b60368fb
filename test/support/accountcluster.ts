/**
 * Simulates the part of an API server that issues tokens of service accounts bound to Secrets, over TLS. It works correctly by default.
 * `test/cluster/serviceaccounts.spec.ts` does the same with a real one.
 */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { onTestFinished } from 'vitest'
import type { Credentials } from '../../lib/clusters/cluster/credentials.ts'
import { listeningOverTls } from './listeningovertls.ts'

export type Step = 'create' | 'token' | 'delete'

interface Call {
  step: Step
  // biome-ignore lint/suspicious/noExplicitAny: whatever was sent
  body: any
  response: ServerResponse
  answer(code: number, body: object): void
  /** Answers as a healthy cluster. */
  proceed(): Promise<void>
}

export interface AccountCluster {
  /** A name for its object. No other one of this process has it, because the server keeps the secret of a name for a while. */
  name: string
  url: string
  credentials: Credentials & { token: string; certificateAuthority: string }
  /** The same as a kube config, as a secret of the deployment has it. */
  kubeConfig: string
  /** `METHOD path` of each request. */
  calls: string[]
  /** How many connections clients have made. */
  connections(): number
  /** The uids of the Secrets, by `namespace/name`. */
  secrets: Map<string, { uid: string; metadata: Record<string, unknown> }>
  /** The accounts, as `namespace/name`. */
  accounts: Set<string>
  namespaces: Set<string>
  /** Simulates other answers. */
  plays: Partial<Record<Step, (call: Call) => void | Promise<void>>>
  /** Reports whether a bearer token is one of keyplane. */
  knows(token: string): boolean
  /** Seconds by which its clock is ahead. */
  ahead: number
  /** Reports whether it accepts a token at this moment. */
  accepts(token: string): boolean
}

const TOKEN = 'token-of-keyplane'

const status = (code: number, reason: string, kind = '') => ({
  kind: 'Status',
  apiVersion: 'v1',
  status: 'Failure',
  code,
  reason,
  message: 'password hunter2',
  ...(kind && { details: { kind } }),
})

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

let started = 0

/** Returns a token in the form of those of Kubernetes, which only this cluster accepts. */
export const encodeToken = (claims: object): string => `${encode({ alg: 'RS256' })}.${encode(claims)}.c2ln`

export async function startAccountCluster(host?: string): Promise<AccountCluster> {
  const sockets = new Set<unknown>()
  const now = () => Math.floor(Date.now() / 1000) + cluster.ahead

  async function healthy(request: IncomingMessage, { step, body, answer }: Omit<Call, 'proceed'>): Promise<void> {
    const [, , , , namespace = '', , name = ''] = (request.url ?? '').split('/')
    if (step === 'create') {
      if (!cluster.namespaces.has(namespace)) return answer(404, status(404, 'NotFound', 'namespaces'))
      const key = `${namespace}/${body.metadata.name}`
      if (cluster.secrets.has(key)) return answer(409, status(409, 'AlreadyExists', 'secrets'))
      const uid = randomUUID()
      cluster.secrets.set(key, { uid, metadata: body.metadata })
      return answer(201, { ...body, metadata: { ...body.metadata, uid } })
    }
    if (step === 'delete') {
      const key = `${namespace}/${name}`
      const found = cluster.secrets.get(key)
      if (!found) return answer(404, status(404, 'NotFound', 'secrets'))
      cluster.secrets.delete(key)
      const details = { name, kind: 'secrets', uid: found.uid }
      return answer(200, { kind: 'Status', apiVersion: 'v1', status: 'Success', details })
    }
    if (!cluster.accounts.has(`${namespace}/${name}`)) return answer(404, status(404, 'NotFound', 'serviceaccounts'))
    const { expirationSeconds, boundObjectRef } = body.spec
    const bound = cluster.secrets.get(`${namespace}/${boundObjectRef.name}`)
    if (!bound) return answer(404, status(404, 'NotFound', 'secrets'))
    const exp = now() + expirationSeconds
    const secret = { name: boundObjectRef.name, uid: bound.uid }
    const token = encodeToken({
      iat: now(),
      exp,
      'kubernetes.io': { namespace, secret, serviceaccount: { name, uid: 'u' } },
    })
    answer(201, {
      ...body,
      status: { token, expirationTimestamp: new Date(exp * 1000).toISOString().replace('.000', '') },
    })
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    sockets.add(request.socket)
    const answer = (code: number, body: object) => {
      response.writeHead(code, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
    }
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    cluster.calls.push(`${request.method} ${request.url}`)
    if (!cluster.knows(String(request.headers.authorization).replace('Bearer ', '')))
      return answer(401, status(401, 'Unauthorized'))
    const text = Buffer.concat(chunks).toString()
    const body = text ? JSON.parse(text) : undefined
    const step = request.method === 'DELETE' ? 'delete' : request.url?.endsWith('/token') ? 'token' : 'create'
    const call = { step, body, response, answer } as const
    const proceed = () => healthy(request, call)
    await (cluster.plays[step] ?? (({ proceed }: Call) => proceed()))({ ...call, proceed })
  }

  const { url, certificateAuthority, stop } = await listeningOverTls((request, response) => {
    serve(request, response).catch((error) => response.destroy(error))
  }, host)
  const authority = Buffer.from(certificateAuthority).toString('base64')
  const cluster: AccountCluster = {
    name: `accounts-${++started}`,
    url,
    credentials: { server: url, certificateAuthority, token: TOKEN },
    kubeConfig: JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'c', cluster: { server: url, 'certificate-authority-data': authority } }],
      users: [{ name: 'u', user: { token: TOKEN } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    }),
    calls: [],
    connections: () => sockets.size,
    secrets: new Map(),
    accounts: new Set(['keyplane/user.alice']),
    namespaces: new Set(['keyplane']),
    plays: {},
    knows: (token) => token === TOKEN,
    ahead: 0,
    accepts(token) {
      const { exp, 'kubernetes.io': bound } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
      const { namespace, secret } = bound
      return exp > now() && cluster.secrets.get(`${namespace}/${secret.name}`)?.uid === secret.uid
    },
  }
  onTestFinished(stop)
  return cluster
}
