/**
 * Tests through the authorizer who gets the object of a connected cluster and its kube config, by attacks on scopes, chains, access
 * rules and keys. The functions alone see no scope of a request, so they are tested together here.
 */
import { decodeJwt } from 'jose'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Scope } from '../../lib/access/scopes/scope.ts'
import { cluster, clusters, keys, management } from '../support/objects.ts'
import { useServer } from '../support/sharedserver.ts'
import { parseYaml } from '../support/yaml.ts'

const server = useServer()
const merge = { 'content-type': 'application/merge-patch+json' }

const at = (...names: string[]): Scope => ({ clusters: names.map((cluster) => ({ cluster })) })
const everything: Scope = { rules: [{}] }

beforeAll(async () => {
  for (const name of ['eu', 'eu2', 'us', 'hidden']) {
    const user = name === 'hidden' ? 'bob' : 'alice'
    await server.make(clusters, cluster(name, { access: [{ verbs: ['get', 'use'], users: [user] }] }))
  }
})

const alices = (scope?: Scope, token?: string) =>
  server.makeKey({ user: 'alice', ...(scope && { scope }) }, undefined, token)
const get = (name: string, token: string) => server.call(`${clusters}/${name}`, { token })
const configure = (name: string, token: string, spec: object = {}) =>
  server.post(`${clusters}/${name}/kubeconfig`, { spec }, token)
const directToken = (token: string, scope: Scope) =>
  server.post(`${management}/directclusterendpointtokens`, { spec: { scope } }, token)
const statuses = async (name: string, token: string) => [
  (await get(name, token)).status,
  (await configure(name, token)).status,
]
const tokenIn = async (text: string): Promise<string> => (await parseYaml(text)).users[0].user.token

describe('a scope', () => {
  // threat: users-29
  test('of the cluster opens its object and its kube config, and no other cluster', async () => {
    const { token } = await alices(at('eu'))
    expect(await statuses('eu', token)).toEqual([200, 201])
    for (const other of ['eu2', 'us', 'hidden', 'nothing', 'eu%2F..%2Fus', 'EU', '*'])
      expect([other, await statuses(other, token)]).toEqual([other, expect.not.arrayContaining([200, 201])])
    expect((await get('eu', token)).json.status).toEqual({ canUse: true })
  })

  test('of every cluster opens those that spec.access opens', async () => {
    const { token } = await alices(at('*'))
    expect(await statuses('eu', token)).toEqual([200, 201])
    expect(await statuses('hidden', token)).toEqual([404, 404])
    expect(decodeJwt(await tokenIn((await configure('eu', token)).json.status.kubeConfig)).aud).toEqual([
      expect.stringMatching(/\/clusters\/eu$/),
    ])
  })

  test('changes and lists nothing', async () => {
    const { token } = await server.makeKey({ groups: ['system:masters'], scope: at('eu', '*') })
    const requests: [string, string, unknown?][] = [
      ['GET', clusters],
      ['GET', `${clusters}/eu/status`],
      ['POST', clusters, { metadata: { name: 'eu3' }, spec: { server: 'https://eu3.example.com' } }],
      ['PATCH', `${clusters}/eu`, { spec: { server: 'https://evil.example.com' } }],
      ['DELETE', `${clusters}/eu`],
      ['DELETE', clusters],
    ]
    for (const [method, path, body] of requests)
      expect([method, path, (await server.call(path, { method, token, body, headers: merge })).status]).toEqual([
        method,
        path,
        403,
      ])
  })

  // threat: users-30
  test.each(['agent', 'vcluster'])(
    'with the role %s names where the key may review, and opens neither',
    async (role) => {
      for (const names of [['eu'], ['*'], ['eu', '*']]) {
        const { token } = await server.makeKey({
          groups: ['system:masters'],
          scope: { roles: [{ role }], ...at(...names) },
        })
        expect(await statuses('eu', token)).toEqual([403, 403])
        expect((await directToken(token, at('eu'))).status).toBe(403)
      }
    },
  )

  test('that refuses says which entry would allow the kube config', async () => {
    const { token } = await alices({ projects: [{ project: 'a' }] })
    const { status, json } = await configure('eu', token)
    expect([status, json.details.causes.map(({ message }: { message: string }) => message)]).toEqual([
      403,
      ['{"clusters":[{"cluster":"eu"}]} would allow it, and everything else in this cluster'],
    ])
    const read = await get('eu', token)
    expect(read.json.details.causes).toHaveLength(2)
  })
})

