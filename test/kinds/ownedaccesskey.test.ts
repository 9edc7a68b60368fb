/** OwnedAccessKey: the contract of all stored kinds, then the life of a key, its secrets, and whose it is. */
import { ScanCommand } from '@aws-sdk/client-dynamodb'
import { GetSecretValueCommand, PutSecretValueCommand } from '@aws-sdk/client-secrets-manager'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { OwnedAccessKey } from '../../lib/apis/management/v1/ownedaccesskey.ts'
import { authenticate } from '../../lib/authentication/authenticate.ts'
import type { UserInfo } from '../../lib/authorization/users/user.ts'
import type { Secret } from '../../lib/meta/schema/writeonly.ts'
import type { JsonObject } from '../../lib/meta/types.ts'
import { list } from '../../lib/registry/read.ts'
import type { Outcome } from '../../lib/registry/store.ts'
import { authenticationDeps } from '../../lib/server/authentication.ts'
import { createServer, type Server } from '../../lib/server/server.ts'
import { startDeployment, type TestDeployment } from '../support/deployment.ts'
import { admin, alice, contextOf, scoped, userNamed } from '../support/users.ts'
import { causesOf, describeKind, refusal, worldOf } from './contract.ts'

let deployment: TestDeployment
beforeAll(async () => {
  deployment = await startDeployment('https://keyplane.example.com')
}, 60_000)
afterAll(() => deployment?.stop())

describeKind(OwnedAccessKey, () => deployment.parts, {
  valid: { user: 'alice', displayName: 'CI' },
  invalid: [
    { spec: { ttl: -1 }, fields: ['spec.ttl'] },
    { spec: { type: 'Nonsense' }, fields: ['spec.type'] },
    { spec: { groups: 'admins' }, fields: ['spec.groups'] },
    { spec: { scope: { roles: [{ role: 'root' }] } }, fields: ['spec.scope.roles[0].role'] },
    {
      spec: { scope: { rules: [{ resources: [{ group: '' }], nonResourceURLs: ['/'] }] } },
      fields: ['spec.scope.rules[0].nonResourceURLs'],
    },
  ],
  updates: [
    { user: 'alice', displayName: 'Other' },
    { user: 'alice', displayName: 'CI', disabled: true, ttl: 60, ttlAfterLastActivity: true },
    { team: 'ops', groups: ['dev'], scope: { projects: [{ project: 'web' }] } },
  ],
})

const noon = new Date('2026-11-21T12:00:00Z')
const later = (seconds: number) => new Date(noon.getTime() + seconds * 1000)
const world = (server = deployment.parts) => worldOf(OwnedAccessKey, server, { user: 'alice' })
const keyIn = ({ draft }: Outcome): string => String(draft?.reveal?.[0]?.value)
const keySecret = (value: string): Secret => ({ path: ['spec', 'key'], value })

let names = 0
/** A key made at noon by an administrator, or by `user`. */
async function made(
  spec: JsonObject = {},
  { secrets = [] as Secret[], user = admin, server = deployment.parts, ...metadata } = {},
) {
  const name = `k-${++names}`
  const { create, object } = world(server)
  const outcome = await create(object({ name, ...metadata }, { user: 'alice', ...spec }), {
    secrets,
    context: contextOf(user, { now: noon }),
  })
  return { name, key: keyIn(outcome), outcome }
}

/** What a request with the key at that moment is: its user, `unknown`, or the reason of the 401. */
async function use(key: string, now: Date, server: Server = deployment.parts): Promise<UserInfo | string> {
  const deps = authenticationDeps(server, (error) => {
    throw error
  })
  const result = await authenticate(key, { ...deps, now: () => now.getTime() })
  if ('unknown' in result) return 'unknown'
  if ('dead' in result) return result.dead
  await result.touch()
  return result.user
}
const shown = async (name: string, now: Date, server = deployment.parts) => {
  const { store, read } = world(server)
  return store.strategy.present?.(await read(name), { user: admin, now }).status
}
const table = async () =>
  JSON.stringify(await deployment.dynamodb.client.send(new ScanCommand({ TableName: deployment.dynamodb.table })))

