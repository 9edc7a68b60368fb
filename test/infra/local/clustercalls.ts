/** Starts a virtual cluster for a test, with calls as any user, as the certificate manager, and for certificates. */
import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile } from 'node:fs/promises'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import type { KeyPair } from '../../../infra/local/host/certificates.ts'
import { startVirtualCluster, type VirtualCluster } from '../../../infra/local/virtualcluster/virtualcluster.ts'
import { createCertificateRequest } from '../../../lib/clusters/certificates/certificaterequest.ts'

export const CSRS = '/apis/certificates.k8s.io/v1/certificatesigningrequests'

interface Call {
  method?: string
  body?: unknown
  token?: string
  certificate?: KeyPair
  headers?: Record<string, string>
}

interface Answer {
  code: number
  // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes, compared with literals.
  body: any
}

export const base64 = (text: string): string => Buffer.from(text).toString('base64')
const newName = (): string => `csr-${randomBytes(6).toString('hex')}`

export interface Wanted {
  name?: string
  user?: string
  groups?: string[]
  spec?: object
}

/** Creates a certificate request with the given changes, and its key. */
export async function csr({ name = newName(), user = 'alice', groups = ['dev'], spec = {} }: Wanted = {}) {
  const { request, key } = await createCertificateRequest(user, groups)
  const object = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name, labels: { by: 'test' } },
    spec: {
      request: base64(request),
      signerName: 'kubernetes.io/kube-apiserver-client',
      usages: ['client auth'],
      ...spec,
    },
  }
  return { name, key, object }
}

/** Returns the request with an approval. */
export const approval = (object: { status?: object }, condition = {}) => ({
  ...object,
  status: {
    ...object.status,
    conditions: [{ type: 'Approved', status: 'True', reason: 'Test', message: 'yes', ...condition }],
  },
})

/** Starts one cluster for all tests of a file. `clock.time` is its wall clock in Unix milliseconds. */
export function useVirtualCluster() {
  const clock = { time: Date.now() }
  let cluster: VirtualCluster
  let authority: KeyPair
  beforeAll(async () => {
    const path = join(await mkdtemp(join(tmpdir(), 'keyplane-test-')), 'virtualcluster.json')
    cluster = await startVirtualCluster({ path, now: () => clock.time })
    authority = JSON.parse(await readFile(path, 'utf8')).state.authority
  })
  afterAll(() => cluster?.close())

  function call(path: string, { method = 'GET', body, token, certificate, headers = {} }: Call = {}): Promise<Answer> {
    const text = typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body)
    return new Promise((resolve, reject) => {
      const outgoing = request(
        `${cluster.url}${path}`,
        {
          method,
          ca: cluster.certificateAuthority,
          agent: false,
          ...(certificate && { cert: certificate.certificate, key: certificate.key }),
          headers: {
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(text),
            ...(token !== undefined && { authorization: `Bearer ${token}` }),
            ...headers,
          },
        },
        async (incoming) => {
          const received = Buffer.concat(await incoming.toArray()).toString('utf8')
          const json = incoming.headers['content-type'] === 'application/json'
          resolve({ code: incoming.statusCode ?? 0, body: json ? JSON.parse(received) : received })
        },
      )
      outgoing.on('error', reject)
      outgoing.end(text)
    })
  }

  const asManager = (path: string, rest: Call = {}) => call(path, { token: cluster.token.manager, ...rest })

  const create = async (wanted: Wanted = {}) => {
    const { object, ...rest } = await csr(wanted)
    const { code, body } = await asManager(CSRS, { method: 'POST', body: object })
    return { ...rest, code, body }
  }

  /** Waits until the request is signed or failed. Signing follows the approval asynchronously. */
  async function waitForSigning(name: string) {
    for (;;) {
      const { body } = await asManager(`${CSRS}/${name}`)
      if (body.status.certificate || body.status.conditions.some(({ type }: { type: string }) => type === 'Failed'))
        return body
    }
  }

  async function signCertificate(wanted: Wanted = {}) {
    const { name, key, body } = await create(wanted)
    await asManager(`${CSRS}/${name}/approval`, { method: 'PUT', body: approval(body) })
    const { status } = await waitForSigning(name)
    const certificate = Buffer.from(status.certificate ?? '', 'base64').toString('utf8')
    return { certificate, key, status }
  }

  return {
    clock,
    cluster: () => cluster,
    /** The file contains the authority, which tests may use. */
    authority: () => authority,
    call,
    asManager,
    create,
    waitForSigning,
    signCertificate,
  }
}
