/** Tests Cluster: the contract of stored kinds, then what can never work, and who may do what. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Cluster } from '../../lib/clusters/cluster.ts'
import type { JsonObject } from '../../lib/engine/meta/types.ts'
import { listObjects } from '../../lib/engine/registry/read.ts'
import { testAuthority } from '../lib/clusters/authority.ts'
import { startDeployment, type TestDeployment } from '../support/deployment.ts'
import { admin, bob, contextOf, userNamed } from '../support/users.ts'
import { describeKind, refusal, worldOf } from './contract.ts'

let deployment: TestDeployment
beforeAll(async () => {
  deployment = await startDeployment('https://keyplane.example.com')
})
afterAll(() => deployment?.stop())

const server = 'https://eu.example.com:6443'
const eks = { clusterName: 'prod_1', region: 'eu-central-1' }
const { certificate } = await testAuthority()
const base64 = (text: string) => Buffer.from(text).toString('base64')
/** A cluster of EKS. */
const inEks = {
  server: 'https://0123.gr7.eu-central-1.eks.amazonaws.com',
  certificateAuthorityData: base64(certificate),
  tokens: 'ServiceAccounts',
  credentials: { eks },
}

describeKind(Cluster, () => deployment.parts, {
  valid: { displayName: 'Europe', server, tokens: 'Issuer' },
  invalid: [
    { spec: {}, fields: ['spec.server'] },
    { spec: { server: 1 }, fields: ['spec.server'] },
    { spec: { server, tokens: 'Certificates' }, fields: ['spec.tokens'] },
    { spec: { server, serviceAccounts: { namespace: 'keyplane' } }, fields: ['spec.serviceAccounts'] },
    { spec: { server, credentials: { secretRef: { name: 'a' } } }, fields: ['spec.credentials'] },
    {
      spec: { server, tokens: 'ServiceAccounts', serviceAccounts: { namespace: 'kube-system' } },
      fields: ['spec.serviceAccounts.namespace'],
    },
    {
      spec: { server, tokens: 'ServiceAccounts', credentials: { secretRef: { name: '../x' } } },
      fields: ['spec.credentials.secretRef.name'],
    },
    { spec: { server, credentials: { eks } }, fields: ['spec.credentials'] },
    { spec: { ...inEks, credentials: { eks, secretRef: { name: 'a' } } }, fields: ['spec.credentials.secretRef'] },
    {
      spec: { ...inEks, credentials: { eks: { clusterName: 'a/b', region: 'evil.example' } } },
      fields: ['spec.credentials.eks.clusterName', 'spec.credentials.eks.region'],
    },
    { spec: { ...inEks, credentials: { eks: { clusterName: 'prod' } } }, fields: ['spec.credentials.eks.region'] },
    { spec: { ...inEks, server }, fields: ['spec.server'] },
    { spec: { ...inEks, server: 'https://0123.gr7.us-east-1.eks.amazonaws.com' }, fields: ['spec.server'] },
    { spec: { ...inEks, certificateAuthorityData: '' }, fields: ['spec.certificateAuthorityData'] },
    {
      spec: { ...inEks, certificateAuthorityData: base64(certificate.repeat(20)) },
      fields: ['spec.certificateAuthorityData'],
    },
    { spec: { server, access: [{ subresources: ['pods'] }] }, fields: ['spec.access[0].subresources[0]'] },
    { spec: { server: `https://${'x'.repeat(2048)}` }, fields: ['spec.server'] },
    { spec: { server, certificateAuthorityData: 'A'.repeat(65_537) }, fields: ['spec.certificateAuthorityData'] },
  ],
  updates: [
    { server: 'https://other.example.com' },
    { server, access: [{ verbs: ['*'], users: ['bob'] }] },
    { server, description: 'Production' },
    { server, tokens: 'ServiceAccounts', credentials: { secretRef: { name: 'a/b' } } },
    inEks,
    {
      ...inEks,
      server: 'https://0123.yl4.eks-cluster.eusc-de-east-1.api.amazonwebservices.eu',
      credentials: { eks: { ...eks, region: 'eusc-de-east-1' } },
    },
  ],
})