describe('the key', () => {
  test('is made by the server, works, and is nowhere', async () => {
    const { key, outcome } = await made()
    expect(key).toMatch(/^mpk_[0-9A-Za-z]{49}$/)
    expect(await use(key, noon)).toMatchObject({ name: 'alice', groups: ['system:authenticated'], chain: [] })
    expect(JSON.stringify(outcome.stored)).not.toContain(key)
    expect(await table()).not.toContain(key)
  })

  test('may be brought along', async () => {
    const { key } = await made({}, { secrets: [keySecret('brought-along-0123456789-0123456789')] })
    expect(key).toBe('brought-along-0123456789-0123456789')
    expect(await use(key, noon)).toMatchObject({ name: 'alice' })
  })

  test('stays when the object is put back without it', async () => {
    const { name, key } = await made()
    const { stored } = await world().change(name, (live) => ({ ...live, spec: { ...live.spec, description: 'new' } }))
    expect(stored.object.spec).toEqual({ user: 'alice', description: 'new' })
    expect(await use(key, noon)).toMatchObject({ name: 'alice' })
  })

  test('rotated: the new value works, the old one is nobody', async () => {
    const { name, key } = await made()
    await use(key, later(10))
    const secrets = [keySecret('the-value-after-rotation-0123456789')]
    const { stored } = await world().change(name, (live) => live, { secrets })
    expect(stored.object.metadata.generation).toBe(2)
    expect(await use(key, later(20))).toBe('unknown')
    expect(await use('the-value-after-rotation-0123456789', later(20))).toMatchObject({ name: 'alice' })
    expect((await shown(name, later(20)))?.lastActivity).toBe('2026-11-21T12:00:10Z')
  })

  test('the value that it has already: nothing happens', async () => {
    const { name, key, outcome } = await made()
    const { stored } = await world().change(name, (live) => live, { secrets: [keySecret(key)] })
    expect(stored.object.metadata.resourceVersion).toBe(outcome.stored.object.metadata.resourceVersion)
  })

  test('of another object: 422 without the value, for creates, changes and dry runs', async () => {
    const { key } = await made()
    const other = await made()
    const secrets = [keySecret(key)]
    const attempts = [
      made({}, { secrets }),
      world().change(other.name, (live) => live, { secrets }),
      world().change(other.name, (live) => live, { secrets, context: contextOf(admin, { dryRun: true }) }),
    ]
    for (const status of await Promise.all(attempts.map(refusal))) {
      expect([status.code, status.details?.causes]).toEqual([
        422,
        [{ reason: 'FieldValueDuplicate', message: 'Duplicate value: <redacted>', field: 'spec.key' }],
      ])
      expect(JSON.stringify(status)).not.toContain(key)
    }
    expect(await use(other.key, noon)).toMatchObject({ key: { name: other.name } })
  })

  test('two objects at once with one value: one of them gets it', async () => {
    const secrets = [keySecret('both-want-this-value-0123456789-01234')]
    const both = await Promise.allSettled([made({}, { secrets }), made({}, { secrets })])
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  })

  test('of an object that is gone can be used again', async () => {
    const { name, key } = await made()
    await world().remove(name)
    expect(await use(key, noon)).toBe('unknown')
    await made({ user: 'bob' }, { secrets: [keySecret(key)] })
    expect(await use(key, noon)).toMatchObject({ name: 'bob' })
  })
})

