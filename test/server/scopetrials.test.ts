/** Tests trials of scopes, against the whole API. */
import { beforeAll, describe, expect, test } from 'vitest'
import { trialPartition } from '../../lib/authentication/usage/trialitems.ts'
import { startFederation, trusts } from '../support/federation.ts'
import { accessKey, instance, instances, keys, management } from '../support/objects.ts'
import type { Answer } from '../support/request.ts'
import type { MadeKey } from '../support/server.ts'
import { publishEvents, useServer } from '../support/sharedserver.ts'

const server = useServer()

const today = new Date().toISOString().slice(0, 10)
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().replace(/\.\d+/, '')
const project = (name: string) => ({ projects: [{ project: name }] })
const ofKeys = (verbs: string[], ...resources: string[]) => ({
  verbs,
  resources: [{ group: 'management.platform', resources }],
})
/** The smaller scope of most tests: without project b. */
const [real, smaller] = [{ projects: [{ project: 'a' }, { project: 'b' }] }, project('a')]
const trialOf = (scope: object = smaller, more: object = {}) => ({ scopeTrial: { scope, until: inDays(7), ...more } })

const makeTried = (spec: object = {}) =>
  server.makeKey({ user: 'alice', groups: ['system:masters'], scope: real, ...trialOf(), ...spec })
const list = ({ token }: MadeKey, name: string) => server.call(instances(`p-${name}`), { token })
const read = async ({ name }: MadeKey) => (await server.call(`${keys}/${name}`)).json
const patch = ({ name }: MadeKey, spec: object, query = '') => server.patch(`${keys}/${name}${query}`, { spec })
const warningsOf = ({ headers }: Answer) => String(headers.warning ?? '')
const refusedOf = async (key: MadeKey): Promise<string[]> =>
  (await read(key)).status.scopeTrial.refused.map(({ request }: { request: string }) => request)

beforeAll(() => server.make(instances('p-b'), instance('x')))

