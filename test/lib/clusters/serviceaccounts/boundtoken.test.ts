import { describe, expect, test } from 'vitest'
import { createClusterClient } from '../../../../lib/clusters/cluster/client.ts'
import { createSecret, removeSecret, requestToken } from '../../../../lib/clusters/serviceaccounts/boundtoken.ts'
import { type AccountCluster, encodeToken, startAccountCluster } from '../../../support/accountcluster.ts'
import { unlimited } from '../../../support/deadlines.ts'

const bound = { namespace: 'keyplane', account: 'user.alice', secret: 'keyplane-uid-1' }
const named = { labels: {}, annotations: { 'management.platform/access-key': 'ci' } }

function asking({ credentials }: AccountCluster, signal = unlimited()) {
  return { client: createClusterClient('prod', credentials, { keepsConnections: true }), signal }
}

const refusal = (made: Promise<unknown>) =>
  made.then(
    () => undefined,
    (error) => error,
  )

describe('a token of a service account', () => {
  test('takes one connection, and ends with its Secret', async () => {
    const cluster = await startAccountCluster()
    const at = asking(cluster)
    await createSecret(bound, named, at)
    const { token, expires } = await requestToken(bound, 600, at)
    expect(cluster.accepts(token)).toBe(true)
    expect(expires.getTime()).toBeGreaterThan(Date.now() + 590_000)
    expect(cluster.secrets.get('keyplane/keyplane-uid-1')?.metadata).toMatchObject(named)
    expect(await removeSecret(bound, at)).toBe('removed')
    expect(cluster.accepts(token)).toBe(false)
    expect(await removeSecret(bound, at)).toBe('missing')
    expect(cluster.connections()).toBe(1)
  })

  test('uses the Secret that is there, and not one of the same name that came after it', async () => {
    const cluster = await startAccountCluster()
    const at = asking(cluster)
    await createSecret(bound, named, at)
    await createSecret(bound, named, at)
    const { token } = await requestToken(bound, 600, at)
    await removeSecret(bound, at)
    await createSecret(bound, named, at)
    expect(cluster.accepts(token)).toBe(false)
  })

  // threat: exchange-37
  test.each([
    ['another account', { serviceaccount: { name: 'user.bob' } }],
    ['another namespace', { namespace: 'kube-system' }],
    ['no Secret', { secret: undefined }],
    ['another Secret', { secret: { name: 'other', uid: 'u' } }],
    ['a Secret without uid', { secret: { name: bound.secret } }],
  ])('for %s is not used', async (_, claims) => {
    const cluster = await startAccountCluster()
    cluster.plays.token = ({ answer, body }) => {
      const right = {
        namespace: 'keyplane',
        serviceaccount: { name: 'user.alice' },
        secret: { name: bound.secret, uid: 'u' },
      }
      const token = encodeToken({ iat: 1000, exp: 1600, 'kubernetes.io': { ...right, ...claims } })
      answer(201, { ...body, status: { token } })
    }
    await createSecret(bound, named, asking(cluster))
    expect(await refusal(requestToken(bound, 600, asking(cluster)))).toMatchObject({ failure: 'garbage' })
  })

  test.each([
    ['longer than requested', { iat: 1000, exp: 1601 }],
    ['for no time', { iat: 1000, exp: 1000 }],
    ['for ever', { iat: 1000 }],
    ['since no time', { exp: 1600 }],
  ])('that is valid %s is not used', async (_, times) => {
    const cluster = await startAccountCluster()
    cluster.plays.token = ({ answer, body }) => {
      const right = {
        namespace: 'keyplane',
        serviceaccount: { name: 'user.alice' },
        secret: { name: bound.secret, uid: 'u' },
      }
      answer(201, { ...body, status: { token: encodeToken({ ...times, 'kubernetes.io': right }) } })
    }
    expect(await refusal(requestToken(bound, 600, asking(cluster)))).toMatchObject({ failure: 'garbage' })
  })

  test.each(['x', '', 'a.b.c', undefined, 7])('%j is not used', async (token) => {
    const cluster = await startAccountCluster()
    cluster.plays.token = ({ answer, body }) => answer(201, { ...body, status: { token } })
    expect(await refusal(requestToken(bound, 600, asking(cluster)))).toMatchObject({ failure: 'garbage' })
  })

  test('says what is missing', async () => {
    const cluster = await startAccountCluster()
    cluster.accounts.clear()
    const elsewhere = { ...bound, namespace: 'other' }
    expect(await refusal(createSecret(elsewhere, named, asking(cluster)))).toMatchObject({ missing: 'namespaces' })
    expect(await refusal(requestToken(bound, 600, asking(cluster)))).toMatchObject({ missing: 'serviceaccounts' })
    cluster.accounts.add('keyplane/user.alice')
    expect(await refusal(requestToken(bound, 600, asking(cluster)))).toMatchObject({ missing: 'secrets' })
  })
})

describe('the removal of a Secret', () => {
  // threat: exchange-37
  test.each<[string, number, string, string]>([
    ['another 404', 404, 'application/json', '{"kind":"Status","details":{"kind":"pods"}}'],
    ['a page', 404, 'text/html', '<html>'],
    ['a page of success', 200, 'text/html', '<html>'],
    ['an empty object', 200, 'application/json', '{}'],
    ['another Secret', 200, 'application/json', '{"kind":"Status","status":"Success","details":{"name":"x"}}'],
    ['a Secret with finalizers', 200, 'application/json', '{"kind":"Secret","metadata":{"deletionTimestamp":"x"}}'],
    ['a redirect', 302, 'application/json', '{}'],
    ['a refusal', 403, 'application/json', '{}'],
  ])('is not confirmed by %s', async (_, code, type, text) => {
    const cluster = await startAccountCluster()
    cluster.plays.delete = ({ response }) => void response.writeHead(code, { 'Content-Type': type }).end(text)
    const error = await refusal(removeSecret(bound, asking(cluster)))
    expect(error).toMatchObject({ name: 'ClusterError' })
    expect(error.status.message).toContain('cluster "prod"')
  })

  test('ends with its signal', async () => {
    const cluster = await startAccountCluster()
    cluster.plays.delete = () => undefined
    const error = await refusal(removeSecret(bound, asking(cluster, AbortSignal.timeout(20))))
    expect(error).toMatchObject({ failure: 'timeout', status: { code: 504 } })
  })

  test('survives a connection that the cluster has closed meanwhile', async () => {
    const cluster = await startAccountCluster()
    const at = asking(cluster)
    await createSecret(bound, named, at)
    let refused = 0
    cluster.plays.delete = ({ response, proceed }) => {
      if (refused++ > 0) return proceed()
      response.socket?.destroy()
    }
    expect(await removeSecret(bound, at)).toBe('removed')
    expect(cluster.connections()).toBe(2)
  })
})
