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
}
type Failed = [502 | 503 | 504, 'ServiceUnavailable' | 'Timeout']

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
const unavailable: Failed = [503, 'ServiceUnavailable']
const late: Failed = [504, 'Timeout']
const bad: Failed = [502, 'ServiceUnavailable']

const forbidden = 'does not permit this with the stored credentials'
const slow = 'did not answer in time'
const invalid = 'gave an invalid answer'
const large = 'gave an answer that is too large'
const somebody = 'signed a certificate that does not match the request: it is for another user'

/** Answers with a body that is nested too deeply. */
const deep: Play = ({ body, ...call }) => {
  const depth = 200_000
  const request = '['.repeat(depth) + ']'.repeat(depth)
  raw(JSON.stringify({ ...body, spec: { request: SAID } }).replace(`"${SAID}"`, request))({ body, ...call })
}
const upgrade: Play = ({ response: { socket } }) =>
  void socket?.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: ${SAID}\r\n\r\n`)
/** Sends interim answers for ever. */
const interim: Play = ({ response: { socket } }) => {
  const more = () => {
    if (socket?.writable) socket.write(`HTTP/1.1 103 Early Hints\r\nLink: ${SAID}\r\n\r\n`.repeat(1000), more)
  }
  socket?.on('error', () => undefined)
  more()
}
const hangUp: Play = ({ response }) => void response.socket?.destroy()

const failures: [name: string, status: Failed, cause: string, failing: Failing][] = [
  ['refused', unavailable, `${reach}the connection was refused`, { credentials: { server: 'https://127.0.0.1:1' } }],
  [
    'untrusted',
    unavailable,
    `${reach}its certificate is not signed by the trusted authority`,
    { credentials: { certificateAuthority: 'another' } },
  ],
  ['no-tls', unavailable, `${reach}no secure connection could be made`, { credentials: { server: 'plain' } }],
  ['401', bad, 'does not accept the stored credentials', { credentials: { token: STRANGER } }],
  ['403', bad, forbidden, { plays: { create: refuse(403) } }],
  ['no-approval', bad, forbidden, { plays: { approve: refuse(403) } }],
  ['denied', bad, 'denied the certificate', { plays: { read: condition('Denied') } }],
  ['failed', bad, 'failed to sign the certificate', { plays: { read: condition('Failed') } }],
  ['never-signed', late, 'did not sign the certificate in time', { readsBeforeSigned: Number.POSITIVE_INFINITY }],
  ['slow', late, slow, { plays: { approve: nothing } }],
  ['slow-to-read', late, slow, { plays: { read: nothing } }],
  ['garbage', bad, invalid, { plays: { create: raw(`<html>${SAID}`) } }],
  ['garbage-later', bad, invalid, { plays: { read: raw('[]') } }],
  ['endless', bad, large, { plays: { read: raw(`"${SAID.repeat(1_000_000)}"`) } }],
  ['deep', bad, invalid, { plays: { create: deep } }],
  ['upgrade', bad, invalid, { plays: { approve: upgrade } }],
  ['interim', bad, large, { plays: { read: interim } }],
  ['failing', bad, 'reports an internal error', { plays: { approve: refuse(500) } }],
  ['broken', unavailable, `${reach}the connection was broken`, { plays: { read: hangUp } }],
  ['somebody', bad, somebody, { signed: { user: SAID } }],
]

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
  answers.set(name, await server.post(path, { spec: { clientCert: true } }))
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
  await Promise.all(failures.map(([name, , , failing]) => fail(name, failing, authorities)))
}, 120_000)
afterAll(async () => {
  await Promise.all([...clusters.values()].map((cluster) => cluster.close()))
  plain?.close()
  await server?.stop()
})

describe.each(failures)('the failure %s', (name, [code, reason], cause) => {
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
  expect(records).toHaveLength(failures.length)
  for (const record of records)
    expect(record).toMatchObject({ fault: 'virtualCluster', serverErrors: 0, clientErrors: 0, virtualClusterErrors: 1 })
})

test('the log has the requests and no secret', () => {
  const log = server.log.join('')
  for (const [name] of failures) expect(log).toContain(`vc-${name}`)
  for (const secret of [STRANGER, 'cluster-administrator-token', SAID]) expect(log).not.toContain(secret)
})
