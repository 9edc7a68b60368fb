import { describe, expect, test } from 'vitest'
import { issueClient, makeAuthority, validFor } from '../../../../infra/local/host/certificates.ts'
import type { ClusterUser } from '../../../../infra/local/virtualcluster/clusteraccess.ts'
import { CSRS, useVirtualCluster } from '../clustercalls.ts'

const DAY = 86_400_000
const { authority, call, clock, cluster } = useVirtualCluster()

describe('authentication', () => {
  const pods = '/api/v1/namespaces/default/pods'

  test('anonymous users may read the version only', async () => {
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

  test.each(['Bearer x', 'Basic YTpi', 'Bearer', 'Bearer ', 'Bearer a b'])(
    'returns 401 for %j',
    async (authorization) => {
      expect((await call(pods, { headers: { authorization } })).body).toMatchObject({
        code: 401,
        message: 'Unauthorized',
      })
      expect((await call('/version', { headers: { authorization } })).code).toBe(401)
    },
  )

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
  ])('returns 401 for a certificate %s, even with a valid token', async (_, make) => {
    const certificate = await make()
    expect((await call(pods, { certificate })).code).toBe(401)
    expect((await call(pods, { certificate, token: cluster().token.manager })).code).toBe(401)
  })

  test('returns 401 when a certificate expires while its connection is open', async () => {
    const certificate = await issueClient(authority(), who, validFor(1, clock.time))
    expect((await call(pods, { certificate })).code).toBe(200)
    const before = clock.time
    clock.time += 2 * DAY
    const { code } = await call(pods, { certificate })
    clock.time = before
    expect(code).toBe(401)
  })

  test('uses the groups of a certificate', async () => {
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

  test('verifies tokens and refuses reserved users and groups', async () => {
    const users = new Map<string, ClusterUser>([
      ['alice', { name: 'alice', groups: ['dev'] }],
      ['named', { name: 'system:keyplane:manager', groups: [] }],
      ['grouped', { name: 'alice', groups: ['system:masters'] }],
    ])
    expect((await call(pods, { token: 'alice' })).code).toBe(401)
    cluster().accept(async (token) => users.get(token), allow)
    expect((await call(pods, { token: 'alice' })).code).toBe(200)
    expect((await call(CSRS, { token: 'alice' })).code).toBe(403)
    for (const token of ['named', 'grouped', 'unknown']) expect((await call(pods, { token })).code).toBe(401)
    cluster().accept(authenticateNobody, allow)
  })

  test('a denial of the review comes first and shows its reason', async () => {
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
    cluster().accept(authenticateNobody, allow)
  })

  const who = { commonName: 'alice' }
  const authenticateNobody = async () => undefined
  const allow = async () => undefined
})