describe('a trial', () => {
  test('warns of what the smaller scope would refuse, and refuses nothing', async () => {
    const key = await makeTried()
    const [inside, outside] = [await list(key, 'a'), await list(key, 'b')]
    expect([inside.status, outside.status, warningsOf(inside)]).toEqual([200, 200, ''])
    const entry =
      '{"rules":[{"verbs":["list"],"resources":[{"group":"management.platform","resources":["virtualclusterinstances"]}],"namespaces":["p-b"],"requestTargets":["Management"]}]}'
    expect(warningsOf(outside).replaceAll('\\', '')).toMatch(
      `does not allow list of virtualclusterinstances in project "b"; ${entry} would allow it`,
    )
    for (const name of ['x', 'y']) await server.call(`${instances('p-b')}/${name}`, { token: key.token })
    expect((await read(key)).status.scopeTrial).toEqual({
      since: expect.any(String),
      until: expect.any(String),
      phase: 'Running',
      complete: true,
      refused: [
        { request: 'get of virtualclusterinstances in project "b"', scope: expect.any(Object), lastSeen: today },
        { request: 'list of virtualclusterinstances in project "b"', scope: expect.any(Object), lastSeen: today },
      ],
    })
    await publishEvents()
    const events = server.aws.published
      .map((text) => JSON.parse(text))
      .filter(({ type, data }) => type.includes('scope-trial-refused') && data.uid === key.uid)
    expect(events.map(({ data }) => data.request).sort()).toEqual(await refusedOf(key))
  })

  test('allows nothing that the real scope does not allow', async () => {
    const key = await makeTried({ ...trialOf(project('c')) })
    expect((await list(key, 'c')).status).toBe(403)
    expect(await refusedOf(key)).toEqual([])
  })

  test('warns of what a request needs besides what its path says', async () => {
    const all = { rules: [ofKeys(['*'], 'ownedaccesskeys')] }
    const key = await server.makeKey({
      user: 'alice',
      scope: all,
      ...trialOf({ rules: [ofKeys(['patch', 'get'], 'ownedaccesskeys')] }),
    })
    const applied = await server.call(`${keys}/tried-apply?fieldManager=t`, {
      method: 'PATCH',
      token: key.token,
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body: accessKey('tried-apply', { user: 'alice' }),
    })
    expect([applied.status, warningsOf(applied)]).toEqual([201, expect.stringContaining('create of ownedaccesskeys')])
    expect(await refusedOf(key)).toEqual(['create of ownedaccesskeys'])
  })

  test('warns of a client certificate that the smaller scope would not allow, and of no token', async () => {
    const kubeConfigs = ofKeys(['create'], 'virtualclusterinstances/kubeconfig')
    const scope = { virtualClusters: [{ project: 'b', virtualCluster: 'x' }] }
    const key = await server.makeKey({
      user: 'alice',
      groups: ['system:masters'],
      scope,
      ...trialOf({ rules: [kubeConfigs] }),
    })
    const make = (clientCert: boolean) => {
      const spec = { clientCert, server: 'https://x.example.com' }
      return server.post(`${instances('p-b')}/x/kubeconfig?dryRun=All`, { spec }, key.token)
    }
    const refused = 'a client certificate for virtual cluster "b/x"'
    expect(warningsOf(await make(false))).toBe('')
    expect(warningsOf(await make(true)).replaceAll('\\', '')).toContain(refused)
    expect((await read(key)).status.scopeTrial.refused).toEqual([{ request: refused, scope, lastSeen: today }])
    await patch(key, { scope: { rules: [kubeConfigs], virtualClusters: null }, scopeTrial: { force: true } })
    expect((await make(true)).status).toBe(403)
  })

  test('warns of what a key with the smaller scope may not do with keys that do not carry it', async () => {
    const key = await server.makeKey({ user: 'alice' })
    const child = await server.makeKey({}, {}, key.token)
    await patch(key, trialOf({ rules: [ofKeys(['*'], 'ownedaccesskeys', 'ownedaccesskeys/*')] }))
    const { token } = key
    const read = (name: string) => server.call(`${keys}/${name}/usage`, { token })
    expect(warningsOf(await read(key.name))).toBe('')
    const refused = 'of access keys that do not carry the scope'
    expect(warningsOf(await read(child.name))).toContain(`get of ownedaccesskeys/usage ${refused}`)
    const change = (spec: object) => server.patch(`${keys}/${child.name}`, { spec }, token)
    expect(warningsOf(await change({ description: 'changed' }))).toContain(`a change ${refused}`)
    expect(warningsOf(await server.post(`${keys}/${child.name}/rotate`, {}, token))).toContain(`a change ${refused}`)
    expect(await refusedOf(key)).toEqual([`a change ${refused}`, `get of ownedaccesskeys/usage ${refused}`])
    const scope = { rules: [ofKeys(['*'], 'ownedaccesskeys', 'ownedaccesskeys/*')] }
    expect((await patch(key, { scope, scopeTrial: null })).status).toBe(409)
    await patch(key, { scope, scopeTrial: { force: true } })
    expect([(await read(key.name)).status, (await read(child.name)).status]).toEqual([200, 403])
    expect((await change({ description: 'again' })).status).toBe(403)
  })

  test('warns of a token that the smaller scope would leave for no cluster', async () => {
    const tokens = { rules: [{ ...ofKeys(['create'], 'directclusterendpointtokens'), requestTargets: ['Management'] }] }
    const clusters = (...names: string[]) => ({ clusters: names.map((cluster) => ({ cluster })) })
    const key = await server.makeKey({
      user: 'alice',
      scope: { ...tokens, ...clusters('eu', 'us') },
      ...trialOf({ ...tokens, ...clusters('eu') }),
    })
    const make = (...names: string[]) =>
      server.post(
        `${management}/directclusterendpointtokens?dryRun=All`,
        { spec: { scope: clusters(...names) } },
        key.token,
      )
    expect([await make('eu'), await make('eu', 'us')].map(warningsOf)).toEqual(['', ''])
    const refused = 'a token for cluster "us"'
    expect(warningsOf(await make('us')).replaceAll('\\', '')).toContain(refused)
    expect((await read(key)).status.scopeTrial.refused).toEqual([
      { request: refused, scope: clusters('us'), lastSeen: today },
    ])
    await patch(key, { scope: { ...tokens, ...clusters('eu') }, scopeTrial: { force: true } })
    expect([(await make('us')).status, (await make('eu', 'us')).status]).toEqual([422, 201])
  })

  test('has the keys that the key makes, and nothing that it made before', async () => {
    const all = { rules: [ofKeys(['*'], 'ownedaccesskeys')], ...real }
    const key = await server.makeKey({ user: 'alice', scope: all })
    const before = await server.makeKey({}, {}, key.token)
    await patch(key, trialOf({ rules: [ofKeys(['create', 'list'], 'ownedaccesskeys')] }))
    const after = await server.makeKey({}, {}, key.token)
    for (const { token } of [before, after]) await server.call(`${keys}/${key.name}`, { token })
    expect(await refusedOf(key)).toEqual(['get of ownedaccesskeys'])
    const grandchild = await server.makeKey({}, {}, after.token)
    expect(warningsOf(await server.call(`${keys}/${key.name}`, { token: grandchild.token }))).toContain(
      'above this access key',
    )
    await server.call(`${keys}/${key.name}`, { method: 'DELETE' })
    await server.call(`${keys}/${grandchild.name}`, { method: 'DELETE', token: grandchild.token })
    expect((await server.parts.storage.queryCompanions(trialPartition(key.uid))).items).toEqual([])
  })

  test('has what clusters ask about the key, and whether they would accept it', async () => {
    const clusters = (...names: string[]) => ({ clusters: names.map((cluster) => ({ cluster })) })
    const key = await server.makeKey({ user: 'alice', scope: clusters('eu', 'us'), ...trialOf(clusters('us')) })
    const agent = await server.makeKey({ scope: { roles: [{ role: 'agent' }], ...clusters('eu') } })
    const extra = {
      'management.platform/access-key': [key.name],
      'management.platform/access-key-uid': [key.uid],
      'management.platform/scopes': [JSON.stringify([clusters('eu', 'us')])],
      'management.platform/target': ['clusters/eu'],
      'management.platform/issued-at': [String(Math.floor(Date.now() / 1000))],
    }
    const resourceAttributes = { verb: 'get', resource: 'pods', namespace: 'web', name: 'web-0' }
    const spec = { user: 'alice', resourceAttributes, extra }
    const asked = await server.post('/apis/authorization.k8s.io/v1/subjectaccessreviews', { spec }, agent.token)
    expect(asked.json.status).toEqual({ allowed: false })
    const review = { spec: { token: key.token } }
    const accepted = await server.post('/apis/authentication.k8s.io/v1/tokenreviews', review, agent.token)
    expect(accepted.json.status.authenticated).toBe(true)
    expect((await refusedOf(key)).sort()).toEqual([
      'get of pods in namespace "web" in cluster "eu"',
      'the use of the key at clusters/eu',
    ])
  })

  test('goes on through rotations and other changes, begins anew with another scope, and goes with the key', async () => {
    const key = await makeTried()
    await list(key, 'b')
    const rotated = await server.post(`${keys}/${key.name}/rotate`, {})
    await list({ ...key, token: rotated.json.status.key }, 'b')
    await patch(key, { description: 'changed', scopeTrial: { until: inDays(9) } })
    expect(await refusedOf(key)).toEqual(['list of virtualclusterinstances in project "b"'])
    await patch(key, { scopeTrial: { scope: project('b') } })
    expect(await refusedOf(key)).toEqual([])
    const items = () => server.parts.storage.queryCompanions(trialPartition(key.uid))
    expect((await items()).items).toHaveLength(1)
    await server.call(`${keys}/${key.name}`, { method: 'DELETE' })
    expect((await items()).items).toEqual([])
  })

  test('begins with no dry run, and tries nothing while the key is disabled', async () => {
    const key = await server.makeKey({ user: 'alice', groups: ['system:masters'], scope: real })
    expect((await patch(key, trialOf(), '?dryRun=All')).json.status.scopeTrial.phase).toBe('Running')
    expect(warningsOf(await list(key, 'b'))).toBe('')
    await patch(key, { ...trialOf(), disabled: true })
    expect((await list(key, 'b')).status).toBe(401)
    await patch(key, { disabled: false })
    expect(await refusedOf(key)).toEqual([])
    await list(key, 'b')
    expect(await refusedOf(key)).toHaveLength(1)
  })

  test('that is removed and set again at once finds the same again', async () => {
    const key = await makeTried()
    for (const _ of [1, 2]) {
      await list(key, 'b')
      expect(await refusedOf(key)).toHaveLength(1)
      await patch(key, { scopeTrial: null })
      await patch(key, { description: 'between' })
      await patch(key, trialOf())
      expect(await refusedOf(key)).toEqual([])
    }
  })
})

