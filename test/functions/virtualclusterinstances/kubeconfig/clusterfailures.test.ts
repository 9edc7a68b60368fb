/**
 * Tests the failures of virtual clusters as a client sees them. The answer is a Status with nothing but the name of the virtual
 * cluster and the cause, and nothing is left behind in the virtual cluster.
 */

import { type AddressInfo, createServer, type Server } from 'node:net'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { kubeConfigFile } from '../../../../infra/local/host/kubeconfigfile.ts'
import { testAuthority } from '../../../lib/clusters/authority.ts'
import {
  type ClusterOptions,
  type FaultyCluster,
  type Play,
  startFaultyCluster,
} from '../../../lib/clusters/faultycluster.ts'
import { useFunctions } from '../../../support/functions.ts'
import { listening } from '../../../support/listening.ts'
import type { Answer } from '../../../support/request.ts'
import { alice } from '../../../support/users.ts'
import { callsOf, instances } from '../../stored/fixtures.ts'

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
const raw =
  (text: string): Play =>
  ({ response }) =>
    void response.writeHead(201, { 'content-type': 'application/json' }).end(text)
const hangUp: Play = ({ response }) => void response.socket?.destroy()

/** Ends the time for which a request waits for a virtual cluster. No other time ends here, however slow the machine is. */
let time = new AbortController()
/** Lets the time end at the second read. */
const neverSigned = (): Play => {
  let reads = 0
  return async ({ proceed }) => (++reads === 2 ? time.abort() : proceed())
}

const reach = 'cannot be reached: '
const unavailable: Failed = [503, 'ServiceUnavailable']
const late: Failed = [504, 'Timeout']
const bad: Failed = [502, 'ServiceUnavailable']
const somebody = 'signed a certificate that does not match the request: it is for another user'

// client.test.ts and clientcertificate.test.ts of test/lib/kubeconfig have what leads to each cause.
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
  ['403', bad, 'does not permit this with the stored credentials', { plays: { create: refuse(403) } }],
  ['denied', bad, 'denied the certificate', { plays: { read: condition('Denied') } }],
  ['failed', bad, 'failed to sign the certificate', { plays: { read: condition('Failed') } }],
  [
    'never-signed',
    late,
    'did not sign the certificate in time',
    { readsBeforeSigned: Number.POSITIVE_INFINITY, plays: { read: neverSigned() } },
  ],
  ['slow', late, 'did not answer in time', { plays: { approve: () => time.abort() } }],
  ['garbage', bad, 'gave an invalid answer', { plays: { create: raw(`<html>${SAID}`) } }],
  ['endless', bad, 'gave an answer that is too large', { plays: { read: raw(`"${SAID.repeat(1_000_000)}"`) } }],
  ['failing', bad, 'reports an internal error', { plays: { approve: refuse(500) } }],
  ['broken', unavailable, `${reach}the connection was broken`, { plays: { read: hangUp } }],
  ['somebody', bad, somebody, { signed: { user: SAID } }],
]

const functions = useFunctions()
const { make } = callsOf(functions, instances)
let plain: Server
const clusters = new Map<string, FaultyCluster>()
const answers = new Map<string, Answer>()

interface Authorities {
  right: Awaited<ReturnType<typeof testAuthority>>
  wrong: Awaited<ReturnType<typeof testAuthority>>
}

/** Requests a client certificate from a virtual cluster that fails in the named way. */
async function fail(
  [name, , , { credentials = {}, ...options }]: (typeof failures)[number],
  { right, wrong }: Authorities,
): Promise<void> {
  const cluster = await startFaultyCluster({ authority: right, ...options })
  clusters.set(name, cluster)
  const certificateAuthority = (credentials.certificateAuthority ? wrong : right).certificate
  const written = { ...cluster.credentials, ...credentials, certificateAuthority }
  if (credentials.server === 'plain') written.server = `https://127.0.0.1:${(plain.address() as AddressInfo).port}`
  await functions.get().keepCredentials(`p-web/vc-${name}`, kubeConfigFile({ name: 'manager', ...written }))
  await make({ name: `vc-${name}` }, { owner: { user: 'alice' }, accessPoint: { ingress: { host: 'vc.example.com' } } })
  const kind = 'VirtualClusterInstanceKubeConfig'
  const asked = {
    user: alice,
    parameters: { name: `vc-${name}` },
    body: { apiVersion: 'management.platform/v1', kind, spec: { clientCert: true } },
  }
  answers.set(name, await functions.invoke('virtualclusterinstances/kubeconfig/create', asked))
}

beforeAll(async () => {
  plain = createServer((socket) => socket.on('error', () => {}).end('HTTP/1.1 400 Bad Request\r\n\r\n'))
  await listening(plain)
  const authorities = { right: await testAuthority(), wrong: await testAuthority() }
  vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => {
    time = new AbortController()
    return time.signal
  })
  const isLate = ([, status]: (typeof failures)[number]) => status === late
  await Promise.all(failures.filter((one) => !isLate(one)).map((one) => fail(one, authorities)))
  // Alone: `time` is that of the last request.
  for (const one of failures.filter(isLate)) await fail(one, authorities)
})
afterAll(async () => {
  vi.restoreAllMocks()
  await Promise.all([...clusters.values()].map((cluster) => cluster.close()))
  plain?.close()
})

describe.each(failures)('the failure %s', (name, [code, reason], cause) => {
  // threat: virtual-2
  test('returns a Status that names the virtual cluster and the cause', () => {
    const { json, status: answered } = answers.get(name) ?? { status: 0, json: undefined }
    const message = `${code === 504 ? 'Timeout: ' : ''}virtual cluster "p-web/vc-${name}" ${cause}`
    const status = { kind: 'Status', status: 'Failure', code, reason, message }
    expect([answered, json]).toEqual([code, expect.objectContaining(status)])
  })

  // threat: virtual-2
  test('leaves nothing behind and reveals neither the credentials nor the answer of the virtual cluster', () => {
    expect(clusters.get(name)?.stored.size).toBe(0)
    for (const secret of [SAID, STRANGER, clusters.get(name)?.credentials.token ?? ''])
      expect(answers.get(name)?.text).not.toContain(secret)
  })
})

// threat: logs-4
test('counts them as failures of virtual clusters, not of this API', () => {
  const lines = functions.get().log.map((line) => JSON.parse(line))
  const records = lines.filter(({ code }) => code >= 500)
  expect(records).toHaveLength(failures.length)
  for (const record of records)
    expect(record).toMatchObject({ fault: 'virtualCluster', serverErrors: 0, virtualClusterErrors: 1 })
})

test('the log has the requests and no secret', () => {
  const log = functions.get().log.join('')
  for (const [name] of failures) expect(log).toContain(`vc-${name}`)
  for (const secret of [STRANGER, 'cluster-administrator-token', SAID]) expect(log).not.toContain(secret)
})
