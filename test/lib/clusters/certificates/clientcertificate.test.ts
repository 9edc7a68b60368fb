import { X509Certificate } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import {
  type CertificateOrder,
  type CertificateServices,
  issueClientCertificate,
} from '../../../../lib/clusters/certificates/clientcertificate.ts'
import { createClusterClient } from '../../../../lib/clusters/cluster/client.ts'
import type { ClusterFailure } from '../../../../lib/clusters/cluster/failure.ts'
import { type FaultyCluster, type Play, type Step, useFaultyClusters } from '../faultycluster.ts'

const { start } = useFaultyClusters()
const order: CertificateOrder = { user: 'ci', groups: ['ops', 'team:a'], seconds: 3600, labels: { by: 'test' } }
const NAME = 'keyplane-uuid'

/** Sleeps return immediately; the requested pauses are recorded. */
function services(cluster: FaultyCluster, changes: Partial<CertificateServices> = {}) {
  const pauses: number[] = []
  const all: CertificateServices = {
    client: createClusterClient('p-shop/dev', cluster.credentials),
    signal: new AbortController().signal,
    deadline: () => new AbortController().signal,
    sleep: async (ms) => void pauses.push(ms),
    now: () => new Date(),
    uuid: () => 'uuid',
    ...changes,
  }
  return { ...all, pauses }
}

const steps = ({ calls }: FaultyCluster) => calls.map(({ step }) => step)
const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error) => error,
  )

describe('a healthy virtual cluster', () => {
  test('issues a working certificate and keeps no request', async () => {
    const cluster = await start()
    const issued = await issueClientCertificate(order, services(cluster))
    const certificate = new X509Certificate(issued.certificate)
    expect([certificate.subject, issued.notAfter]).toEqual(['O=ops\nO=team:a\nCN=ci', certificate.validToDate])
    expect(issued.warnings).toEqual([])
    expect([steps(cluster), cluster.stored.size]).toEqual([['create', 'approve', 'read', 'delete'], 0])
    const { server, certificateAuthority } = cluster.credentials
    const user = createClusterClient('x', {
      server,
      certificateAuthority: certificateAuthority ?? '',
      clientCertificate: issued,
    })
    // The cluster knows the user, who is not an administrator there.
    await expect(user.send({ method: 'GET', path: '/', signal: new AbortController().signal })).rejects.toMatchObject({
      failure: 'unauthorized',
    })
  })

  test('receives exactly these requests', async () => {
    const cluster = await start()
    await issueClientCertificate(order, services(cluster))
    const [create, approve, , remove] = cluster.calls
    const path = `/apis/certificates.k8s.io/v1/certificatesigningrequests`
    expect(create?.line).toBe(`POST ${path}`)
    expect(create?.body).toEqual({
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: NAME, labels: { by: 'test' } },
      spec: {
        request: expect.stringMatching(/^LS0tLS1CRUdJTi/),
        signerName: 'kubernetes.io/kube-apiserver-client',
        usages: ['client auth'],
        expirationSeconds: 3600,
      },
    })
    expect(approve?.line).toBe(`PUT ${path}/${NAME}/approval`)
    expect(approve?.body).toMatchObject({
      metadata: { name: NAME, uid: expect.any(String), resourceVersion: '1' },
      status: { conditions: [{ type: 'Approved', status: 'True', reason: 'KeyplaneKubeConfig' }] },
    })
    expect(remove?.line).toBe(`DELETE ${path}/${NAME}`)
    expect(remove?.body).toMatchObject({ kind: 'DeleteOptions', preconditions: { uid: expect.any(String) } })
  })

  test('chooses the duration if none is requested', async () => {
    const cluster = await start()
    const { seconds: _, ...rest } = order
    const { notAfter } = await issueClientCertificate(rest, services(cluster))
    expect(cluster.calls[0]?.body).not.toHaveProperty('spec.expirationSeconds')
    expect(notAfter.getTime()).toBeGreaterThan(Date.now() + 364 * 86_400_000)
  })

  test('may be slow: the pauses grow to two seconds', async () => {
    const cluster = await start({ readsBeforeSigned: 8 })
    const used = services(cluster)
    await issueClientCertificate(order, used)
    expect(used.pauses).toEqual([100, 200, 400, 800, 1600, 2000, 2000])
  })

  test('may use numbers beyond the JavaScript range', async () => {
    const create: Play = async ({ body, response }) => {
      const metadata = { ...body.metadata, uid: 'u', resourceVersion: '1' }
      const made = { ...body, metadata, status: {} }
      cluster.stored.set(NAME, made)
      const text = JSON.stringify(made).replace('"metadata":{', '"metadata":{"generation":9007199254740993,')
      response.writeHead(201, { 'Content-Type': 'application/json' }).end(text)
    }
    const cluster = await start({ plays: { create } })
    await issueClientCertificate(order, services(cluster))
    expect(steps(cluster)).toEqual(['create', 'approve', 'read', 'delete'])
  })

  test('may approve requests itself', async () => {
    const create: Play = ({ body, answer }) => {
      const metadata = { ...body.metadata, uid: 'u', resourceVersion: '1' }
      const made = { ...body, metadata, status: { conditions: [{ type: 'Approved', status: 'True' }] } }
      cluster.stored.set(NAME, made)
      answer(201, made)
    }
    const cluster = await start({ plays: { create } })
    await issueClientCertificate(order, services(cluster))
    expect(steps(cluster)).toEqual(['create', 'read', 'delete'])
  })

  test('may update the request meanwhile: the approval is retried with the current object', async () => {
    let conflicts = 2
    const approve: Play = async ({ stored, proceed }) => {
      if (stored && conflicts-- > 0)
        stored.metadata.resourceVersion = String(Number(stored.metadata.resourceVersion) + 1)
      await proceed()
    }
    const cluster = await start({ plays: { approve } })
    await issueClientCertificate(order, services(cluster))
    expect(steps(cluster)).toEqual(['create', 'approve', 'read', 'approve', 'read', 'approve', 'read', 'delete'])
  })
})