describe('a trial is made real', () => {
  const makeReal = (key: MadeKey, scopeTrial: object | null = null, query = '') =>
    patch(key, { scope: smaller, scopeTrial }, query)

  test('by one patch, and the former scope can be put back', async () => {
    const key = await makeTried()
    await list(key, 'a')
    expect((await makeReal(key)).status).toBe(200)
    const { spec, status } = await read(key)
    expect([spec.scope, spec.scopeTrial, status.scopeTrial]).toEqual([smaller, undefined, undefined])
    expect(status.formerScope.scope).toEqual(real)
    expect((await list(key, 'b')).status).toBe(403)
    await patch(key, { scope: { projects: status.formerScope.scope.projects } })
    const back = await read(key)
    expect([back.spec.scope, back.status.formerScope]).toEqual([real, undefined])
    expect((await list(key, 'b')).status).toBe(200)
  })

  test('of a key without a scope, which is kept too', async () => {
    const key = await server.makeKey({ user: 'alice', ...trialOf() })
    expect((await makeReal(key)).status).toBe(200)
    const { formerScope } = (await read(key)).status
    expect([formerScope.scope, typeof formerScope.until]).toEqual([undefined, 'string'])
    await patch(key, { scope: null })
    expect((await read(key)).status.formerScope).toBeUndefined()
  })

  test('not while it would have refused requests, unless it is forced', async () => {
    const key = await makeTried()
    await list(key, 'b')
    for (const query of ['', '?dryRun=All']) {
      const { status, json } = await makeReal(key, null, query)
      expect([status, json.reason]).toEqual([409, 'Conflict'])
      expect(json.message).toContain('set spec.scopeTrial.force to make it real')
      expect(json.details.causes).toEqual([
        {
          reason: 'ScopeTrialRefused',
          field: 'spec.scopeTrial',
          message: `list of virtualclusterinstances in project "b" (${today})`,
        },
      ])
    }
    expect((await read(key)).spec.scope).toEqual(real)
    const forced = await makeReal(key, { force: true })
    expect([forced.status, forced.json.spec.scopeTrial]).toEqual([200, undefined])
    expect((await list(key, 'b')).status).toBe(403)
  })

  test('at once by a configuration with both, which changes nothing when it is applied again', async () => {
    const key = await server.makeKey({ user: 'alice', scope: real })
    const metadata = { name: key.name }
    const apply = async () => {
      const applied = await server.call(`${keys}/${key.name}?fieldManager=git&force=true`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/apply-patch+yaml' },
        body: { ...accessKey(key.name), metadata, spec: { scope: smaller, ...trialOf() } },
      })
      expect(applied.status).toBe(200)
      return applied.json
    }
    const made = await apply()
    expect([made.spec.scope, made.spec.scopeTrial]).toEqual([smaller, undefined])
    expect(made.status.formerScope).toMatchObject({ scope: real })
    // Nobody owns the trial that is gone, so nobody conflicts with the next one.
    expect(JSON.stringify(made.metadata.managedFields)).not.toContain('scopeTrial')
    expect(await apply()).toEqual(made)
  })

  test('by who may edit the scope, and by nobody else, who learns nothing of what it would have refused', async () => {
    const key = await makeTried()
    await list(key, 'b')
    const bob = await server.makeKey({ user: 'bob' })
    const scoped = await server.makeKey({
      user: 'alice',
      scope: { rules: [ofKeys(['patch', 'get'], 'ownedaccesskeys')] },
    })
    for (const [token, status] of [
      [bob.token, 404],
      [scoped.token, 403],
    ] as const) {
      for (const spec of [{ scopeTrial: null }, { scope: smaller, scopeTrial: null }]) {
        const change = server.patch(`${keys}/${key.name}`, { spec }, token)
        expect((await change).status).toBe(status)
      }
    }
    const { status } = (await server.call(`${keys}/${key.name}`, { token: scoped.token })).json
    expect([status.scopeTrial.phase, status.scopeTrial.refused]).toEqual(['Running', undefined])
  })
})