describe('what can never work', () => {
  let count = 0
  /** Returns the causes of a 422, which a dry run and a change have too. */
  async function refused(spec: JsonObject): Promise<string[]> {
    const world = worldOf(Cluster, deployment.parts)
    const name = `fresh-${++count}`
    const causesOf = async (write: Promise<unknown>) => {
      const { code, details } = await refusal(write)
      expect(code).toBe(422)
      return (details?.causes ?? []).map(({ field, message }) => `${field}: ${message}`)
    }
    const object = world.object({ name }, { server, ...spec })
    const found = await causesOf(world.create(object))
    expect(await causesOf(world.create(object, { context: contextOf(admin, { dryRun: true }) }))).toEqual(found)
    await world.create(world.object({ name }, { server }))
    const changed = world.change(name, (live) => ({ ...live, spec: { ...live.spec, ...spec } }))
    expect(await causesOf(changed)).toEqual(found)
    return found
  }

  // threat: users-32
  test.each([
    '',
    'eu.example.com',
    'http://eu.example.com',
    'HTTPS://eu.example.com',
    'https://eu.example.com?a',
    'https://eu.example.com/?',
    'https://eu.example.com#a',
    'https://eu.example.com/#',
    'https://eu.example.com/a b',
    'https://eu.example.com\n',
    'https://*.example.com',
    'https://eu.example.com:0',
    'https://eu.example.com/../x',
    'https:///x',
  ])('in the server %j is a 422', async (bad) =>
    expect(await refused({ server: bad })).toEqual([
      `spec.server: Invalid value: ${JSON.stringify(bad)}: must be an absolute https URL without user, query and fragment`,
    ]),
  )

  test('in a server with a password is a 422 that does not repeat it', async () => {
    const [cause, ...more] = await refused({ server: 'https://me:hunter2@eu.example.com' })
    expect([cause, more]).toEqual([expect.stringContaining('spec.server: Invalid value: "<redacted>"'), []])
  })

  test.each([
    ['no base64', '%'],
    ['PEM without base64', certificate],
    ['base64 of something else', base64('hunter2')],
    ['a private key', base64('-----BEGIN PRIVATE KEY-----\nhunter2\n-----END PRIVATE KEY-----')],
    ['a damaged certificate', base64(certificate.replace(/M/g, 'N'))],
  ])('in the certificate authority, as %s, is a 422 that does not repeat it', async (_, certificateAuthorityData) =>
    expect(await refused({ certificateAuthorityData })).toEqual([
      'spec.certificateAuthorityData: Invalid value: "<redacted>": must be certificates in PEM, encoded with base64',
    ]),
  )

  test.each(['-----BEGIN PRIVATE KEY-----\nhunter2\n-----END PRIVATE KEY-----', '-----BEGIN RSA PRIVATE'])(
    'in the certificate authority, as certificates beside %j, is a 422 that does not repeat it',
    async (key) =>
      expect(await refused({ certificateAuthorityData: base64(`${certificate}${key}`) })).toEqual([
        'spec.certificateAuthorityData: Invalid value: "<redacted>": must have certificates only, and no other PEM block, such as a private key',
      ]),
  )

  test('in the proxy with a password is a 422 that does not repeat it', async () => {
    const [cause, ...more] = await refused({ proxyURL: 'http://me:hunter2@proxy.example.com' })
    expect([cause, more]).toEqual([
      'spec.proxyURL: Invalid value: "<redacted>": must be an https, http or socks5 URL with a host, without user, path and query',
      [],
    ])
  })

  test('in the name of the certificate is a 422', async () =>
    expect(await refused({ tlsServerName: '10.0.0.1' })).toEqual([
      'spec.tlsServerName: Invalid value: "10.0.0.1": must be a DNS name, without a port',
    ]))

  test.each(['a.b', '*', 'Eu', 'a/b', '-a', 'a_b', 'x'.repeat(64)])('in the name %j is a 422', async (name) => {
    const world = worldOf(Cluster, deployment.parts)
    const { code, details } = await refusal(world.create(world.object({ name }, { server })))
    expect([code, details?.causes?.map(({ field }) => field)]).toEqual([422, ['metadata.name']])
  })

  test.each([
    { server: 'https://EU.example.com:443/k8s/clusters/c-1' },
    { certificateAuthorityData: base64(certificate) },
    { proxyURL: 'socks5://proxy.example.com:1080', tlsServerName: 'eu.internal' },
    { proxyURL: '', tlsServerName: '' },
  ])('is not in %j', async (spec) => {
    const world = worldOf(Cluster, deployment.parts)
    await world.create(world.object({ name: `fine-${++count}` }, { server, ...spec }))
  })
})

