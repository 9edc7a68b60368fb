import { describe, expect, test } from 'vitest'
import { issueClient, makeAuthority, validFor } from '../../../../infra/local/host/certificates.ts'
import type { ClusterUser } from '../../../../infra/local/virtualcluster/clusteraccess.ts'
import { CSRS, useVirtualCluster } from '../clustercalls.ts'

const DAY = 86_400_000
const { authority, call, clock, cluster } = useVirtualCluster()

describe('who asks', () => {
  const pods = '/api/v1/namespaces/default/pods'

  test('nobody may see the version and nothing else', async () => {
    expect((await call('/version')).body).toMatchObject({ major: '1', minor: '34' })
    expect((await call('/readyz')).body).toBe('ok')
    const refused = await call(pods)
    expect([refused.code, refused.body.message]).toEqual([
      403,
      'pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group "" in the namespace "default"',
    ])
    expect((await call('/api')).code).toBe(403)
    expect((await call(CSRS)).code).toBe(403)
  })

  test.each(['Bearer x', 'Basic YTpi', 'Bearer', 'Bearer ', 'Bearer a b'])('%j is a 401', async (authorization) => {
    expect((await call(pods, { headers: { authorization } })).body).toMatchObject({
      code: 401,
      message: 'Unauthorized',
    })
    expect((await call('/version', { headers: { authorization } })).code).toBe(401)
  })

  test.each([
    [
      'of another authority',
      async () => issueClient(await makeAuthority('other', validFor(1, clock.time)), who, validFor(1, clock.time)),
    ],
    [
      'that is over',
      () =>
        issueClient(authority(), who, {
          notBefore: new Date(clock.time - 2 * DAY),
          notAfter: new Date(clock.time - DAY),
        }),
    ],
    [
      'that has not begun',
      () =>
        issueClient(authority(), who, {
          notBefore: new Date(clock.time + DAY),
          notAfter: new Date(clock.time + 2 * DAY),
        }),
    ],
    [
      'without a user',
      () => issueClient(authority(), { commonName: '', organizations: ['system:masters'] }, validFor(1, clock.time)),
    ],
  ])('a certificate %s is a 401, even with a good token', async (_, make) => {
    const certificate = await make()
    expect((await call(pods, { certificate })).code).toBe(401)
    expect((await call(pods, { certificate, token: cluster().token.manager })).code).toBe(401)
  })

  test('a certificate that ends while its connection is open', async () => {
    const certificate = await issueClient(authority(), who, validFor(1, clock.time))
    expect((await call(pods, { certificate })).code).toBe(200)
    const before = clock.time
    clock.time += 2 * DAY
    const { code } = await call(pods, { certificate })
    clock.time = before
    expect(code).toBe(401)
  })

  test('a group in a certificate counts', async () => {
    const certificate = await issueClient(
      authority(),
      { ...who, organizations: ['system:masters'] },
      validFor(1, clock.time),
    )
    expect((await call(CSRS, { certificate })).code).toBe(200)
    expect((await call(CSRS, { certificate: await issueClient(authority(), who, validFor(1, clock.time)) })).code).toBe(
      403,
    )
  })

  test('a token is put to the verifier, which may not make anybody special', async () => {
    const users = new Map<string, ClusterUser>([
      ['alice', { name: 'alice', groups: ['dev'] }],
      ['named', { name: 'system:keyplane:manager', groups: [] }],
      ['grouped', { name: 'alice', groups: ['system:masters'] }],
    ])
    expect((await call(pods, { token: 'alice' })).code).toBe(401)
    cluster().accept(async (token) => users.get(token), allowed)
    expect((await call(pods, { token: 'alice' })).code).toBe(200)
    expect((await call(CSRS, { token: 'alice' })).code).toBe(403)
    for (const token of ['named', 'grouped', 'unknown']) expect((await call(pods, { token })).code).toBe(401)
    cluster().accept(nobody, allowed)
  })

  test('the review has the first word, and its reason is told', async () => {
    const asked: unknown[] = []
    const review = async (user: ClusterUser, what: unknown) => {
      asked.push([user.name, what])
      return user.extra?.mood?.[0] === 'bad' ? 'not today' : undefined
    }
    const extra = { mood: ['bad'] }
    cluster().accept(async (token) => ({ name: token, groups: [], ...(token === 'bob' && { extra }) }), review)
    const refused = await call(`${pods}/hello-0`, { token: 'bob' })
    expect([refused.code, refused.body.message]).toEqual([
      403,
      'pods "hello-0" is forbidden: User "bob" cannot get resource "pods" in API group "" in the namespace "default": not today',
    ])
    expect((await call('/api', { token: 'bob' })).body.message).toBe(
      'forbidden: User "bob" cannot get path "/api": not today',
    )
    expect((await call(pods, { token: 'alice' })).code).toBe(200)
    expect(asked).toEqual([
      ['bob', { verb: 'get', group: '', resource: 'pods', name: 'hello-0', namespace: 'default' }],
      ['bob', { path: '/api' }],
      ['alice', { verb: 'list', group: '', resource: 'pods', name: '', namespace: 'default' }],
    ])
    cluster().accept(nobody, allowed)
  })

  const who = { commonName: 'alice' }
  const nobody = async () => undefined
  const allowed = async () => undefined
})
