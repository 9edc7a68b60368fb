/** Tests that access reviews of keys tell nobody what their own rights and scopes keep from them. */
import { beforeAll, describe, expect, test } from 'vitest'
import { instance, instances, keys } from '../support/objects.ts'
import { messageOf, saying } from '../support/refusals.ts'
import type { MadeKey } from '../support/server.ts'
import { useServer } from '../support/sharedserver.ts'

const server = useServer()

const key = (spec: object, token?: string) => server.makeKey(spec, {}, token)

const group = 'management.platform'
const vci = 'virtualclusterinstances'
const listing = { resourceAttributes: { verb: 'list', group, resource: 'ownedaccesskeys' } }

const review = (name: string, token: string, spec: object = listing) =>
  server.post(`${keys}/${name}/accessreview`, { spec }, token)

const requestFor = (resource: string, name: string, more: object = {}) => ({
  resourceAttributes: { verb: 'get', group, resource, name, ...more },
})

/** Returns what a review says, without the names in it. */
async function saidAbout(holder: string, token: string, resource: string, name: string, more: object = {}) {
  const { status, json, text } = await review(holder, token, requestFor(resource, name, more))
  expect([status, text]).toEqual([201, expect.any(String)])
  return JSON.parse(JSON.stringify(json.status).replaceAll(`"${name}`, '"NAME').replaceAll(`\\"${name}`, '\\"NAME'))
}

let alice: MadeKey
let bob: MadeKey

beforeAll(async () => {
  await server.make(instances('p-a'), instance('owned', { owner: { user: 'alice' } }))
  await server.make(instances('p-b'), instance('hidden', { owner: { user: 'bob' } }))
  await server.make(instances('p-c'), instance('hidden', { access: [{ verbs: ['*'], teams: ['dev'] }] }))
  alice = await key({ user: 'alice' })
  bob = await key({ user: 'bob' })
})

const unchecked = { check: 'rights', reason: 'not checked: it depends on an object that you may not see' }

