/** Tests the kube configs of connected clusters, and who gets one. */
import { decodeJwt } from 'jose'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Scope } from '../../../../lib/access/scopes/scope.ts'
import { testAuthority } from '../../../lib/clusters/authority.ts'
import { useFunctions } from '../../../support/functions.ts'
import { admin, alice, bob, withScopes } from '../../../support/users.ts'
import { parseYaml } from '../../../support/yaml.ts'
import { callsOf, clusters } from '../../stored/fixtures.ts'
import { describeVirtual } from '../../virtual/create.ts'

const functions = useFunctions()
const { make } = callsOf(functions, clusters)
const issuer = 'https://keyplane.example.com/kubernetes/management'
const json = { accept: 'application/json', 'content-type': 'application/json' }
const fetch = (name: string, spec: object = {}, user = alice, metadata: object = {}, more: object = {}) =>
  functions.invoke('clusters/kubeconfig/create', {
    user,
    parameters: { name },
    headers: json,
    body: { apiVersion: 'management.platform/v1', kind: 'ClusterKubeConfig', metadata, spec },
    ...more,
  })
const directToken = (user: typeof alice, spec: object) =>
  functions.invoke('directclusterendpointtokens/create', { user, headers: json, body: { spec } })
const tokenOf = async (text: string): Promise<string> => (await parseYaml(text)).users[0].user.token

let authority: string
beforeAll(async () => {
  authority = Buffer.from((await testAuthority()).certificate).toString('base64')
  const server = 'https://eu.example.com:6443'
  await make(
    { name: 'eu' },
    { server, certificateAuthorityData: authority, access: [{ verbs: ['use'], users: ['alice'] }] },
  )
  await make({ name: 'us' }, { server: 'https://us.example.com', access: [{ verbs: ['use'], users: ['alice'] }] })
  await make({ name: 'read' }, { server, access: [{ verbs: ['get'], users: ['alice'] }] })
  await make({ name: 'others' }, { server, access: [{ verbs: ['*'], users: ['bob'] }] })
})

describeVirtual(functions, {
  name: 'clusters/kubeconfig/create',
  apiVersion: 'management.platform/v1',
  kind: 'ClusterKubeConfig',
  spec: { ttl: 3600 },
  hasCredential: true,
})

describe('a kube config', () => {
  test('has the address, the authority, and the token that a DirectClusterEndpointToken for the cluster has', async () => {
    const answer = await fetch('eu', { ttl: 600 })
    expect(answer.status).toBe(201)
    expect(answer.json.metadata).toMatchObject({ name: 'eu', uid: expect.any(String) })
    const { kubeConfig, expirationTimestamp } = answer.json.status
    const name = 'eu@keyplane.example.com'
    const config = await parseYaml(kubeConfig)
    expect(config).toMatchObject({
      'current-context': name,
      clusters: [{ name, cluster: { server: 'https://eu.example.com:6443', 'certificate-authority-data': authority } }],
      users: [{ name, user: { token: expect.any(String) } }],
    })
    const claims = decodeJwt(config.users[0].user.token)
    expect(claims.aud).toEqual([`${issuer}/clusters/eu`])
    expect(Date.parse(expirationTimestamp)).toBe((claims.exp ?? 0) * 1000)
    const direct = await directToken(alice, { ttl: 600, scope: { clusters: [{ cluster: 'eu' }] } })
    const timeless = ({ jti, iat, nbf, exp, ...rest }: ReturnType<typeof decodeJwt>) => ({
      ...rest,
      life: (exp ?? 0) - (iat ?? 0),
    })
    expect(timeless(claims)).toEqual(timeless(decodeJwt(direct.json.status.token)))
    expect(timeless(claims).life).toBe(600)
    expect(await functions.get().parts.authenticate(config.users[0].user.token)).not.toHaveProperty('user')
  })

  test('has the proxy and the name of the certificate, unless the address is another one', async () => {
    await make(
      { name: 'far' },
      {
        server: 'https://far.example.com',
        proxyURL: 'socks5://proxy.example.com:1080',
        tlsServerName: 'far.internal',
        access: [{ verbs: ['use'], users: ['alice'] }],
      },
    )
    const clusterOf = async (spec: object) =>
      (await parseYaml((await fetch('far', spec)).json.status.kubeConfig)).clusters[0].cluster
    expect(await clusterOf({})).toEqual({
      server: 'https://far.example.com',
      'proxy-url': 'socks5://proxy.example.com:1080',
      'tls-server-name': 'far.internal',
    })
    expect(await clusterOf({ server: 'https://own.example.com' })).toEqual({ server: 'https://own.example.com' })
    // The form of a plugin reads the credential from the written file.
    const accept = 'application/json;as=ExecCredential;g=client.authentication.k8s.io;v=v1'
    const { json: plugin } = await fetch('far', {}, alice, {}, { headers: { ...json, accept } })
    expect(plugin.status.token).toMatch(/^ey/)
  })

  test('has no authority if the cluster has none, and the address of spec.server', async () => {
    const { json } = await fetch('us', { server: 'https://tunnel.example.com/us' })
    const { clusters: listed } = await parseYaml(json.status.kubeConfig)
    expect(listed[0].cluster).toEqual({ server: 'https://tunnel.example.com/us' })
  })

  test.each([
    [{ ttl: -1 }, 'spec.ttl'],
    [{ ttl: 10 ** 12 }, 'spec.ttl'],
    [{ server: 'http://eu.example.com' }, 'spec.server'],
    [{ server: 'https://me:hunter2@eu.example.com' }, 'spec.server'],
  ])('for %j is a 422', async (spec, field) => {
    const { status, json, text } = await fetch('eu', spec)
    expect([status, json.details.causes.map((one: { field: string }) => one.field)]).toEqual([422, [field]])
    expect(text).not.toContain('hunter2')
  })

  test('is for the cluster of the uid, and of the name in the path', async () => {
    const { uid } = (await fetch('eu')).json.metadata
    expect((await fetch('eu', {}, alice, { name: 'eu', uid })).status).toBe(201)
    expect((await fetch('eu', {}, alice, { uid: 'other' })).json.message).toContain('the UID of the cluster')
    expect((await fetch('eu', {}, alice, { name: 'us' })).json.details.causes).toMatchObject([
      { field: 'metadata.name' },
    ])
  })

  test('is not made in a dry run', async () => {
    const { status, json } = await fetch('eu', {}, alice, {}, { query: { dryRun: 'All' } })
    expect([status, json.status]).toEqual([201, {}])
  })

  test('is a 403 for a user below system:', async () => {
    const { status, json } = await fetch('eu', {}, { ...admin, name: 'system:node:a' })
    expect([status, json.message]).toEqual([403, expect.stringContaining('"system:"')])
  })

  test('is a 403 for readers, and a 404 for whoever may not see the cluster', async () => {
    expect(await fetch('read')).toMatchObject({
      status: 403,
      json: { message: expect.stringContaining('spec.access of the cluster does not allow it') },
    })
    const hidden = await fetch('others')
    const missing = await fetch('nothing')
    expect([hidden.status, missing.status]).toEqual([404, 404])
    expect(hidden.json.message.replace('others', 'nothing')).toBe(missing.json.message)
    expect((await fetch('eu', {}, bob)).status).toBe(404)
  })
})

