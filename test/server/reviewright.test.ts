/**
 * Tests who may review for a cluster: what others learn, what reviews record, and that the key of a cluster is no key to it. Each
 * rule has its unit test; here are the ways by which a key comes to a scope, and everything that a review could leave behind.
 */
import { decodeJwt } from 'jose'
import { beforeAll, describe, expect, test } from 'vitest'
import { NO_RIGHT } from '../../lib/access/users/reviewright.ts'
import { usagePartition } from '../../lib/keys/credential/keptitems.ts'
import { type Federation, startFederation, trusts } from '../support/federation.ts'
import { instance, instances, keys, management } from '../support/objects.ts'
import type { Answer } from '../support/request.ts'
import type { MadeKey } from '../support/server.ts'
import { useServer } from '../support/sharedserver.ts'

const server = useServer()
beforeAll(async () => void (await server.make(instances('p-a'), instance('x'))))

const at = (cluster: string) => ({ clusters: [{ cluster }] })
const agentOf = (cluster: string) => ({ roles: [{ role: 'agent' }], ...at(cluster) })
const vcluster = { roles: [{ role: 'vcluster' }], virtualClusters: [{ project: 'a', virtualCluster: 'x' }] }
const denied = { allowed: false, denied: true, reason: NO_RIGHT }
const unknown = { user: {}, error: NO_RIGHT }