describe('an access review', () => {
  // threat: users-15
  test('of a key of somebody else is the 404 of a key that does not exist', async () => {
    const [hidden, missing, read] = await Promise.all([
      review(bob.name, alice.token),
      review('nobody', alice.token),
      server.call(`${keys}/${bob.name}`, { token: alice.token }),
    ])
    expect([hidden.status, missing.status]).toEqual([404, 404])
    expect(hidden.json).toEqual(read.json)
    expect(missing.json.message.replace('nobody', bob.name)).toBe(hidden.json.message)
  })

  test('is a 404 before the body is judged', async () =>
    expect((await review(bob.name, alice.token, {})).status).toBe(404))

  // threat: users-15
  test('by a scoped key is only about that key and keys that carry its scopes', async () => {
    const scope = { rules: [{ verbs: ['get', 'create'], resources: [{ group }] }] }
    const scoped = await key({ user: 'alice', scope })
    const child = await key({ user: 'alice' }, scoped.token)
    expect((await review(scoped.name, scoped.token)).status).toBe(201)
    expect((await review(child.name, scoped.token)).status).toBe(201)
    expect(messageOf(await review(alice.name, scoped.token))).toEqual(
      saying(403, 'the access key used has a scope that this access key does not inherit'),
    )
    expect((await review(bob.name, scoped.token)).status).toBe(404)
    const master = await key({ user: 'root', groups: ['system:masters'], scope })
    expect((await review(bob.name, master.token)).status).toBe(403)
  })

  test.each([
    ['to get the key', { resources: ['ownedaccesskeys/accessreview'] }, 'get of ownedaccesskeys'],
    ['to review it', { resources: ['ownedaccesskeys'] }, 'create of ownedaccesskeys/accessreview'],
  ])('needs a scope %s', async (_, resources, lacking) => {
    const rules = [{ verbs: ['get', 'create'], resources: [{ group, ...resources }] }]
    const scoped = await key({ user: 'alice', scope: { rules } })
    expect(messageOf(await review(scoped.name, scoped.token))).toEqual(
      saying(403, `spec.scope does not allow ${lacking}`),
    )
  })

  test('of a platformCLI key of an administrator is about own keys only', async () => {
    const rules = [{ verbs: ['create'], resources: [{ group, resources: ['ownedaccesskeys/accessreview'] }] }]
    const cli = await key({
      user: 'root',
      groups: ['system:masters'],
      scope: { roles: [{ role: 'platformCLI' }], rules },
    })
    expect((await review(cli.name, cli.token)).status).toBe(201)
    expect((await review(bob.name, cli.token)).status).toBe(404)
    const about = (name: string) => saidAbout(cli.name, cli.token, 'ownedaccesskeys', name)
    expect(await about(bob.name)).toEqual(await about('nobody'))
  })

  // threat: users-15
  test('tells nothing about objects that the caller may not see, even if the key may use them', async () => {
    const dev = await key({ user: 'alice', groups: ['team:dev'] })
    const place = { namespace: 'p-c' }
    const about = (name: string) => saidAbout(dev.name, alice.token, vci, name, place)
    const said = await about('hidden')
    expect(said).toEqual(await about('nothing'))
    expect(said.steps.at(-1)).toEqual(unchecked)
    expect([said.allowed, said.reason]).toEqual([false, unchecked.reason])
    const toAdmin = await saidAbout(dev.name, server.adminKey, vci, 'hidden', place)
    expect(toAdmin.steps.at(-1)).toMatchObject({ check: 'rights', allowed: true })
    const toItself = await saidAbout(dev.name, dev.token, vci, 'hidden', place)
    expect(toItself.allowed).toBe(true)
  })

  test('of an administrator’s key tells its owner nothing about keys of others', async () => {
    const root = await key({ user: 'alice', groups: ['system:masters'] })
    const about = (name: string) => saidAbout(root.name, alice.token, 'ownedaccesskeys', name)
    expect(await about(bob.name)).toEqual(await about('nobody'))
  })

  // threat: users-15
  test('tells a scoped key nothing about objects outside its scope', async () => {
    const scope = {
      rules: [{ verbs: ['get', 'create'], resources: [{ group, resources: ['ownedaccesskeys', '*/accessreview'] }] }],
    }
    const scoped = await key({ user: 'alice', scope })
    const place = { namespace: 'p-a' }
    const about = (name: string, verb = 'get') => saidAbout(scoped.name, scoped.token, vci, name, { ...place, verb })
    for (const verb of ['get', 'patch', 'delete']) {
      const said = await about('owned', verb)
      expect(said).toEqual(await about('nothing', verb))
      expect(said.steps.at(-1)).toEqual(unchecked)
    }
    // The owner of the key learns it with a key that has no scope.
    const toOwner = await saidAbout(scoped.name, alice.token, vci, 'owned', place)
    expect(toOwner.steps.slice(-2)).toMatchObject([{ allowed: false }, { check: 'rights', allowed: true }])
  })

  test('tells a key that may only rotate itself nothing about other keys of its owner', async () => {
    const rules = [{ verbs: ['create'], resources: [{ group, resources: ['ownedaccesskeys/accessreview'] }] }]
    const rotating = { roles: [{ role: 'selfRotate' }], rules }
    const rotator = await key({ user: 'alice', ttl: 3600, scope: rotating })
    const about = (name: string) => saidAbout(rotator.name, rotator.token, 'ownedaccesskeys', name)
    expect(await about(alice.name)).toEqual(await about('nobody'))
    expect((await about(rotator.name)).allowed).toBe(true)
    expect((await review(alice.name, rotator.token)).status).toBe(404)
  })

  test('by a member of a team is about the rights of the team', async () => {
    const team = await key({ team: 'dev' })
    const member = await key({ user: 'carol', groups: ['team:dev'] })
    const said = await saidAbout(team.name, member.token, vci, 'hidden', { namespace: 'p-c' })
    expect(said.allowed).toBe(true)
    const hidden = await saidAbout(team.name, member.token, vci, 'hidden', { namespace: 'p-b' })
    expect(hidden).toEqual(await saidAbout(team.name, member.token, vci, 'nothing', { namespace: 'p-b' }))
  })

  test.each(['__proto__', 'constructor', 'toString'])('judges %s as any other resource and target', async (name) => {
    const resourceAttributes = JSON.parse(`{"verb":"${name}","resource":"${name}","group":"${name}"}`)
    const here = await review(alice.name, alice.token, { resourceAttributes })
    expect([here.status, here.json.status.allowed]).toEqual([201, false])
    const target = JSON.parse(`{"${name}":{"project":"a"}}`)
    const { status } = await review(alice.name, alice.token, { resourceAttributes, target })
    expect([400, 422]).toContain(status)
  })

  test.each(['x'.repeat(5000), 'a/b', '..', '\u0000', '\ud800'])('judges the name %j', async (name) => {
    const spec = requestFor(vci, name, { namespace: 'p-a' })
    const { status, json } = await review(alice.name, alice.token, spec)
    expect([status, json.status?.allowed]).toEqual([201, false])
  })

  test('is refused to a key that reads nothing but its scope, and needs a key', async () => {
    const empty = await key({ user: 'alice', scope: {} })
    expect((await review(empty.name, empty.token)).status).toBe(403)
    expect((await review(alice.name, '')).status).toBe(401)
  })

  test('names the reviewed key in the audit record', async () => {
    const record = server.auditOf(await review(alice.name, alice.token))
    expect(record).toMatchObject({ subresource: 'accessreview', reviewedKey: alice.name, review: 'allowed', code: 201 })
  })
})