const refuse =
  (code: number): Play =>
  ({ answer }) =>
    answer(code, { message: 'hunter2' })
const breakOff: Play = ({ response }) => void response.socket?.destroy()
const condition =
  (type: string): Play =>
  async ({ stored, proceed }) => {
    if (stored) stored.status.conditions = [{ type, status: 'True' }]
    await proceed()
  }

describe('a virtual cluster that fails', () => {
  test.each<[string, Step, Play, ClusterFailure, Step[]]>([
    ['refuses the credentials', 'create', refuse(401), 'unauthorized', ['create']],
    ['permits no requests', 'create', refuse(403), 'forbidden', ['create']],
    ['does not serve the API', 'create', refuse(404), 'not-found', ['create']],
    ['rejects the request', 'create', refuse(422), 'rejected', ['create']],
    ['fails while creating', 'create', refuse(500), 'failing', ['create', 'delete']],
    ['disconnects while creating', 'create', breakOff, 'reset', ['create', 'delete']],
    [
      'returns an invalid answer to a create',
      'create',
      ({ answer }) => answer(201, {}),
      'garbage',
      ['create', 'delete'],
    ],
    ['permits no approval', 'approve', refuse(403), 'forbidden', ['create', 'approve', 'delete']],
    ['disconnects while approving', 'approve', breakOff, 'reset', ['create', 'approve', 'delete']],
    ['denies the request', 'read', condition('Denied'), 'denied', ['create', 'approve', 'read', 'delete']],
    ['fails to sign', 'read', condition('Failed'), 'failed', ['create', 'approve', 'read', 'delete']],
    ['forgets the request', 'read', refuse(404), 'not-found', ['create', 'approve', 'read', 'delete']],
    [
      'always reports a conflict',
      'approve',
      refuse(409),
      'conflict',
      ['create', 'approve', 'read', 'approve', 'read', 'approve', 'read', 'approve', 'delete'],
    ],
  ])('%s: the error names the cause, and no request is left', async (_, step, play, expected, calls) => {
    const cluster = await start({ plays: { [step]: play } })
    const error = await failure(issueClientCertificate(order, services(cluster)))
    expect(error).toMatchObject({ failure: expected })
    expect(error.status.message).not.toContain('hunter2')
    expect([steps(cluster), cluster.stored.size]).toEqual([calls, 0])
  })

  // threat: virtual-8
  test('that disconnects after creating: the request is deleted by name', async () => {
    const create: Play = ({ body, response }) => {
      cluster.stored.set(NAME, { ...body, metadata: { ...body.metadata, uid: 'u', resourceVersion: '1' }, status: {} })
      response.socket?.destroy()
    }
    const cluster = await start({ plays: { create } })
    expect(await failure(issueClientCertificate(order, services(cluster)))).toMatchObject({ failure: 'reset' })
    expect(cluster.stored.size).toBe(0)
  })
})

