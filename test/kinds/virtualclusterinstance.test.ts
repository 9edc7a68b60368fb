/** Tests VirtualClusterInstance: the contract of stored kinds, then access to instances. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { VirtualClusterInstance } from '../../lib/clusters/virtualclusterinstance.ts'
import type { JsonObject } from '../../lib/engine/meta/types.ts'
import { createObject } from '../../lib/engine/registry/create.ts'
import { listObjects } from '../../lib/engine/registry/read.ts'
import { testAuthority } from '../lib/clusters/authority.ts'
import { startDeployment, type TestDeployment } from '../support/deployment.ts'
import { admin, alice, bob, contextOf, userNamed } from '../support/users.ts'
import { describeKind, refusal, worldOf } from './contract.ts'

let deployment: TestDeployment
beforeAll(async () => {
  deployment = await startDeployment('https://keyplane.example.com')
})
afterAll(() => deployment?.stop())

const kind = VirtualClusterInstance

describeKind(kind, () => deployment.parts, {
  valid: { displayName: 'Preview', owner: { user: 'alice' } },
  invalid: [
    { spec: { displayName: 1 }, fields: ['spec.displayName'] },
    { spec: { access: [{ subresources: ['pods'] }] }, fields: ['spec.access[0].subresources[0]'] },
    { spec: { accessPoint: { ingress: { host: 'x'.repeat(254) } } }, fields: ['spec.accessPoint.ingress.host'] },
    { spec: { accessPoint: { ingress: { host: 'https://vc' } } }, fields: ['spec.accessPoint.ingress.host'] },
    { spec: { tokens: 'Certificates' }, fields: ['spec.tokens'] },
    { spec: { serviceAccounts: { namespace: 'keyplane' } }, fields: ['spec.serviceAccounts'] },
    {
      spec: { tokens: 'ServiceAccounts', serviceAccounts: { namespace: 'kube-system' } },
      fields: ['spec.serviceAccounts.namespace'],
    },
  ],
  updates: [
    { displayName: 'Other', owner: { user: 'alice' } },
    { owner: { user: 'alice', team: 'ops' }, access: [{ verbs: ['*'], users: ['bob'] }] },
    { owner: { user: 'alice' }, accessPoint: { ingress: { enabled: true, host: 'vc.example.com:8443' } } },
    { owner: { user: 'alice' }, tokens: 'ServiceAccounts', serviceAccounts: { namespace: 'users' } },
  ],
})

describe('what can never work', async () => {
  const certificate = (await testAuthority()).certificate
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  const hosted = (host: string, enabled = true) => ({ accessPoint: { ingress: { enabled, host } } })
  let count = 0
  const create = (spec: JsonObject, dryRun = false) => {
    const world = worldOf(kind, deployment.parts)
    const name = `fresh-${++count}`
    return world.create(world.object({ name }, spec), { context: contextOf(admin, { dryRun }) })
  }
  /** Returns the causes of the 422, which a dry run has too. */
  const refused = async (spec: JsonObject): Promise<string[]> => {
    const causes = async (dryRun: boolean) => {
      const { code, details } = await refusal(create(spec, dryRun))
      expect(code).toBe(422)
      return (details?.causes ?? []).map(({ field, message }) => `${field}: ${message}`)
    }
    const found = await causes(false)
    expect(await causes(true)).toEqual(found)
    return found
  }

  // threat: virtual-10
  test.each([
    'https://vc.example.com',
    'vc.example.com/path',
    'vc.example.com/',
    'vc example.com',
    ' vc.example.com',
    'vc.example.com\n',
    '*.example.com',
    'vc.example.com:0',
    'vc.example.com:',
    'vc.example.com:65536',
    'vc.example.com?a',
    '127.1',
  ])('in the host %j is a 422', async (host) => {
    const [cause, ...more] = await refused(hosted(host))
    expect([cause, more]).toEqual([expect.stringContaining('spec.accessPoint.ingress.host: Invalid value'), []])
    expect(cause).toContain('must be a host, or a host and port, that clients can reach')
    // A disabled ingress counts as absent.
    await create(hosted(host, false))
  })

  // threat: virtual-10
  test('in a host with a password is a 422 that does not repeat it', async () => {
    const [cause] = await refused(hosted('me:hunter2@vc.example.com'))
    expect(cause).toContain('"<redacted>"')
    expect(cause).not.toContain('hunter2')
  })

  test.each(['', 'vc', 'VC.example.com', 'vc.example.com:8443', '10.0.0.1:6443', '[2001:db8::1]:6443'])(
    'is not in the host %j',
    async (host) => {
      await create(hosted(host))
    },
  )

  // threat: virtual-10
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

  test.each(['', base64(certificate), base64(`text\n${certificate}${certificate}`)])(
    'is not in certificates (%#)',
    async (certificateAuthorityData) => {
      await create({ certificateAuthorityData })
    },
  )

  // threat: virtual-10
  test.each([
    'http://me:hunter2@proxy.example.com',
    'https://hunter2@proxy.example.com',
    'ftp://proxy.example.com',
    'socks4://proxy.example.com',
    'javascript:alert(1)',
    'proxy.example.com:8080',
    'https://proxy.example.com/path',
    'https://proxy.example.com?hunter2',
    'https://proxy.example.com:0',
    'https://proxy.example.com:65536',
    'https://proxy .example.com',
    'http://proxy.example.com\n',
  ])('in the proxy %j is a 422 that repeats no password', async (proxyURL) => {
    const [cause, ...more] = await refused({ proxyURL })
    expect([cause, more]).toEqual([
      expect.stringMatching(
        /^spec\.proxyURL: Invalid value: .*: must be an https, http or socks5 URL with a host, without user, path and query$/s,
      ),
      [],
    ])
    if (proxyURL.includes('@')) expect(cause).not.toContain('hunter2')
  })

  test.each(['10.0.0.1', 'vc.internal:8443', '*.internal', 'vc..internal', '-vc', 'a'.repeat(254), '2001:db8::1'])(
    'in the name of the certificate %j is a 422',
    async (tlsServerName) =>
      expect(await refused({ tlsServerName })).toEqual([
        expect.stringMatching(/^spec\.tlsServerName: (Invalid value: .*: must be a DNS name, without a port|Too long)/),
      ]),
  )

  test.each([
    { proxyURL: 'socks5://proxy.example.com:1080', tlsServerName: 'vc.internal' },
    { proxyURL: 'http://[2001:db8::1]:3128/', tlsServerName: 'a1.example.com' },
    { proxyURL: '', tlsServerName: '' },
  ])('is not in %j', async (spec) => {
    await create(spec)
  })

  test('in the name of the secret is a 422', async () => {
    const [cause] = await refused({ credentialsSecretRef: { secretName: 'a b' } })
    expect(cause).toContain('spec.credentialsSecretRef.secretName: Invalid value: "a b": must be steps of letters')
  })

  test('stays if it was stored by an earlier release, and is judged again when it changes', async () => {
    const world = worldOf(kind, deployment.parts)
    const old = { ...hosted('https://vc.example.com'), certificateAuthorityData: 'AAAA' }
    const unchecked = { ...world.store, strategy: {} }
    await createObject(unchecked, { object: world.object({ name: 'old' }, old), secrets: [] }, contextOf(admin))
    await world.change('old', (live) => ({ ...live, spec: { ...live.spec, displayName: 'Old' } }))
    const refusedChange = async (spec: JsonObject) =>
      (await refusal(world.change('old', (live) => ({ ...live, spec: { ...live.spec, ...spec } })))).details?.causes
    const host = [{ field: 'spec.accessPoint.ingress.host' }]
    expect(await refusedChange(hosted('a/b'))).toMatchObject(host)
    await world.change('old', (live) => ({ ...live, spec: { ...live.spec, ...hosted('a/b', false) } }))
    expect(await refusedChange(hosted('a/b'))).toMatchObject(host)
  })
})

