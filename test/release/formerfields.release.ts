/** Keys and trusts with a field of spec that a commit before had, and that this release no longer knows: it applies and shows none of it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { table as keyTable } from '../../lib/keys/ownedaccesskey.table.ts'
import { provider, providers, trust, trusts } from '../support/federation.ts'
import { accessKey, instances, keys, management } from '../support/objects.ts'
import { applyPatch, type Call, mergePatch } from '../support/request.ts'
import { WITH_FIELD } from './previous.ts'
import { type Release, type Releases, startReleases } from './releases.ts'

const rules = [{ verbs: ['create'], resources: [{ group: 'management.platform', resources: ['ownedaccesskeys'] }] }]
const small = { projects: [{ project: 'a' }], rules }
const wide = { ...small, projects: [{ project: 'a' }, { project: 'b' }] }

let releases: Releases
/** The fields of the spec of a key that only the commit before describes. */
let gone: Record<string, object>
beforeAll(async () => {
  releases = await startReleases(WITH_FIELD)
  const [before, now] = [await specOf('old'), await specOf('new')]
  const until = new Date(Date.now() + 86_400_000).toISOString().replace(/\.\d+/, '')
  gone = Object.fromEntries(before.filter((name) => !now.includes(name)).map((name) => [name, { scope: small, until }]))
  expect(Object.keys(gone)).toHaveLength(1)
})
afterAll(() => releases?.stop())

const by = (release: Release) => releases.by([release, release])
const call = (path: string, sent: Call = {}, release: Release = 'new') =>
  releases.call(path, { ...sent, headers: { ...sent.headers, ...by(release) } })

/** Returns the names of the fields of the spec of a key, as a release publishes them. */
async function specOf(release: Release): Promise<string[]> {
  const { json } = await call('/openapi/v3/apis/management.platform/v1', {}, release)
  const schemas: [string, { properties: { spec: { properties: object } } }][] = Object.entries(json.components.schemas)
  const [, schema] = schemas.find(([name]) => name.endsWith('.OwnedAccessKey')) ?? []
  return Object.keys(schema?.properties.spec.properties ?? {})
}

const stored = async (name: string) => {
  const found = await releases.parts.storage.get(keyTable, name)
  if (!found) throw new Error(`no key ${name}`)
  return found
}

/** Makes a key with the field and uses it, by the functions of the commit before. */
async function make(name: string): Promise<string> {
  const spec = { user: 'alice', groups: ['system:masters'], scope: wide, ...gone }
  const made = await call(keys, { method: 'POST', body: accessKey(name, spec) }, 'old')
  expect(made.status).toBe(201)
  const token: string = made.json.spec.key
  const warned = await call(instances('p-b'), { token }, 'old')
  expect([warned.status, String(warned.headers.warning)]).toEqual([200, expect.stringContaining('does not allow list')])
  return token
}

test('a trust with the field is read without it, and updated', async () => {
  await releases.make(providers, provider('ci', { issuer: 'https://issuer.example.com' }))
  const claims = [{ claim: 'repository_id', values: ['1'] }]
  const body = trust('deploy', { identityProvider: 'ci', claims, scope: wide, ...gone })
  expect((await call(trusts, { method: 'POST', body }, 'old')).status).toBe(201)
  const { json } = await call(`${trusts}/deploy`)
  expect(json.spec).toEqual({ identityProvider: 'ci', claims, scope: wide })
  const changed = await call(`${trusts}/deploy`, mergePatch({ spec: { scope: small } }))
  expect([changed.status, changed.json.spec.scope, changed.json.status.formerScope.scope]).toEqual([200, small, wide])
})

describe('a key with a field that this release does not know', () => {
  test('has its own scope, as have the keys that it makes', async () => {
    const token = await make('own')
    const child = await call(keys, { method: 'POST', body: accessKey('child', { ttl: 60 }), token })
    for (const value of [token, child.json.spec.key]) {
      for (const [project, status] of [
        ['a', 200],
        ['b', 200],
        ['c', 403],
      ] as const) {
        const answer = await call(instances(`p-${project}`), { token: value })
        expect([project, answer.status, answer.headers.warning]).toEqual([project, status, undefined])
      }
    }
  })

  test('is read, listed and watched without it, with what it did', async () => {
    await make('read')
    const { spec, status } = (await call(`${keys}/read`)).json
    expect([spec, status]).toEqual([{ user: 'alice', groups: ['system:masters'], scope: wide }, expect.any(Object)])
    expect(Object.keys(status)).not.toEqual(expect.arrayContaining(Object.keys(gone)))
    const selected = `${keys}?fieldSelector=metadata.name=read`
    const { items } = (await call(selected)).json
    const [event] = (await call(`${selected}&watch=1&timeoutSeconds=1`)).text.split('\n')
    expect([...items, JSON.parse(event ?? '').object].map((one: { spec: object }) => one.spec)).toEqual([spec, spec])
    const usage = (await call(`${keys}/read/usage`)).json.status
    expect(usage.entries.map((one: { request: string }) => one.request)).toEqual([
      'list of virtualclusterinstances in project "b"',
    ])
    await releases.invoke('new', 'lifecycle', {})
    expect((await call(`${keys}/read/history`)).status).toBe(200)
  })

  test.each<[string, (live: { metadata: object; spec: object }) => Call]>([
    [
      'a PUT of what was read',
      (live) => ({ method: 'PUT', body: { ...live, spec: { ...live.spec, description: 'x' } } }),
    ],
    ['a merge patch', () => mergePatch({ spec: { description: 'x' } })],
    ['an apply', () => applyPatch(accessKey('an-apply', { description: 'x' }))],
  ])('is updated by %s, which keeps the field for the commit before', async (title, write) => {
    const name = title.toLowerCase().replaceAll(' ', '-')
    const token = await make(name)
    const { json: live } = await call(`${keys}/${name}`)
    const changed = await call(`${keys}/${name}${title === 'an apply' ? '?fieldManager=git' : ''}`, write(live))
    expect([changed.status, changed.json.spec]).toEqual([200, { ...live.spec, description: 'x' }])
    expect((await stored(name)).object.spec).toMatchObject(gone)
    expect((await call(instances('p-b'), { token })).status).toBe(200)
  })

  test('gets another scope, which is the only one that counts, and keeps the former one', async () => {
    const token = await make('narrowed')
    const { json } = await call(`${keys}/narrowed`, mergePatch({ spec: { scope: small } }))
    expect([json.spec.scope, json.status.formerScope.scope]).toEqual([small, wide])
    expect((await call(instances('p-b'), { token })).status).toBe(403)
    expect((await call(instances('p-a'), { token })).status).toBe(200)
  })

  test('is disabled, enabled and deleted', async () => {
    const token = await make('ended')
    const self = async () => (await call(`${management}/selves`, { method: 'POST', body: {}, token })).status
    for (const [disabled, status] of [
      [true, 401],
      [false, 201],
    ] as const) {
      await call(`${keys}/ended`, mergePatch({ spec: { disabled } }))
      expect(await self()).toBe(status)
    }
    expect((await call(`${keys}/ended`, { method: 'DELETE' })).status).toBe(200)
    expect(await self()).toBe(401)
  })

  test('cannot be made any more', async () => {
    const made = await call(keys, { method: 'POST', body: accessKey('new', { scope: wide, ...gone }) })
    expect([made.status, made.json.message]).toEqual([400, expect.stringContaining('unknown field "spec.')])
  })
})