/** Asks about a request of a key as the cluster dev does, with a forged chain. */
const ask = async (token: string, { name, uid }: MadeKey) => {
  const extra = {
    'management.platform/access-key': [name],
    'management.platform/access-key-uid': [uid],
    'management.platform/scopes': ['[]'],
    'management.platform/target': ['clusters/dev'],
  }
  const resourceAttributes = { verb: 'list', resource: 'pods', namespace: `n-${name}` }
  const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews'
  return (await server.post(path, { spec: { user: 'x', extra, resourceAttributes } }, token)).json.status
}
const present = async (token: string, value: string) =>
  (await server.post('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: value } }, token)).json.status
const read = async (path: string, name: string) => (await server.call(`${path}/${name}`)).json

/** Returns what reviews leave with a key. */
async function tracesOf({ name, uid }: MadeKey) {
  const { lastActivity } = (await read(keys, name)).status
  const { items } = await server.parts.storage.queryCompanions(usagePartition(uid))
  return { lastActivity, items: items.map(({ attributes }) => attributes) }
}
const nothing = { lastActivity: undefined, items: [] }

/** Creates a key and returns it with the warnings of the answer. */
async function make(spec: object, token = server.adminKey): Promise<MadeKey & { warning: string }> {
  const body = { metadata: { generateName: 'k-' }, spec }
  const { status, json, headers } = await server.post(keys, body, token)
  expect([status, json.message]).toEqual([201, undefined])
  return { ...json.metadata, token: json.spec.key, warning: String(headers.warning ?? '') }
}

describe('a key with role agent', () => {
  // threat: reviews-9
  test.each<[string, () => Promise<string>]>([
    ['anybody', async () => (await make({ user: 'alice' })).token],
    [
      'an administrator with a scope',
      async () => (await make({ groups: ['system:masters'], scope: { rules: [{}] } })).token,
    ],
    [
      'the key of the cluster',
      async () => {
        const rules = [{ resources: [{ group: 'management.platform', resources: ['ownedaccesskeys'] }] }]
        return (await make({ user: 'alice', scope: { ...agentOf('dev'), rules } })).token
      },
    ],
  ])('that %s makes is denied every review, learns nothing and leaves nothing', async (_, maker) => {
    const victim = await make({ user: 'victim', scope: at('dev') })
    for (const scope of [agentOf('dev'), vcluster]) {
      const agent = await make({ scope }, await maker())
      expect(agent.warning).toContain('may not create reviews, although its scope has a role for them')
      expect((await read(keys, agent.name)).status.mayReview).toBeUndefined()
      for (const who of [victim, { ...victim, uid: 'none' }]) expect(await ask(agent.token, who)).toEqual(denied)
      for (const value of [victim.token, 'nonsense']) expect(await present(agent.token, value)).toEqual(unknown)
    }
    expect(await tracesOf(victim)).toEqual(nothing)
  })

  test('that an administrator makes may review, and the answers are in the usage of the key alone', async () => {
    const [victim, missing] = [
      await make({ user: 'victim', scope: at('dev') }),
      { name: 'none', uid: 'none', token: '' },
    ]
    const agent = await make({ user: 'agent', scope: agentOf('dev') })
    expect([agent.warning, (await read(keys, agent.name)).status.mayReview]).toEqual(['', true])
    expect(await ask(agent.token, missing)).toMatchObject({ denied: true })
    expect((await server.parts.storage.queryCompanions(usagePartition('none'))).items).toEqual([])
    expect(await ask(agent.token, victim)).toEqual({ allowed: false })
    expect((await tracesOf(victim)).items).toMatchObject([{ entry: { cluster: 'dev' } }])
    expect((await present(agent.token, victim.token)).authenticated).toBe(true)
    expect((await tracesOf(victim)).lastActivity).toBeDefined()
    expect((await server.parts.storage.queryCompanions('asking')).items).toEqual([])
  })

  test('whose clusters would refuse all users is warned of, in dry runs too', async () => {
    const agent = await make({ user: 'agent', scope: agentOf('eu') })
    const path = `${keys}/${agent.name}`
    const warning = ({ headers }: Answer) => String(headers.warning ?? '')
    const patched = async (spec: object, query = '') => warning(await server.patch(`${path}${query}`, { spec }))
    const revoked = async (spec: object) =>
      warning(await server.post(`${management}/accesskeyrevocations?dryRun=All`, { spec }))
    expect(await patched({ description: 'eu' })).toBe('')
    expect(await patched({ disabled: true }, '?dryRun=All')).toContain('once it is disabled')
    expect(await patched({ ttl: 60 }, '?dryRun=All')).toContain('once its shorter life has ended')
    expect(await patched({ sourceCIDRs: ['10.0.0.0/8'] }, '?dryRun=All')).toContain('limited to fewer addresses')
    expect(await patched({ scope: { clusters: [{ cluster: 'us' }] } }, '?dryRun=All')).toContain('once it is narrowed')
    // The file of the cluster has the value that ends. One that it has already ends nothing, and a rotation waits for its use.
    expect(await patched({ key: 'another-value-of-the-key-of-the-cluster' }, '?dryRun=All')).toContain(
      'once its value is replaced',
    )
    expect(await patched({ key: agent.token }, '?dryRun=All')).toBe('')
    expect(warning(await server.post(`${path}/rotate?dryRun=All`, { spec: {} }))).toBe('')
    const deleted = await server.call(`${path}?dryRun=All`, { method: 'DELETE' })
    expect([deleted.status, warning(deleted)]).toEqual([200, expect.stringContaining('once it is deleted')])
    const revocation = { names: [agent.name], action: 'Disable' }
    expect(await revoked(revocation)).toContain('1 of these access keys has the right to review')
    expect(await revoked({ ...revocation, action: 'Delete' })).toContain('of keyplane from then on: eu')
    expect(await patched({ disabled: true })).toContain('once it is disabled')
    // It gives no access any more.
    expect(await patched({ ttl: 60 })).toBe('')
    expect(await revoked({ ...revocation, action: 'Delete' })).toBe('')
    expect(warning(await server.call(path, { method: 'DELETE' }))).toBe('')
  })

  // threat: reviews-10
  test('keeps the right when it is rotated and changed otherwise, and loses it with its scope', async () => {
    const owner = await make({ user: 'alice' })
    const agent = await make({ user: 'alice', scope: agentOf('dev') })
    const path = `${keys}/${agent.name}`
    expect((await server.patch(path, { spec: { displayName: 'dev' } }, owner.token)).status).toBe(200)
    const rotated = (await server.post(`${path}/rotate`, {}, owner.token)).json.status.key
    const victim = await make({ user: 'victim', scope: at('dev') })
    expect(await ask(rotated, victim)).toEqual({ allowed: false })
    const changed = await server.patch(path, { spec: { scope: at('prod') } }, owner.token)
    expect(changed.headers.warning).toContain('may not create reviews')
    expect(changed.json.status.mayReview).toBeUndefined()
    expect(await ask(rotated, victim)).toEqual(denied)
    // Nor does it come back with the former scope.
    expect((await server.patch(path, { spec: { scope: at('dev') } }, owner.token)).status).toBe(200)
    expect(await ask(rotated, victim)).toEqual(denied)
    // An administrator gives it again by writing both, and by no change of something else.
    const disabled = await server.patch(path, { spec: { description: 'dev', scope: agentOf('dev') } })
    expect(disabled.json.status.mayReview).toBeUndefined()
    await server.patch(path, { spec: { scope: { roles: null, clusters: null } } })
    const given = await server.patch(path, { spec: { scope: agentOf('dev') } })
    expect([given.json.status.mayReview, await ask(rotated, victim)]).toEqual([true, { allowed: false }])
  })
})

// threat: reviews-8
test('an administrator who reviews records nothing, and all others are denied', async () => {
  const victim = await make({ user: 'victim', scope: at('dev') })
  expect(await ask(server.adminKey, victim)).toEqual({ allowed: false })
  expect((await present(server.adminKey, victim.token)).authenticated).toBe(true)
  const rotation = await server.post(`${keys}/${victim.name}/rotate`, {})
  expect((await present(server.adminKey, rotation.json.status.key)).authenticated).toBe(true)
  expect(await tracesOf(victim)).toEqual(nothing)
  expect((await read(keys, victim.name)).status.values).toMatchObject([{ state: 'Current' }, { state: 'Pending' }])
  for (const scope of [undefined, { rules: [{}] }, {}, at('dev')]) {
    const { token } = await make({ user: 'alice', ...(scope && { scope }) })
    expect([await ask(token, victim), await present(token, victim.token)]).toEqual([denied, unknown])
  }
})

/** Requests for a token and for a kube config, each with what it is refused with, or undefined. */
async function credentialsOf(token: string): Promise<(number | undefined)[]> {
  const made = [
    await server.post(`${management}/directclusterendpointtokens`, { spec: {} }, token),
    await server.post(`${management}/directclusterendpointtokens`, { spec: { scope: at('dev') } }, token),
    await server.post(`${instances('p-a')}/x/kubeconfig`, { spec: { server: 'https://x.example.com' } }, token),
  ]
  return made.map(({ status }) => status)
}

describe('the key of a cluster makes no token and no kube config', () => {
  const masters = { groups: ['system:masters'] }
  const refused = [403, 403, 403]
  const makesKeys = { rules: [{ resources: [{ group: 'management.platform', resources: ['ownedaccesskeys'] }] }] }
  const both = { ...at('dev'), virtualClusters: vcluster.virtualClusters }

  // threat: reviews-11
  test.each([
    [agentOf('dev')],
    [agentOf('*')],
    [vcluster],
    [{ ...vcluster, ...both }],
    [{ ...agentOf('dev'), ...both }],
  ])('by itself: %j', async (scope) =>
    expect(await credentialsOf((await make({ ...masters, scope })).token)).toEqual(refused),
  )

  // threat: reviews-11
  test('nor does what it makes, or what makes it', async () => {
    const agent = await make({ ...masters, scope: { ...agentOf('dev'), ...both, ...makesKeys } })
    const made = await make({ ...masters, scope: both }, agent.token)
    const maker = await make({ ...masters, scope: { ...both, ...makesKeys } })
    const below = await make({ ...masters, scope: { ...agentOf('dev'), ...both } }, maker.token)
    for (const { token } of [agent, made, below]) expect(await credentialsOf(token)).toEqual(refused)
  })

  describe('nor by a trust', () => {
    let federation: Federation
    beforeAll(async () => {
      federation = await startFederation(server)
      return () => federation.close()
    })
    const exchanged = async (client: string, scope?: string): Promise<string> => {
      const { status, json } = await federation.exchange(client, federation.sign(), scope ? { scope } : {})
      expect(status).toBe(200)
      return json.access_token
    }

    // threat: reviews-11
    test('whatever scope the exchange asks for, and the right comes from the writer of the trust', async () => {
      const scope = { ...agentOf('dev'), ...both }
      const client = await federation.trust('agents', { ...masters, scope })
      const victim = await make({ user: 'victim', scope: at('dev') })
      for (const asked of [undefined, 'cluster:dev', 'cluster:dev virtualcluster:a/x', 'cluster:dev role:agent'])
        expect(await credentialsOf(await exchanged(client, asked))).toEqual(refused)
      expect((await read(trusts, 'agents')).status.mayReview).toBe(true)
      for (const asked of [undefined, 'cluster:dev role:agent'])
        expect(await ask(await exchanged(client, asked), victim)).toEqual({ allowed: false })
    })

    test('and a trust whose clusters would refuse all users is warned of', async () => {
      await federation.trust('warned', { ...masters, scope: agentOf('eu') })
      const path = `${trusts}/warned`
      const dryRun = async (spec: object) =>
        String((await server.patch(`${path}?dryRun=All`, { spec })).headers.warning ?? '')
      expect(await dryRun({ displayName: 'eu' })).toBe('')
      expect(await dryRun({ disabled: true })).toContain('"warned\\" has the right to review: once it is disabled')
      expect(await dryRun({ scope: { ...agentOf('us') } })).toContain('once it is narrowed')
      const { claims } = (await read(trusts, 'warned')).spec
      expect(await dryRun({ claims: [...claims, { claim: 'environment', values: ['x'] }] })).toContain(
        'once it is narrowed',
      )
      const revocation = { all: true, federatedIdentityCredentials: true, action: 'Delete' }
      const revoked = await server.post(`${management}/accesskeyrevocations?dryRun=All`, { spec: revocation })
      expect(String(revoked.headers.warning)).toMatch(/\d of these trusts ha/)
      const deleted = await server.call(`${path}?dryRun=All`, { method: 'DELETE' })
      expect(String(deleted.headers.warning)).toContain('once it is deleted')
    })

    // threat: reviews-10
    test('and the right ends when another changes the scope of the trust', async () => {
      const client = await federation.trust('owned', { user: 'alice', team: undefined, scope: agentOf('dev') })
      const victim = await make({ user: 'victim', scope: at('dev') })
      expect(await ask(await exchanged(client), victim)).toEqual({ allowed: false })
      const owner = await make({ user: 'alice' })
      expect((await server.patch(`${trusts}/owned`, { spec: { displayName: 'dev' } }, owner.token)).status).toBe(200)
      expect(await ask(await exchanged(client), victim)).toEqual({ allowed: false })
      const scope = { clusters: [{ cluster: 'dev' }, { cluster: 'prod' }] }
      const changed = await server.patch(`${trusts}/owned`, { spec: { scope } }, owner.token)
      expect([changed.status, changed.headers.warning]).toEqual([
        200,
        expect.stringContaining('may not create reviews'),
      ])
      expect((await read(trusts, 'owned')).status.mayReview).toBeUndefined()
      expect(await ask(await exchanged(client), victim)).toEqual(denied)
    })
  })
})

describe('a key for a cluster', () => {
  const token = (who: MadeKey, spec: object = {}) =>
    server.post(`${management}/directclusterendpointtokens`, { spec }, who.token)

  test('makes a token for that cluster and for no other', async () => {
    const key = await make({ user: 'alice', scope: at('west') })
    const { status, json } = await token(key)
    expect([status, decodeJwt(json.status.token).aud]).toEqual([201, [`${server.base}/clusters/west`]])
    expect((await token(key, { scope: at('east') })).status).toBe(422)
    const everywhere = await make({ user: 'alice', scope: at('*') })
    expect((await token(everywhere, { scope: at('east') })).status).toBe(201)
  })

  test('needs every scope of its chain to allow tokens', async () => {
    const rules = [{ resources: [{ group: 'management.platform', resources: ['ownedaccesskeys'] }] }]
    const maker = await make({ user: 'alice', scope: { rules } })
    const made = await make({ scope: at('west') }, maker.token)
    expect((await token(made)).status).toBe(403)
  })

  test('is what the refusal of another one names, and not a rule; beside the role of an agent, it names nothing', async () => {
    const causesOf = async (scope: object) => (await token(await make({ user: 'alice', scope }))).json.details.causes
    expect(await causesOf({ projects: [{ project: 'a' }] })).toEqual([
      {
        reason: 'ScopeMissing',
        field: 'spec.scope',
        message: '{"clusters":[{"cluster":"NAME"}]} would allow it, and everything else in cluster NAME',
      },
    ])
    expect(await causesOf(agentOf('west'))).toBeUndefined()
    const explained = async (scope: object) => {
      const { name } = await make({ user: 'alice', scope })
      const resourceAttributes = {
        verb: 'create',
        group: 'management.platform',
        resource: 'directclusterendpointtokens',
      }
      const { steps } = (await server.post(`${keys}/${name}/accessreview`, { spec: { resourceAttributes } })).json
        .status
      return steps.find(({ check }: { check: string }) => check === 'scope')
    }
    expect(await explained(at('west'))).toMatchObject({ allowed: true, reason: 'spec.scope.clusters[0]' })
    expect(await explained({})).toMatchObject({ allowed: false, entry: { clusters: [{ cluster: 'NAME' }] } })
    expect(await explained(agentOf('west'))).not.toHaveProperty('entry')
  })
})