describe('access to an instance', () => {
  // A reader gets 403 for other verbs; a user without read access gets 404.
  test('lists show only readable instances', async () => {
    const world = worldOf(kind, deployment.parts)
    await world.create(world.object({ name: 'own' }, { owner: { user: 'bob' } }))
    await world.create(world.object({ name: 'shared' }, { access: [{ verbs: ['get', 'list'], users: ['bob'] }] }))
    await world.create(world.object({ name: 'others' }, { owner: { user: 'alice' } }))
    const { items } = await listObjects(world.store, { namespace: world.namespace }, 'list', contextOf(bob))
    expect(items.map((one) => one.read().object.metadata.name)).toEqual(['own', 'shared'])
  })

  test('the owner cannot give the instance away', async () => {
    const world = worldOf(kind, deployment.parts)
    await world.create(world.object({ name: 'vc' }, { owner: { user: 'alice' } }))
    const status = await refusal(
      world.change('vc', (live) => ({ ...live, spec: { owner: { user: 'bob' } } }), { context: contextOf(alice) }),
    )
    expect([status.code, status.message]).toEqual([403, expect.stringContaining('spec.owner')])
  })

  // threat: users-31
  test.each([{ proxyURL: 'http://evil.example.com' }, { tlsServerName: 'evil.example.com' }])(
    'nobody but administrators sends its clients elsewhere, by %j',
    async (change) => {
      const world = worldOf(kind, deployment.parts)
      const access = [{ verbs: ['*'], users: ['bob'] }]
      const set = { proxyURL: 'http://proxy.example.com', tlsServerName: 'vc.internal' }
      await world.create(world.object({ name: 'vc' }, { owner: { user: 'alice' }, access }))
      await world.create(world.object({ name: 'set' }, { owner: { user: 'alice' }, access, ...set }))
      const [member = ''] = Object.keys(change)
      const to = (name: string, spec: JsonObject, user = admin) =>
        world.change(name, (live) => ({ ...live, spec: { ...live.spec, ...spec } }), { context: contextOf(user) })
      const why = { code: 403, message: expect.stringContaining(`only system:masters may change spec.${member}`) }
      for (const user of [alice, bob]) {
        await to('set', { displayName: user.name }, user)
        for (const [name, spec] of [
          ['vc', change],
          ['set', change],
          ['set', { [member]: '' }],
        ] as const)
          expect(await refusal(to(name, spec, user))).toMatchObject(why)
      }
      await to('vc', change)
    },
  )

  test("a reader gets kube-apiserver's message for other verbs, quotes included", async () => {
    const world = worldOf(kind, deployment.parts)
    const name = 'bob "the" <b>'
    await world.create(world.object({ name: 'vc' }, { access: [{ verbs: ['get'], users: [name] }] }))
    const status = await refusal(world.change('vc', (live) => live, { context: contextOf(userNamed(name)) }))
    expect(status.message).toBe(
      `virtualclusterinstances.management.platform "vc" is forbidden: User "bob \\"the\\" &lt;b&gt;" cannot update resource "virtualclusterinstances" in API group "management.platform" in the namespace "${world.namespace}": neither spec.owner nor spec.access of the instance allows it`,
    )
  })
})