describe('while the pepper is replaced', () => {
  test('functions that know both peppers, but not the same one as current, give no value to two keys', async () => {
    const { secrets } = deployment.aws
    const SecretId = deployment.environment.PEPPER_SECRET_ID
    const { SecretString = '' } = await secrets.send(new GetSecretValueCommand({ SecretId }))
    const peppers = { ...JSON.parse(SecretString).peppers, 2: Buffer.alloc(32, 7).toString('base64') }
    const serverWith = async (current: string) => {
      await secrets.send(new PutSecretValueCommand({ SecretId, SecretString: JSON.stringify({ current, peppers }) }))
      const server = createServer(process.env)
      expect((await server.hashes('x')).map(({ version }) => version)).toEqual([current, current === '1' ? '2' : '1'])
      return server
    }
    try {
      const servers = [await serverWith('1'), await serverWith('2')]
      for (let round = 0; round < 5; round += 1) {
        const value = keySecret(`value-that-two-want-${round}-0123456789-0123`)
        const others = await Promise.all(servers.map((server) => made({}, { server })))
        const all = await Promise.allSettled(
          servers.flatMap((server, index) => [
            made({}, { secrets: [value], server }),
            world(server).change(others[index]?.name ?? '', (live) => live, { secrets: [value] }),
          ]),
        )
        expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
        for (const one of all) if (one.status === 'rejected') expect(one.reason.status).toMatchObject({ code: 422 })
      }
    } finally {
      await secrets.send(new PutSecretValueCommand({ SecretId, SecretString }))
    }
  })

  test('keys of the old pepper work, are found as duplicates, and are not taken for others', async () => {
    const { name, key, outcome } = await made()
    const { secrets } = deployment.aws
    const SecretId = deployment.environment.PEPPER_SECRET_ID
    const { SecretString = '' } = await secrets.send(new GetSecretValueCommand({ SecretId }))
    const { peppers } = JSON.parse(SecretString)
    const both = { current: '2', peppers: { ...peppers, 2: Buffer.alloc(32, 7).toString('base64') } }
    await secrets.send(new PutSecretValueCommand({ SecretId, SecretString: JSON.stringify(both) }))
    try {
      const server = createServer(process.env)
      expect(await use(key, noon, server)).toMatchObject({ name: 'alice' })
      const duplicate = await refusal(made({}, { secrets: [keySecret(key)], server }))
      expect(duplicate.details?.causes).toMatchObject([{ reason: 'FieldValueDuplicate', field: 'spec.key' }])
      const other = await made({}, { server })
      const change = world(server).change(other.name, (live) => live, { secrets: [keySecret(key)] })
      expect((await refusal(change)).code).toBe(422)
      const same = await world(server).change(name, (live) => live, { secrets: [keySecret(key)] })
      expect(same.stored.object.metadata.resourceVersion).toBe(outcome.stored.object.metadata.resourceVersion)
    } finally {
      await secrets.send(new PutSecretValueCommand({ SecretId, SecretString }))
    }
  })
})

describe('the life of a key', () => {
  test('ttl counts from the creation', async () => {
    const { name, key } = await made({ ttl: 60 })
    expect(await use(key, later(59))).toMatchObject({ name: 'alice' })
    expect(await use(key, later(60))).toBe('access key has expired')
    expect(await shown(name, later(59))).toMatchObject({ phase: 'Active', expirationTimestamp: '2026-11-21T12:01:00Z' })
    expect(await shown(name, later(60))).toMatchObject({ phase: 'Expired' })
  })

  test('ttl 0, like none, is no end', async () => {
    const { name, key } = await made({ ttl: 0 })
    expect(await use(key, later(100 * 365 * 86400))).toMatchObject({ name: 'alice' })
    expect(await shown(name, noon)).not.toHaveProperty('expirationTimestamp')
  })

  test('ttlAfterLastActivity: use keeps it alive, disuse does not', async () => {
    const { name, key } = await made({ ttl: 100, ttlAfterLastActivity: true })
    expect(await use(key, later(90))).toMatchObject({ name: 'alice' })
    expect((await shown(name, later(90)))?.expirationTimestamp).toBe('2026-11-21T12:03:10Z')
    expect(await use(key, later(180))).toMatchObject({ name: 'alice' })
    expect(await use(key, later(280))).toBe('access key has expired')
  })

  test('ttlAfterLastActivity, never used: it counts from the creation', async () => {
    const { key } = await made({ ttl: 100, ttlAfterLastActivity: true })
    expect(await use(key, later(100))).toBe('access key has expired')
  })

  test('disabled, and not any more', async () => {
    const { name, key } = await made({ disabled: true })
    expect(await use(key, noon)).toBe('access key is disabled')
    expect(await shown(name, noon)).toMatchObject({ phase: 'Disabled' })
    await world().change(name, (live) => ({ ...live, spec: { user: 'alice' } }))
    expect(await use(key, noon)).toMatchObject({ name: 'alice' })
  })

  test('being deleted, whatever finalizers hold it', async () => {
    const { name, key } = await made({}, { finalizers: ['example.com/hold'] } as never)
    await world().remove(name)
    expect(await use(key, noon)).toBe('access key is being deleted')
    expect(await shown(name, noon)).toMatchObject({ phase: 'Terminating' })
  })

  // The format date-time lets texts pass that are no time.
  test.each(['2099-01-01T00:00:00+99:99', '2099-01-01T00:00:00Ztea'])(
    'lastActivity is a time, not %s',
    async (text) => {
      const { name, key } = await made()
      await use(key, noon)
      const { store, read } = world()
      const stored = await read(name)
      const object = { ...stored.object, status: { lastActivity: text } }
      for (const written of [object, { ...object, status: { lastActivity: '2026-11-20T00:00:00.5+02:00' } }]) {
        const { status } = store.strategy.present?.({ ...stored, object: written }, { user: admin, now: noon }) ?? {}
        expect(status?.lastActivity).toBe('2026-11-21T12:00:00Z')
      }
      const unused = { ...stored, object }
      delete unused.activity
      expect(store.strategy.present?.(unused, { user: admin, now: noon }).status?.lastActivity).toBe(text)
    },
  )

  test('lastActivity moves when it is old enough, and is no change of the object', async () => {
    const { name, key, outcome } = await made()
    expect(await shown(name, noon)).not.toHaveProperty('lastActivity')
    await use(key, later(1))
    await use(key, later(30))
    expect((await shown(name, later(30)))?.lastActivity).toBe('2026-11-21T12:00:01Z')
    await use(key, later(62))
    expect((await shown(name, later(62)))?.lastActivity).toBe('2026-11-21T12:01:02Z')
    expect((await world().read(name)).rv).toBe(outcome.stored.rv)
  })

  test('an object of the same name begins without the activity of the one before', async () => {
    const { name, key } = await made()
    await use(key, later(5))
    await world().remove(name)
    const { create, object } = world()
    await create(object({ name }))
    expect(await shown(name, later(5))).not.toHaveProperty('lastActivity')
  })
})

