/**
 * Tests each failure of a virtual cluster through the whole API. The answer is a Status with nothing but the name of the
 * virtual cluster and the cause, and nothing is left behind in the virtual cluster.
 */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { kubeConfigFile } from '../../infra/local/host/kubeconfigfile.ts'
import { testAuthority } from '../lib/kubeconfig/authority.ts'
import {
  type ClusterOptions,
  type FaultyCluster,
  type Play,
  startFaultyCluster,
} from '../lib/kubeconfig/faultycluster.ts'
import { instance, instances } from '../support/objects.ts'
import type { Answer } from '../support/request.ts'
import { startServer, type TestServer } from '../support/server.ts'

/** Text in every answer of a failing virtual cluster, and in no answer of this API. */
const SAID = 'hunter2'
/** A token that is unknown to every virtual cluster. */
const STRANGER = 'token-of-nobody'

interface Failing extends Partial<ClusterOptions> {
  /** Credentials that replace the valid ones. */
  credentials?: { server?: string; certificateAuthority?: string; token?: string }
  status: [502 | 503 | 504, 'ServiceUnavailable' | 'Timeout']
  cause: string
}

const refuse =
  (code: number): Play =>
  ({ answer }) =>
    answer(code, { kind: 'Status', code, message: SAID })
const condition =
  (type: string): Play =>
  async ({ stored, proceed }) => {
    if (stored) stored.status.conditions = [{ type, status: 'True', message: SAID } as { type: string; status: string }]
    await proceed()
  }
const nothing: Play = () => {}
const raw =
  (text: string): Play =>
  ({ response }) =>
    void response.writeHead(201, { 'content-type': 'application/json' }).end(text)

const reach = 'cannot be reached: '
const unavailable: Failing['status'] = [503, 'ServiceUnavailable']
const late: Failing['status'] = [504, 'Timeout']
const bad: Failing['status'] = [502, 'ServiceUnavailable']

const failures: Record<string, Failing> = {
  refused: {
    credentials: { server: 'https://127.0.0.1:1' },
    status: unavailable,
    cause: `${reach}the connection was refused`,
  },
  untrusted: {
    credentials: { certificateAuthority: 'another' },
    status: unavailable,
    cause: `${reach}its certificate is not signed by the trusted authority`,
  },
  'no-tls': {
    credentials: { server: 'plain' },
    status: unavailable,
    cause: `${reach}no secure connection could be made`,
  },
  '401': {
    credentials: { token: STRANGER },
    status: bad,
    cause: 'does not accept the stored credentials',
  },
  '403': {
    plays: { create: refuse(403) },
    status: bad,
    cause: 'does not permit this with the stored credentials',
  },
  'no-approval': {
    plays: { approve: refuse(403) },
    status: bad,
    cause: 'does not permit this with the stored credentials',
  },
  denied: { plays: { read: condition('Denied') }, status: bad, cause: 'denied the certificate' },
  failed: { plays: { read: condition('Failed') }, status: bad, cause: 'failed to sign the certificate' },
  'never-signed': {
    readsBeforeSigned: Number.POSITIVE_INFINITY,
    status: late,
    cause: 'did not sign the certificate in time',
  },
  slow: { plays: { approve: nothing }, status: late, cause: 'did not answer in time' },
  'slow-to-read': { plays: { read: nothing }, status: late, cause: 'did not answer in time' },
  garbage: { plays: { create: raw(`<html>${SAID}`) }, status: bad, cause: 'gave an invalid answer' },
  'garbage-later': { plays: { read: raw('[]') }, status: bad, cause: 'gave an invalid answer' },
  endless: {
    plays: { read: raw(`"${SAID.repeat(1_000_000)}"`) },
    status: bad,
    cause: 'gave an answer that is too large',
  },
  deep: {
    plays: {
      create: ({ body, ...call }) => {
        const depth = 200_000
        const request = '['.repeat(depth) + ']'.repeat(depth)
        raw(JSON.stringify({ ...body, spec: { request: SAID } }).replace(`"${SAID}"`, request))({ body, ...call })
      },
    },
    status: bad,
    cause: 'gave an invalid answer',
  },
  upgrade: {
    plays: {
      approve: ({ response }) =>
        void response.socket?.write(
          `HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: ${SAID}\r\n\r\n`,
        ),
    },
    status: bad,
    cause: 'gave an invalid answer',
  },
  interim: {
    plays: {
      read: ({ response: { socket } }) => {
        const more = () => {
          if (socket?.writable) socket.write(`HTTP/1.1 103 Early Hints\r\nLink: ${SAID}\r\n\r\n`.repeat(1000), more)
        }
        socket?.on('error', () => undefined)
        more()
      },
    },
    status: bad,
    cause: 'gave an answer that is too large',
  },
  failing: { plays: { approve: refuse(500) }, status: bad, cause: 'reports an internal error' },
  broken: {
    plays: { read: ({ response }) => void response.socket?.destroy() },
    status: unavailable,
    cause: `${reach}the connection was broken`,
  },
  somebody: {
    signed: { user: SAID },
    status: bad,
    cause: 'signed a certificate that does not match the request: it is for another user',
  },
}

