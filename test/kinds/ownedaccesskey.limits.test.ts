/**
 * Tests what limits access keys, what whoever creates or changes them without limits is told, and from where they were used.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { UserInfo } from '../../lib/access/users/user.ts'
import { rfc3339 } from '../../lib/engine/meta/encoding/time.ts'
import type { JsonObject, KubeObject } from '../../lib/engine/meta/types.ts'
import { presentObject } from '../../lib/engine/registry/store.ts'
import { OwnedAccessKey } from '../../lib/keys/ownedaccesskey.ts'
import { authenticate } from '../../lib/keys/requests/authenticate.ts'
import { recordActivity, type Source } from '../../lib/keys/requests/uses.ts'
import { authenticationDeps } from '../../lib/server/authentication.ts'
import { createServer } from '../../lib/server/server.ts'
import { startDeployment, type TestDeployment } from '../support/deployment.ts'
import { admin, alice, contextOf, withScopes } from '../support/users.ts'
import { refusal, worldOf } from './contract.ts'
import cases from './vectors/ownedaccesskey.limits.cases.json' with { type: 'json' }

let deployment: TestDeployment
beforeAll(async () => {
  deployment = await startDeployment('https://keyplane.example.com')
})
afterAll(() => deployment?.stop())

const world = (server = deployment.parts) => worldOf(OwnedAccessKey, server)
const scope = { projects: [{ project: 'web' }] }

let names = 0
const newName = () => `limits-${++names}`

/** Creates a key, and returns its name and the warnings. */
async function create(spec: JsonObject, user: UserInfo = admin, server = deployment.parts) {
  const name = newName()
  const context = contextOf(user)
  await world(server).create(world(server).object({ name }, { user: 'alice', ...spec }), { context })
  return { name, warnings: context.warnings }
}

/** Changes members of the spec, removes those that are undefined, and returns the warnings. */
async function change(name: string, spec: Record<string, JsonObject[string] | undefined>): Promise<string[]> {
  const context = contextOf(admin)
  const changed = ({ spec: old = {} }: { spec?: JsonObject }) =>
    Object.fromEntries(Object.entries({ ...old, ...spec }).filter(([, value]) => value !== undefined)) as JsonObject
  await world().change(name, (live) => ({ ...live, spec: changed(live) }), { context })
  return context.warnings
}

const unlimited = (name: string) => `access key "${name}" never expires and has all permissions of alice`

describe('a warning', () => {
  test.each(cases.given as [string, JsonObject][])('is given for a new key %s', async (_, spec) => {
    const { name, warnings } = await create(spec)
    expect(warnings).toEqual([unlimited(name)])
  })

  test.each<[string, JsonObject, UserInfo?]>([
    ['with an end', { ttl: 3600 }],
    ['with an end after its last use', { ttl: 3600, ttlAfterLastActivity: true }],
    ['with a scope', { scope }],
    ['with the scope of its maker', {}, withScopes(alice, scope)],
    ['of a type that the service manages', { type: 'Reset' }],
  ])('is not given for a new key %s', async (_, spec, user) => expect((await create(spec, user)).warnings).toEqual([]))

  test('is given for a key of its own user only if it has all groups of that user', async () => {
    const own = (groups: string[]) => create({ user: '', groups })
    const { name, warnings } = await own(['system:masters'])
    expect(warnings).toEqual([
      expect.stringContaining(`access key "${name}" never expires and has all permissions of `),
    ])
    expect((await own([])).warnings).toEqual([])
  })

  test('is not given where the deployment limits the life of every key', async () => {
    const server = createServer({ ...deployment.environment, MAX_KEY_TTL_SECONDS: '86400' })
    expect((await create({}, admin, server)).warnings).toEqual([])
  })

  test('names the team, or the subject, whose rights the key has', async () => {
    const team = await create({ user: '', team: 'ops' })
    expect(team.warnings).toEqual([expect.stringMatching(/ has all permissions of team:ops$/)])
  })

  // threat: use-15
  test('is given for a change that removes a restriction', async () => {
    const { name } = await create({ scope, ttl: 60 })
    const loses = (member: string) => `access key "${name}" is no longer restricted by ${member}`
    expect(await change(name, { scope: undefined })).toEqual([loses('spec.scope')])
    expect(await change(name, { ttl: 0 })).toEqual([loses('spec.ttl'), unlimited(name)])
    expect(await change(name, { description: 'x' })).toEqual([])
    expect(await change(name, { scope, ttl: 60 })).toEqual([])
    expect(await change(name, { ttl: 90 })).toEqual([])
    expect(await change(name, { scope: undefined, ttl: undefined })).toEqual([
      loses('spec.scope'),
      loses('spec.ttl'),
      unlimited(name),
    ])
  })
})