describe('a maximum ttl', () => {
  const limited = () => createServer({ ...process.env, MAX_KEY_TTL_SECONDS: '3600' })

  test('more is refused', async () => {
    const status = await refusal(made({ ttl: 3601 }, { server: limited() }))
    expect([status.code, causesOf(status)]).toEqual([422, ['spec.ttl']])
  })

  test('absent and 0 are the maximum', async () => {
    for (const spec of [{}, { ttl: 0 }]) {
      const { name, key } = await made(spec, { server: limited() })
      expect(await use(key, later(3599), limited())).toMatchObject({ name: 'alice' })
      expect(await use(key, later(3600), limited())).toBe('access key has expired')
      expect((await shown(name, noon, limited()))?.expirationTimestamp).toBe('2026-11-21T13:00:00Z')
    }
  })

  test('it binds keys that are there already', async () => {
    const { key } = await made({ ttl: 864_000 })
    expect(await use(key, later(3600))).toMatchObject({ name: 'alice' })
    expect(await use(key, later(3600), limited())).toBe('access key has expired')
  })
})

describe('values that nobody sees', () => {
  const sealed = (value: string): Secret[] => [{ path: ['spec', 'identity', 'connectorData'], value }]

  test('lie in the credential and in no answer', async () => {
    const { name, outcome } = await made({ identity: { userId: 'u' } }, { secrets: sealed('canary-one') })
    expect(JSON.stringify([outcome.stored, await world().read(name)])).not.toContain('canary-one')
    const items = JSON.parse(await table()).Items as Record<string, { S?: string }>[]
    const holders = items.filter((item) => JSON.stringify(item).includes('canary-one'))
    expect(holders.map(({ pk, 'sealed:identity.connectorData': value }) => [pk?.S?.split('#')[0], value?.S])).toEqual([
      ['credential', 'canary-one'],
    ])
  })

  test('stay when they are not sent, move on when the key is rotated', async () => {
    const { name } = await made({}, { secrets: sealed('canary-two') })
    await world().change(name, (live) => ({ ...live, spec: { ...live.spec, description: 'x' } }))
    await world().change(name, (live) => live, { secrets: [keySecret('rotated-with-what-is-sealed-01234')] })
    expect((await table()).split('canary-two')).toHaveLength(2)
  })

  test('another value is a new generation, the same is nothing', async () => {
    const { name, outcome } = await made({}, { secrets: sealed('canary-three') })
    const same = await world().change(name, (live) => live, { secrets: sealed('canary-three') })
    expect(same.stored.rv).toBe(outcome.stored.rv)
    const other = await world().change(name, (live) => live, { secrets: sealed('canary-four') })
    expect(other.stored.object.metadata.generation).toBe(2)
    expect(await table()).not.toContain('canary-three')
  })

  test('grant nothing', async () => {
    const identity = { username: 'root', groups: ['system:masters'], email: 'a@example.com' }
    const { key } = await made({ identity })
    expect(await use(key, noon)).toMatchObject({ name: 'alice', groups: ['system:authenticated'] })
  })
})

