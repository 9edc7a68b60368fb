import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startVirtualCluster, type VirtualCluster } from '../../../infra/local/virtualcluster/virtualcluster.ts'
import {
  type CertificateServices,
  issueClientCertificate,
} from '../../../lib/clusters/certificates/clientcertificate.ts'
import { PATH } from '../../../lib/clusters/certificates/signingrequest.ts'
import { createClusterClient } from '../../../lib/clusters/cluster/client.ts'
import type { Credentials } from '../../../lib/clusters/cluster/credentials.ts'
import { unlimited } from '../../support/deadlines.ts'

let cluster: VirtualCluster
beforeAll(async () => {
  cluster = await startVirtualCluster({ now: Date.now })
})
afterAll(() => cluster.close())

const as = (credentials: Partial<Credentials>) =>
  createClusterClient('p-shop/dev', {
    server: cluster.url,
    certificateAuthority: cluster.certificateAuthority,
    ...credentials,
  })

const services = (token: string): CertificateServices => ({
  client: as({ token }),
  signal: unlimited(),
  deadline: unlimited,
  sleep: (ms, signal) => setTimeout(ms, undefined, { signal }).catch(() => undefined),
  now: () => new Date(),
  uuid: () => crypto.randomUUID(),
})

const order = {
  user: 'ci',
  groups: ['ops', 'team:a'],
  seconds: 3600,
  labels: { 'app.kubernetes.io/managed-by': 'keyplane' },
}
const signal = unlimited()
const remainingRequests = async () =>
  (await as({ token: cluster.token.manager }).send({ method: 'GET', path: PATH, signal })).items

describe('against the local virtual cluster, which validates like kube-apiserver', () => {
  test('issues a certificate that works for exactly this user', async () => {
    const clientCertificate = await issueClientCertificate(order, services(cluster.token.manager))
    const review = await as({ clientCertificate }).send({
      method: 'POST',
      path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
      signal,
    })
    expect(review).toMatchObject({
      status: { userInfo: { username: 'ci', groups: ['ops', 'team:a', 'system:authenticated'] } },
    })
    const seconds = (clientCertificate.notAfter.getTime() - Date.now()) / 1000
    expect(seconds).toBeGreaterThan(3600 - 600)
    expect(seconds).toBeLessThan(3600 + 600)
    expect(clientCertificate.warnings).toEqual([])
    expect(await remainingRequests()).toEqual([])
  })

  test('lets the cluster choose the duration if none is requested', async () => {
    const { seconds: _, ...rest } = order
    const { notAfter } = await issueClientCertificate(rest, services(cluster.token.manager))
    expect(notAfter.getTime()).toBeGreaterThan(Date.now() + 300 * 86_400_000)
  })

  test('returns 502 for credentials that may not approve, and cleans up', async () => {
    await expect(issueClientCertificate(order, services(cluster.token.requester))).rejects.toMatchObject({
      failure: 'forbidden',
      status: { code: 502 },
    })
    expect(await remainingRequests()).toEqual([])
  })

  test('fails for unknown credentials', () =>
    expect(issueClientCertificate(order, services('unknown'))).rejects.toMatchObject({ failure: 'unauthorized' }))
})