// threat: virtual-8
test('the request is deleted after an unexpected error', async () => {
  const cluster = await start()
  const { client, ...others } = services(cluster)
  const send: typeof client.send = async (request) => {
    const answer = await client.send(request)
    if (request.method === 'POST') throw new Error('unforeseen')
    return answer
  }
  const error = await failure(issueClientCertificate(order, { ...others, client: { ...client, send } }))
  expect([error, cluster.stored.size]).toEqual([new Error('unforeseen'), 0])
})

describe('an unexpected certificate request', () => {
  test.each<[string, Record<string, unknown>]>([
    ['another signer', { signerName: 'kubernetes.io/kubelet-serving' }],
    ['another request', { request: 'eA==' }],
    ['more usages', { usages: ['client auth', 'server auth'] }],
    ['another duration', { expirationSeconds: 99_999 }],
  ])('is never approved: %s', async (_, change) => {
    const create: Play = async ({ body, proceed }) => {
      Object.assign(body.spec, change)
      await proceed()
    }
    const cluster = await start({ plays: { create } })
    expect(await failure(issueClientCertificate(order, services(cluster)))).toMatchObject({ failure: 'garbage' })
    expect([steps(cluster), cluster.stored.size]).toEqual([['create', 'delete'], 0])
  })

  // threat: virtual-7
  test('is neither read nor deleted if it is another object of the same name', async () => {
    const read: Play = async ({ stored, proceed }) => {
      if (stored) stored.metadata.uid = 'somebody-else'
      await proceed()
    }
    const cluster = await start({ plays: { read } })
    expect(await failure(issueClientCertificate(order, services(cluster)))).toMatchObject({ failure: 'garbage' })
    expect(cluster.stored.size).toBe(1)
  })

  // threat: virtual-6
  test('is not returned if its certificate is for another user', async () => {
    const cluster = await start({ signed: { user: 'ci', groups: ['ops', 'system:masters'] } })
    const error = await failure(issueClientCertificate(order, services(cluster)))
    expect(error).toMatchObject({
      failure: 'wrong-certificate',
      status: {
        code: 502,
        message:
          'virtual cluster "p-shop/dev" signed a certificate that does not match the request: it is for other groups',
      },
    })
    expect(cluster.stored.size).toBe(0)
  })

  // threat: virtual-6
  test("a certificate that outlives the deployment's maximum is not returned", async () => {
    const cluster = await start({ signed: { notAfter: new Date(Date.now() + 86_400_000) } })
    const error = await failure(issueClientCertificate({ ...order, maxSeconds: 3600 }, services(cluster)))
    expect(error).toMatchObject({ failure: 'wrong-certificate' })
  })
})