describe('a chain', () => {
  test('opens what each of its scopes opens', async () => {
    const parent = await alices({ ...everything, ...at('eu') })
    const child = await alices(at('eu', 'us'), parent.token)
    expect(await statuses('eu', child.token)).toEqual([200, 201])
    const narrow = await alices({ ...at('eu'), rules: [{ requestTargets: ['Management'] }] })
    const wider = await alices(at('eu', 'us'), narrow.token)
    expect((await configure('eu', wider.token)).status).toBe(201)
    const refused = await configure('us', wider.token)
    expect([refused.status, refused.json.message]).toEqual([
      403,
      expect.stringContaining('the scope of the access key allows nothing in this cluster'),
    ])
  })

  // threat: users-29
  test('of two clusters opens none, and a role of an ancestor closes it', async () => {
    const making: Scope = { rules: [{ resources: [{ group: 'management.platform', resources: ['ownedaccesskeys'] }] }] }
    const one = await alices({ ...making, ...at('eu') })
    const two = await alices(at('us'), one.token)
    expect(await statuses('eu', two.token)).toEqual([403, 403])
    expect(await statuses('us', two.token)).toEqual([403, 403])
    const agent = await alices({ ...making, ...at('eu'), roles: [{ role: 'agent' }] })
    const child = await alices(at('eu'), agent.token)
    expect(await statuses('eu', child.token)).toEqual([403, 403])
  })
})

describe('a key', () => {
  test('that is impersonated, disabled or deleted gets nothing', async () => {
    const { token, name } = await alices(at('eu'))
    const headers = { 'impersonate-user': 'bob' }
    expect((await server.call(`${clusters}/hidden`, { token: server.adminKey, headers })).status).toBe(403)
    const impersonated = { method: 'POST', token, headers, body: { spec: {} } }
    expect((await server.call(`${clusters}/eu/kubeconfig`, impersonated)).status).toBe(403)
    await server.patch(`${keys}/${name}`, { spec: { disabled: true } })
    expect(await statuses('eu', token)).toEqual([401, 401])
    await server.call(`${keys}/${name}`, { method: 'DELETE' })
    expect(await statuses('eu', token)).toEqual([401, 401])
  })

  test('that expires gets a token that does not outlive it', async () => {
    const { token } = await server.makeKey({ user: 'alice', ttl: 90, scope: at('eu') })
    const { status, json, headers } = await configure('eu', token, { ttl: 3600 })
    expect([status, String(headers.warning)]).toEqual([
      201,
      expect.stringContaining('requested expiration of 3600 seconds shortened to'),
    ])
    expect(Date.parse(json.status.expirationTimestamp)).toBeLessThanOrEqual(Date.now() + 90_000)
  })

  test('is in the usage with the cluster of its kube config', async () => {
    const { token, name } = await alices({ ...at('*'), rules: [{ verbs: ['get'] }] })
    await configure('eu', token)
    const { json } = await server.call(`${keys}/${name}/usage`)
    expect(JSON.stringify(json.status.entries)).toContain('create of clusters/kubeconfig \\"eu\\"')
  })
})

test('the token of a kube config is refused by this API and by reviews of another cluster, and allowed by its own', async () => {
  const { token, name, uid } = await alices(at('eu'))
  const jwt = await tokenIn((await configure('eu', token)).json.status.kubeConfig)
  expect(await statuses('eu', jwt)).toEqual([401, 401])
  const scopes = JSON.stringify(JSON.parse((decodeJwt(jwt)['management.platform'] as { scopes: string }).scopes))
  const agentOf = (cluster: string) =>
    server.makeKey({ user: 'agent', scope: { roles: [{ role: 'agent' }], ...at(cluster) } })
  const review = async (cluster: string, target: string) => {
    const extra = {
      'management.platform/access-key': [name],
      'management.platform/access-key-uid': [uid],
      'management.platform/scopes': [scopes],
      'management.platform/target': [`clusters/${target}`],
    }
    const resourceAttributes = { verb: 'list', resource: 'pods', namespace: 'n' }
    const body = { spec: { user: 'alice', extra, resourceAttributes } }
    const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews'
    return (await server.post(path, body, (await agentOf(cluster)).token)).json.status
  }
  expect(await review('eu', 'eu')).toEqual({ allowed: false })
  expect(await review('us', 'us')).toMatchObject({ allowed: false, denied: true })
  expect(await review('us', 'eu')).toMatchObject({ allowed: false, denied: true })
})