describe('whose a key is', () => {
  const robot: UserInfo = { ...userNamed('subject:robot'), identity: 'subject:robot' }
  const member = userNamed('carol', ['team:ops'])

  test.each([
    { spec: { user: 'alice', team: 'ops' }, owner: 'alice', groups: ['system:authenticated', 'team:ops'] },
    { spec: { user: '', team: 'ops' }, owner: 'team:ops', groups: ['system:authenticated', 'team:ops'] },
    { spec: { user: '', subject: 'robot' }, owner: 'subject:robot', groups: ['system:authenticated'] },
    { spec: { user: '' }, owner: 'admin', groups: ['system:authenticated'] },
    { spec: { groups: ['dev'] }, owner: 'alice', groups: ['dev', 'system:authenticated'] },
  ])('$spec: $owner', async ({ spec, owner, groups }) => {
    const { name, key } = await made(spec)
    expect(await use(key, noon)).toMatchObject({ name: owner, groups })
    expect((await shown(name, noon))?.owner).toBe(owner)
  })

  test("others' keys are not there: not to read, change, remove, nor in a list", async () => {
    const { name } = await made()
    const context = contextOf(userNamed('dave'))
    const attempts = [
      world().read(name, context),
      world().change(name, (live) => live, { context }),
      world().remove(name, {}, context),
    ]
    const codes = (await Promise.all(attempts.map(refusal))).map(({ code }) => code)
    expect(codes).toEqual([404, 404, 404])
    expect((await list(world().store, {}, 'list', context)).items).toEqual([])
  })

  test('each sees their own: as user, as member of a team, as subject', async () => {
    const own = await made({ user: 'carol' })
    const team = await made({ user: '', team: 'ops' })
    const subject = await made({ user: '', subject: 'robot' })
    await made({ user: 'robot' })
    const seen = async (user: UserInfo) => {
      const { items } = await list(world().store, {}, 'list', contextOf(user))
      return items.map(({ key }) => key)
    }
    expect(await seen(member)).toEqual(expect.arrayContaining([own.name, team.name]))
    expect(await seen(member)).not.toContain(subject.name)
    // A subject named like a user is not that user.
    expect(await seen(robot)).toContain(subject.name)
    expect(await seen(userNamed('robot'))).not.toContain(subject.name)
  })

  test('the owner may rotate, disable and remove; not give away or add groups', async () => {
    const { name } = await made({}, { user: alice })
    const context = contextOf(alice)
    const change = (spec: JsonObject) =>
      world().change(name, (live) => ({ ...live, spec: { ...live.spec, ...spec } }), { context })
    expect((await change({ disabled: true })).created).toBe(false)
    for (const spec of [{ user: 'bob' }, { groups: ['dev'] }, { team: 'ops' }, { type: 'Login' }]) {
      const status = await refusal(change(spec))
      expect([status.code, status.message]).toEqual([403, expect.stringContaining('only system:masters may change')])
    }
    expect((await world().remove(name, {}, context)).gone).toBe(true)
  })

  test('nobody makes a key with groups that they lack', async () => {
    expect((await refusal(made({ groups: ['dev'] }, { user: alice }))).code).toBe(403)
    expect((await made({ groups: ['dev'] }, { user: userNamed('alice', ['dev']) })).key).toMatch(/^mpk_/)
  })
})