let server: TestServer
let plain: Server
const clusters = new Map<string, FaultyCluster>()
const answers = new Map<string, Answer>()

/** Requests a client certificate from a virtual cluster that fails in the named way. */
async function fail(name: string, { credentials = {}, ...options }: Failing, authorities: Authorities): Promise<void> {
  const cluster = await startFaultyCluster({ authority: authorities.right, ...options })
  clusters.set(name, cluster)
  const wrong = credentials.certificateAuthority && authorities.wrong.certificate
  const written = {
    ...cluster.credentials,
    ...credentials,
    certificateAuthority: wrong || authorities.right.certificate,
  }
  if (credentials.server === 'plain') written.server = `https://127.0.0.1:${(plain.address() as AddressInfo).port}`
  await server.keepCredentials(`p-f/vc-${name}`, kubeConfigFile({ name: 'manager', ...written }))
  const spec = { accessPoint: { ingress: { host: 'vc.example.com' } } }
  await server.make(instances('p-f'), instance(`vc-${name}`, spec))
  const path = `${instances('p-f')}/vc-${name}/kubeconfig`
  answers.set(name, await server.call(path, { method: 'POST', body: { spec: { clientCert: true } } }))
}

interface Authorities {
  right: Awaited<ReturnType<typeof testAuthority>>
  wrong: Awaited<ReturnType<typeof testAuthority>>
}

beforeAll(async () => {
  server = await startServer()
  plain = createServer((socket) => socket.on('error', () => {}).end('HTTP/1.1 400 Bad Request\r\n\r\n'))
  plain.listen(0, '127.0.0.1')
  await once(plain, 'listening')
  const authorities = { right: await testAuthority(), wrong: await testAuthority() }
  // Runs all concurrently, because some take as long as the API waits.
  await Promise.all(Object.entries(failures).map(([name, failing]) => fail(name, failing, authorities)))
}, 120_000)
afterAll(async () => {
  await Promise.all([...clusters.values()].map((cluster) => cluster.close()))
  plain?.close()
  await server?.stop()
})

describe.each(Object.entries(failures))('the failure %s', (name, { status, cause }) => {
  const [code, reason] = status

  test('returns a Status that names the virtual cluster and the cause', () => {
    const { json, status: answered } = answers.get(name) ?? { status: 0, json: undefined }
    expect([answered, json]).toEqual([
      code,
      expect.objectContaining({
        kind: 'Status',
        status: 'Failure',
        code,
        reason,
        message: `${code === 504 ? 'Timeout: ' : ''}virtual cluster "p-f/vc-${name}" ${cause}`,
      }),
    ])
  })

  test('leaves nothing behind and reveals neither the credentials nor the answer of the virtual cluster', () => {
    expect(clusters.get(name)?.stored.size).toBe(0)
    for (const secret of [SAID, STRANGER, clusters.get(name)?.credentials.token ?? ''])
      expect(answers.get(name)?.text).not.toContain(secret)
  })
})

test('counts them as failures of virtual clusters, not of this API', () => {
  const records = server.log.map((line) => JSON.parse(line)).filter(({ code }) => code >= 500)
  expect(records).toHaveLength(Object.keys(failures).length)
  for (const record of records)
    expect(record).toMatchObject({ fault: 'virtualCluster', serverErrors: 0, clientErrors: 0, virtualClusterErrors: 1 })
})

test('the log has the requests and no secret', () => {
  const log = server.log.join('')
  for (const name of Object.keys(failures)) expect(log).toContain(`vc-${name}`)
  for (const secret of [STRANGER, 'cluster-administrator-token', SAID]) expect(log).not.toContain(secret)
})