test.each([
  ['without a scope', { scope: null }, 'spec.scopeTrial.scope: Required value'],
  ['without an end', { until: null }, 'spec.scopeTrial.until: Required value'],
  ['that is over', { until: inDays(-1) }, 'must be in the future, and at most 90 days ahead'],
  ['that is too long', { until: inDays(91) }, 'must be in the future, and at most 90 days ahead'],
  ['that is forced too early', { force: true }, 'may be true only with spec.scope set to the scope of the trial'],
  ['of an invalid scope', { scope: { projects: [{ project: '' }] } }, 'spec.scopeTrial.scope.projects[0].project'],
  ['with a misspelled member', { scope: { project: [] } }, 'unknown field "spec.scopeTrial.scope.project"'],
])('a trial %s is refused', async (_, more, message) => {
  const scopeTrial = { scope: smaller, until: inDays(7), ...more }
  const { status, json } = await server.post(keys, accessKey('wrong-trial', { user: 'alice', scope: real, scopeTrial }))
  expect([status, json.message]).toEqual([
    expect.toSatisfy((code) => [400, 422].includes(code)),
    expect.stringContaining(message),
  ])
})

test('the trial of a federated identity credential has the keys of its exchanges', async () => {
  const federation = await startFederation(server)
  try {
    const role = { roles: [{ role: 'agent' }] }
    const client = await federation.trust('tried', { scope: { ...real, ...role }, ...trialOf() })
    const exchanged = await federation.exchange(client, federation.sign())
    expect(warningsOf(await server.call(instances('p-b'), { token: exchanged.json.access_token }))).toContain(
      'above this access key',
    )
    const lesser = { ...smaller, roles: null }
    const narrowed = { scope: 'project:a role:agent' }
    expect((await federation.exchange(client, federation.sign(), narrowed)).status).toBe(200)
    const change = (spec: object) => server.patch(`${trusts}/tried`, { spec })
    const { status } = (await server.call(`${trusts}/tried`)).json
    expect(status.scopeTrial.refused).toMatchObject([
      { request: expect.stringContaining('an exchange: role:agent would allow more than the trust does') },
      { request: 'list of virtualclusterinstances in project "b"' },
    ])
    expect((await change({ scope: lesser, scopeTrial: null })).status).toBe(409)
    expect((await change({ scope: lesser, scopeTrial: { force: true } })).status).toBe(200)
    const made = (await server.call(`${trusts}/tried`)).json
    expect([made.spec.scopeTrial, made.status.formerScope.scope]).toEqual([undefined, { ...real, ...role }])
    expect((await federation.exchange(client, federation.sign(), narrowed)).status).toBe(400)
  } finally {
    await federation.close()
  }
})