test('a write that is refused gives no warning', async () => {
  const context = contextOf(alice)
  const refused = world().create(world().object({ name: newName() }, { user: 'bob' }), { context })
  expect((await refusal(refused)).code).toBe(403)
  const { name } = await create({ ttl: 3600, scope })
  const both = (live: KubeObject) => ({ ...live, spec: { user: 'bob' } })
  expect((await refusal(world().change(name, both, { context }))).code).toBe(403)
  expect(context.warnings).toEqual([])
  const allowed = contextOf(admin)
  await world().change(name, both, { context: allowed })
  expect(allowed.warnings).not.toEqual([])
})

describe('the last sources of a key', () => {
  const noon = new Date('2026-11-21T12:00:00Z')
  const later = (seconds: number) => new Date(noon.getTime() + seconds * 1000)

  /** Creates a key at noon, and returns its name and value. */
  async function createAtNoon() {
    const name = newName()
    const context = contextOf(admin, { now: noon })
    const { reveal } = await world().create(world().object({ name }, { user: 'alice' }), { context })
    return { name, key: String(reveal?.[0]?.value) }
  }

  /** Uses the key some seconds after noon. */
  async function use(key: string, seconds: number, source?: Source, server = deployment.parts) {
    const fail = (error: unknown) => {
      throw error
    }
    const deps = { ...authenticationDeps(server, fail), now: () => later(seconds).getTime() }
    const result = await authenticate(key, deps, source)
    if (!('user' in result)) throw new Error('the key is not valid')
    await recordActivity(result.presented, deps)
  }
  const sourcesOf = async (name: string, server = deployment.parts) => {
    const { store, read } = world(server)
    const object = presentObject(store, await read(name), { user: admin, now: noon })
    return object?.status?.lastSources
  }
  const shown = (ip: string, seconds: number, userAgent = 'curl') => ({
    ip,
    userAgent,
    lastSeen: rfc3339(later(seconds)),
  })
  const from = (ip: string, userAgent = 'curl') => ({ ip, userAgent })

  test('are recorded with the last activity, the newest first', async () => {
    const { name, key } = await createAtNoon()
    await use(key, 10, from('192.0.2.1'))
    // No touch is due, so that a source costs no write of its own.
    await use(key, 20, from('192.0.2.9'))
    await use(key, 80, from('2001:db8::1'))
    await use(key, 160, from('192.0.2.1', 'kubectl'))
    expect(await sourcesOf(name)).toEqual([shown('192.0.2.1', 160, 'kubectl'), shown('2001:db8::1', 80)])
  })

  test('stay when another server uses the key without telling from where', async () => {
    const { name, key } = await createAtNoon()
    await use(key, 10, from('192.0.2.1'))
    await use(key, 80)
    expect(await sourcesOf(name)).toEqual([shown('192.0.2.1', 10)])
  })

  // threat: use-16
  test('are neither recorded nor shown where the deployment says so, and the next use removes them', async () => {
    const silent = createServer({ ...deployment.environment, RECORD_SOURCES: 'false' })
    const { name, key } = await createAtNoon()
    await use(key, 10, from('192.0.2.1'))
    expect(await sourcesOf(name, silent)).toBeUndefined()
    expect(await sourcesOf(name)).toHaveLength(1)
    await use(key, 80, from('192.0.2.2'), silent)
    expect(await sourcesOf(name)).toBeUndefined()
    const items = (await deployment.store.all()).filter(({ sources }) => sources !== undefined)
    expect(JSON.stringify(items)).not.toContain('192.0.2.2')
  })

  test('move to the value that replaces the one that was used', async () => {
    const { name, key } = await createAtNoon()
    await use(key, 10, from('192.0.2.1'))
    const value = 'the-value-after-rotation-0123456789'
    const secrets = [{ path: ['spec', 'key'], value }]
    await world().change(name, (live) => live, { secrets })
    await use(value, 80, from('192.0.2.2'))
    expect(await sourcesOf(name)).toEqual([shown('192.0.2.2', 80), shown('192.0.2.1', 10)])
  })
})