describe('how this service reaches a virtual cluster', () => {
  const accounts = { owner: { user: 'alice' }, tokens: 'ServiceAccounts' }
  const scoped = contextOf({ ...admin, chain: [{ rules: [{}] }] })

  // threat: exchange-38
  test('is for system:masters without a scope to say, if service accounts issue the tokens', async () => {
    const world = worldOf(kind, deployment.parts)
    const created = world.create(world.object({ name: 'r1' }, accounts), { context: scoped })
    expect(await refusal(created)).toMatchObject({ code: 403, message: expect.stringContaining('spec.tokens') })
    for (const [index, [member, before, after]] of (
      [
        ['tokens', {}, accounts],
        ['tokens', accounts, {}],
        [
          'credentialsSecretRef',
          accounts,
          { ...accounts, credentialsSecretRef: { secretName: `${world.namespace}/x` } },
        ],
        ['serviceAccounts', { ...accounts, serviceAccounts: { namespace: 'a' } }, accounts],
        ['accessPoint', accounts, { ...accounts, accessPoint: { ingress: { host: 'evil.example.com' } } }],
      ] as [string, JsonObject, JsonObject][]
    ).entries()) {
      const name = `s${index}`
      await world.create(world.object({ name }, before))
      const changed = (context = scoped) =>
        refusal(world.change(name, (live) => ({ ...live, spec: after }), { context }))
      expect(await changed()).toMatchObject({ code: 403, message: expect.stringContaining(`spec.${member}`) })
      const owner = await changed(contextOf(alice))
      expect([name, owner.code]).toEqual([name, before === accounts || index === 3 ? 403 : 404])
    }
    await world.create(world.object({ name: 'r2' }, accounts))
    const renamed = { ...accounts, displayName: 'Preview' }
    await world.change('r2', (live) => ({ ...live, spec: renamed }), { context: scoped })
  })
})