describe('scopes', () => {
  const projects = { projects: [{ project: 'web' }] }

  test('a key that a scoped caller makes carries their scopes, under its own', async () => {
    const own = { rules: [{}] }
    const { key } = await made({ scope: own }, { user: scoped(alice, projects) })
    expect(await use(key, noon)).toMatchObject({ chain: [projects, own] })
  })

  test('a scoped caller makes no key that outlives its own', async () => {
    const caller = scoped(alice, { rules: [{}] })
    const ending = { ...caller, key: { ...caller.key, expires: later(100).getTime() / 1000 } }
    const status = await refusal(made({ ttl: 101 }, { user: ending }))
    expect([status.code, status.message]).toEqual([
      403,
      expect.stringContaining('may not create one that could outlive it'),
    ])
    expect((await made({ ttl: 100 }, { user: ending })).key).toMatch(/^mpk_/)
  })

  test('a key with an end leaves none behind that outlives it', async () => {
    const key = { ...alice.key, expires: later(100).getTime() / 1000 }
    const ending = { ...alice, key }
    const status = await refusal(made({ ttl: 101 }, { user: ending }))
    expect([status.code, status.message]).toEqual([
      403,
      expect.stringContaining('the access key used expires at 2026-11-21T12:01:40Z and may not create one'),
    ])
    const { name } = await made()
    const context = contextOf(ending, { now: noon })
    const change = (spec: JsonObject, secrets: Secret[] = []) =>
      world().change(name, (live) => ({ ...live, spec: { ...live.spec, ...spec } }), { context, secrets })
    const rotated = change({}, [keySecret('a-value-that-whoever-sets-it-knows')])
    expect((await refusal(rotated)).message).toContain('may not change the value of one that could outlive it')
    expect((await change({ disabled: true })).created).toBe(false)
    const enabled = change({ disabled: false })
    expect((await refusal(enabled)).message).toContain('may not extend the lifetime of one that could outlive it')
  })

  test('a key of type Login makes others for 15 minutes', async () => {
    const key = { ...alice.key, type: 'Login', expires: later(3600).getTime() / 1000 }
    const signedIn = (seconds: number) => ({
      ...alice,
      key,
      credential: { version: '1', hash: 'hash', created: later(-seconds).getTime() / 1000 },
    })
    expect((await refusal(made({}, { user: signedIn(900) }))).message).toMatch(/; sign in again$/)
    const makes = world().create(world().object({ name: 'made-by-login' }), {
      context: contextOf(signedIn(899), { now: noon, dryRun: true }),
    })
    expect((await makes).created).toBe(true)
  })

  test('an administrator who widens the scope of such a key leaves what it carries', async () => {
    const { name, key } = await made({}, { user: scoped(alice, projects) })
    await world().change(name, (live) => ({ ...live, spec: { ...live.spec, scope: { rules: [{}] } } }))
    expect(await use(key, noon)).toMatchObject({ chain: [projects, { rules: [{}] }] })
  })

  test('a scoped caller changes no key without its scope, and lengthens no life', async () => {
    const free = await made({ ttl: 60 })
    const bound = await made({ ttl: 60 }, { user: scoped(alice, projects) })
    const context = contextOf(scoped(alice, projects))
    const change = (name: string, spec: JsonObject) =>
      world().change(name, (live) => ({ ...live, spec: { ...live.spec, ...spec } }), { context })
    expect((await refusal(change(free.name, { description: 'x' }))).code).toBe(403)
    expect((await change(bound.name, { description: 'x' })).created).toBe(false)
    expect((await refusal(change(bound.name, { ttl: 61 }))).code).toBe(403)
    expect((await refusal(change(bound.name, { ttl: 0 }))).code).toBe(403)
    expect((await change(bound.name, { ttl: 59 })).created).toBe(false)
  })

  test('a chain that would not fit in a header is refused where it would be written', async () => {
    const deep = Array.from({ length: 8 }, (_, n) => ({ projects: [{ project: `p${n}` }] }))
    const status = await refusal(made({ scope: projects }, { user: scoped(alice, ...deep) }))
    expect([status.code, causesOf(status)]).toEqual([422, ['spec.scope']])
    const wide = { projects: Array.from({ length: 300 }, (_, n) => ({ project: `project-${n}` })) }
    expect((await refusal(made({ scope: wide }))).code).toBe(422)
  })
})