describe('time', () => {
  test('504 if the signer never signs, and the request is deleted', async () => {
    const controller = new AbortController()
    const cluster = await start({ readsBeforeSigned: Number.POSITIVE_INFINITY })
    let sleeps = 0
    const sleep = async () => {
      if (++sleeps === 5) controller.abort()
    }
    const error = await failure(issueClientCertificate(order, services(cluster, { signal: controller.signal, sleep })))
    expect(error).toMatchObject({ failure: 'unsigned', status: { code: 504 } })
    expect(cluster.stored.size).toBe(0)
  })

  test.each<Step>(['create', 'approve', 'read'])(
    '504 without an answer to %s, and the request is deleted',
    async (step) => {
      const controller = new AbortController()
      const silent: Play = async (call) => {
        if (step === 'create')
          cluster.stored.set(NAME, { ...call.body, metadata: { ...call.body.metadata, uid: 'u' }, status: {} })
        controller.abort()
      }
      const cluster = await start({ plays: { [step]: silent } })
      const error = await failure(issueClientCertificate(order, services(cluster, { signal: controller.signal })))
      expect(error).toMatchObject({ failure: 'timeout', status: { code: 504 } })
      expect([steps(cluster).at(-1), cluster.stored.size]).toEqual(['delete', 0])
    },
  )

  test('504 of the signer without an answer to a later read', async () => {
    const controller = new AbortController()
    let reads = 0
    const read: Play = ({ proceed }) => (++reads === 2 ? controller.abort() : proceed())
    const cluster = await start({ readsBeforeSigned: Number.POSITIVE_INFINITY, plays: { read } })
    const error = await failure(issueClientCertificate(order, services(cluster, { signal: controller.signal })))
    expect([error.failure, cluster.stored.size]).toEqual(['unsigned', 0])
  })

  test('a real pause ends on abort', async () => {
    const cluster = await start({ readsBeforeSigned: Number.POSITIVE_INFINITY })
    const sleep = (ms: number, signal: AbortSignal) => setTimeout(ms, undefined, { signal }).catch(() => undefined)
    const signal = AbortSignal.timeout(150)
    const error = await failure(issueClientCertificate(order, services(cluster, { signal, sleep })))
    expect(error.status.code).toBe(504)
  })
})

describe('cleaning up', () => {
  test('is retried', async () => {
    let failures = 2
    const remove: Play = ({ answer, proceed }) => (failures-- > 0 ? answer(503, {}) : proceed())
    const cluster = await start({ plays: { delete: remove } })
    expect([(await issueClientCertificate(order, services(cluster))).warnings, cluster.stored.size]).toEqual([[], 0])
  })

  test('succeeds if the request is already gone', async () => {
    const cluster = await start({ plays: { delete: refuse(404) } })
    expect((await issueClientCertificate(order, services(cluster))).warnings).toEqual([])
  })

  const remark = `the CertificateSigningRequest "${NAME}" could not be deleted from the virtual cluster`

  test('adds a warning to the certificate if it fails', async () => {
    const cluster = await start({ plays: { delete: refuse(403) } })
    expect((await issueClientCertificate(order, services(cluster))).warnings).toEqual([remark])
  })

  test('adds a remark to the earlier error if it fails', async () => {
    const cluster = await start({ plays: { read: condition('Denied'), delete: refuse(403) } })
    const error = await failure(issueClientCertificate(order, services(cluster)))
    expect(error).toMatchObject({
      failure: 'denied',
      status: { code: 502, message: `virtual cluster "p-shop/dev" denied the certificate; ${remark}` },
    })
  })

  test('has a time limit of its own', async () => {
    const controller = new AbortController()
    const asked: number[] = []
    const deadline = (ms: number) => {
      asked.push(ms)
      return controller.signal
    }
    const cluster = await start({ plays: { delete: () => controller.abort() } })
    const { warnings } = await issueClientCertificate(order, services(cluster, { deadline }))
    expect(warnings).toEqual([remark])
    expect(asked).toEqual([3000])
  })
})