describe('a chain of scopes', () => {
  const eu: Scope = { clusters: [{ cluster: 'eu' }] }
  const us: Scope = { clusters: [{ cluster: 'us' }] }
  const every: Scope = { clusters: [{ cluster: '*' }] }
  const resources = [{ group: 'management.platform', resources: ['clusters/kubeconfig/create'] }]
  const making = { rules: [{ verbs: ['create'], resources, requestTargets: ['Management' as const] }] }

  test.each([
    ['the cluster', [eu], false],
    ['every cluster', [every], false],
    ['both', [every, eu], false],
    ['pods of the cluster', [every, { rules: [{ cluster: 'eu', verbs: ['get'] }, ...making.rules] }], true],
  ] satisfies [string, Scope[], boolean][])(
    'that allows %s is in the token, which is for this cluster, if it restricts anything there',
    async (_, chain, isCarried) => {
      const user = withScopes(alice, ...chain)
      const { status, json } = await fetch('eu', {}, user)
      expect([status, json.message]).toEqual([201, undefined])
      const claims = decodeJwt(await tokenOf(json.status.kubeConfig))
      expect(claims.aud).toEqual([`${issuer}/clusters/eu`])
      const carried = JSON.parse((claims['management.platform'] as { scopes: string }).scopes)
      expect(carried).toEqual(isCarried ? expect.arrayContaining([...chain, eu]) : [])
    },
  )

  // threat: users-29
  test.each([
    ['rules that allow only the kube config', [making]],
    [
      'another cluster, in two scopes',
      [
        { ...eu, ...making },
        { ...us, ...making },
      ],
    ],
    ['requests to this API only', [{ rules: [{ requestTargets: ['Management' as const] }] }]],
  ] satisfies [string, Scope[]][])('that allows nothing in the cluster is a 403: %s', async (_, chain) => {
    const user = withScopes(admin, ...chain)
    const { status, json } = await fetch('eu', {}, user)
    expect([status, json.message]).toEqual([
      403,
      'clusters/kubeconfig.management.platform "eu" is forbidden: the scope of the access key allows nothing in this cluster',
    ])
    const read = await functions.invoke('clusters/get', { user, parameters: { name: 'eu' } })
    expect(read.json.status).toEqual({ canUse: false })
  })
})

test('status.canUse says who may create a kube config', async () => {
  const canUse = async (name: string, user: typeof alice) =>
    (await functions.invoke('clusters/get', { user, parameters: { name } })).json.status?.canUse
  await make(
    { name: 'mixed' },
    { server: 'https://a.example.com', access: [{ verbs: ['get', 'use'], users: ['alice'] }] },
  )
  expect([await canUse('mixed', alice), await canUse('read', alice), await canUse('read', admin)]).toEqual([
    true,
    false,
    true,
  ])
})