describe('access to a cluster', () => {
  test('lists show only readable clusters', async () => {
    const world = worldOf(Cluster, deployment.parts)
    await world.create(
      world.object({ name: 'shared' }, { server, access: [{ verbs: ['get', 'list'], users: ['bob'] }] }),
    )
    await world.create(world.object({ name: 'others' }, { server, access: [{ verbs: ['*'], users: ['alice'] }] }))
    await world.create(world.object({ name: 'masters' }, { server }))
    const { items } = await listObjects(world.store, {}, 'list', contextOf(bob))
    const names = items.map((one) => one.read().object.metadata.name)
    expect(names).toContain('shared')
    expect(names).not.toContain('others')
    expect(names).not.toContain('masters')
    expect(await refusal(world.read('others', contextOf(bob)))).toMatchObject({ code: 404 })
    expect(await refusal(world.remove('shared', {}, contextOf(bob)))).toMatchObject({
      code: 403,
      message: expect.stringContaining('spec.access of the cluster does not allow it'),
    })
  })

  // threat: users-31
  test.each([
    { server: 'https://evil.example.com' },
    { certificateAuthorityData: '' },
    { proxyURL: 'http://evil.example.com' },
    { tlsServerName: 'evil.example.com' },
    { tokens: 'Issuer' },
    { access: [{ verbs: ['*'], teams: ['ops'] }] },
  ])('a user with all verbs may change the texts, and not %j', async (change) => {
    const world = worldOf(Cluster, deployment.parts)
    const name = `open-${Object.keys(change)[0]?.toLowerCase()}`
    await world.create(world.object({ name }, { server, access: [{ verbs: ['*'], users: ['carol'] }] }))
    const context = contextOf(userNamed('carol'))
    const set = (spec: JsonObject) =>
      world.change(name, (live) => ({ ...live, spec: { ...live.spec, ...spec } }), { context })
    await set({ displayName: 'Europe', description: 'Production' })
    const { code, message } = await refusal(set(change))
    expect([code, message]).toEqual([403, expect.stringContaining(`spec.${Object.keys(change)[0]}`)])
  })
})

describe('how this service reaches a cluster', () => {
  const accounts = { server, tokens: 'ServiceAccounts', credentials: { secretRef: { name: 'a' } } }
  const scoped = contextOf({ ...admin, chain: [{ rules: [{}] }] })

  // threat: exchange-38
  test('is for system:masters without a scope to say, also by default and when it is taken away', async () => {
    const world = worldOf(Cluster, deployment.parts)
    const create = (name: string, spec: JsonObject) =>
      refusal(world.create(world.object({ name }, spec), { context: scoped }))
    expect((await create('r1', { server, tokens: 'ServiceAccounts' })).code).toBe(403)
    expect((await create('r2', accounts)).code).toBe(422)
    for (const [name, before, after] of [
      ['r3', { server }, { server, tokens: 'ServiceAccounts' }],
      ['r4', accounts, { server }],
      ['r5', accounts, { server, tokens: 'ServiceAccounts' }],
      ['r7', { ...accounts, ...inEks, credentials: accounts.credentials }, inEks],
      ['r8', inEks, { ...inEks, credentials: accounts.credentials }],
      ['r9', inEks, { ...inEks, server: 'https://4567.gr7.eu-central-1.eks.amazonaws.com' }],
      ['r10', inEks, { ...inEks, certificateAuthorityData: base64(`${certificate}${certificate}`) }],
      ['r11', inEks, { ...inEks, credentials: { eks: { ...eks, clusterName: 'other' } } }],
    ] as [string, JsonObject, JsonObject][]) {
      await world.create(world.object({ name }, before))
      const changed = world.change(name, (live) => ({ ...live, spec: after }), { context: scoped })
      // A reference that is new is an error of its field.
      expect([name, [403, 422].includes((await refusal(changed)).code ?? 0)]).toEqual([name, true])
    }
    await world.create(world.object({ name: 'r6' }, accounts))
    const renamed = { ...accounts, displayName: 'Europe' }
    await world.change('r6', (live) => ({ ...live, spec: renamed }), { context: scoped })
  })
})
