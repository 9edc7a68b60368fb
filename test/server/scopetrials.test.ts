/** Tests trials of scopes, against the whole API. */
import { beforeAll, describe, expect, test } from 'vitest'
import { startFederation, trusts } from '../support/federation.ts'
import { accessKey, instance, instances, keys, management } from '../support/objects.ts'
import { type Answer, applyPatch } from '../support/request.ts'
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
interface Entry {
  request: string
  refusedBy?: string[]
}
/** Returns the requests in the usage of a key that trials would have refused. */
const refusedOf = async ({ name }: MadeKey, whose = 'Own', token?: string): Promise<string[]> => {
  const { status } = (await server.call(`${keys}/${name}/usage`, token ? { token } : {})).json
  return status.entries
    .filter(({ refusedBy }: Entry) => refusedBy?.includes(whose))
    .map(({ request }: Entry) => request)
    .sort()
}
const trialItems = async ({ uid }: MadeKey) => (await server.parts.storage.queryCompanions(`trial#${uid}`)).items
const countedOf = async (key: MadeKey): Promise<number> => (await read(key)).status.scopeTrial.refusals

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
      refusals: 2,
      lastRefused: today,
    })
    expect(await refusedOf(key)).toEqual([
      'get of virtualclusterinstances in project "b"',
      'list of virtualclusterinstances in project "b"',
    ])
    await publishEvents()
    const events = server.services.published
      .map((text) => JSON.parse(text))
      .filter(({ type, data }) => type.includes('scope-trial-refused') && data.uid === key.uid)
    expect(events.map(({ data }) => data.request).sort()).toEqual(await refusedOf(key))
    for (const { data } of events)
      expect([data.trial, data.ip, data.userAgent]).toEqual([key.uid, undefined, undefined])
  })

  test('allows nothing that the real scope does not allow', async () => {
    const key = await makeTried({ ...trialOf(project('c')) })
    expect((await list(key, 'c')).status).toBe(403)
    expect(await refusedOf(key)).toEqual([])
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
    expect(warningsOf(await make('eu'))).toBe('')
    await patch(key, trialOf({ ...tokens, clusters: [] }))
    expect(warningsOf(await make('eu'))).toContain('does not allow a token for any cluster')
    expect(await refusedOf(key)).toEqual(['create of directclusterendpointtokens'])
  })

  test('has the keys that the key makes, and nothing that it made before', async () => {
    const all = { rules: [ofKeys(['*'], 'ownedaccesskeys')] }
    const key = await server.makeKey({ user: 'alice', scope: all })
    const before = await server.makeKey({}, {}, key.token)
    const scope = { rules: [ofKeys(['create', 'list'], 'ownedaccesskeys')] }
    await patch(key, trialOf(scope))
    const after = await server.makeKey({}, {}, key.token)
    for (const { token } of [before, after]) await server.call(`${keys}/${key.name}`, { token })
    const refused = 'get of ownedaccesskeys'
    expect([await countedOf(key), await refusedOf(key), await refusedOf(after, 'Inherited')]).toEqual([
      1,
      [],
      [refused],
    ])
    const grandchild = await server.makeKey({}, {}, after.token)
    expect(warningsOf(await server.call(`${keys}/${key.name}`, { token: grandchild.token }))).toContain(
      'above this access key',
    )
    // The mark outlives the keys that caused it.
    for (const { name } of [after, grandchild]) await server.call(`${keys}/${name}`, { method: 'DELETE' })
    const { status, json } = await patch(key, { scope, scopeTrial: null })
    expect([status, json.details.causes.map(({ message }: { message: string }) => message)]).toEqual([
      409,
      [`1 kind of requests (${today})`],
    ])
    await server.call(`${keys}/${key.name}`, { method: 'DELETE' })
    await server.call(`${keys}/${before.name}`, { method: 'DELETE', token: before.token })
    expect(await trialItems(key)).toEqual([])
  })

  test('has what clusters ask about the key, and a dry run of the question writes nothing', async () => {
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
    for (const [query, refused] of [
      ['?dryRun=All', []],
      ['', ['get of pods in namespace "web" in cluster "eu"']],
    ] as const) {
      const reviews = `/apis/authorization.k8s.io/v1/subjectaccessreviews${query}`
      expect((await server.post(reviews, { spec }, agent.token)).json.status).toEqual({ allowed: false })
      expect([await countedOf(key), await refusedOf(key)]).toEqual([refused.length, refused])
    }
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
    expect(await trialItems(key)).toHaveLength(1)
    await server.call(`${keys}/${key.name}`, { method: 'DELETE' })
    expect(await trialItems(key)).toEqual([])
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
      const body = { ...accessKey(key.name), metadata, spec: { scope: smaller, ...trialOf() } }
      const applied = await server.call(`${keys}/${key.name}?fieldManager=git&force=true`, applyPatch(body))
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
    expect(status.scopeTrial).toMatchObject({ phase: 'Running', refusals: 1 })
    expect((await server.call(`${keys}/${key.name}/usage`, { token: scoped.token })).status).toBe(403)
  })

  test('by who may not read the usage, who learns only how much it would have refused', async () => {
    const scope = { ...real, rules: [ofKeys(['patch', 'get'], 'ownedaccesskeys')] }
    const lesser = { ...smaller, rules: scope.rules }
    const key = await server.makeKey({ user: 'alice', scope, ...trialOf(lesser) })
    await list(key, 'b')
    const change = { spec: { scope: lesser, scopeTrial: null } }
    const { status, json } = await server.patch(`${keys}/${key.name}`, change, key.token)
    expect([status, json.details.causes]).toEqual([
      409,
      [{ reason: 'ScopeTrialRefused', field: 'spec.scopeTrial', message: `1 kind of requests (${today})` }],
    ])
  })

  test('by a scoped key together with the scope that it replaces, and by others without it', async () => {
    const owner = await server.makeKey({ user: 'alice' })
    const patching = { rules: [ofKeys(['*'], 'ownedaccesskeys', 'ownedaccesskeys/*')] }
    const parent = await server.makeKey({ scope: patching }, {}, owner.token)
    const wide = { rules: [{}] }
    for (const [token, added] of [
      [parent.token, [{ ...patching, ...real }]],
      [owner.token, undefined],
    ] as const) {
      const child = await server.makeKey({ scope: { ...patching, ...real } }, {}, parent.token)
      const change = (spec: object) => server.patch(`${keys}/${child.name}`, { spec }, token)
      expect((await change(trialOf({ projects: null, ...wide }))).status).toBe(200)
      const made = await change({ scope: { projects: null, ...wide }, scopeTrial: null })
      expect([made.status, made.json.spec.scope, made.json.status.addedScopes]).toEqual([200, wide, added])
      expect(warningsOf(made).includes('is also limited by a scope')).toBe(added !== undefined)
      expect((await list(child, 'c')).status).toBe(403)
    }
  })
})

test('a trial is bound as the scope that it proposes', async () => {
  const key = await server.makeKey({ user: 'alice', scope: smaller })
  const expiring = await server.makeKey({ user: 'alice', ttl: 3600 })
  const propose = (spec: object) => server.patch(`${keys}/${key.name}`, { spec }, expiring.token)
  for (const spec of [{ scope: { projects: null, rules: [{}] } }, trialOf({ rules: [{}] })]) {
    expect((await propose(spec)).json.message).toContain('may not change the scope of one that could outlive it')
  }
  expect((await propose({ description: 'changed' })).status).toBe(200)
  const long = (name: string) => ({
    projects: Array.from({ length: 40 }, (_, at) => ({ project: `${name}${at}${'x'.repeat(40)}` })),
  })
  const full = await server.makeKey({ user: 'alice', scope: long('a') })
  expect((await patch(full, { scope: long('b') })).status).toBe(200)
  expect((await patch(full, trialOf(long('c')))).json.message).toContain('spec.scopeTrial.scope: Too long')
})

describe('the scopes that changes with a scoped key have added', () => {
  const rotating = { rules: [ofKeys(['*'], 'ownedaccesskeys')] }
  /** Makes a key that has narrowed itself and has its former scope again. */
  const narrowed = async () => {
    const owner = await server.makeKey({ user: 'alice' })
    const born = { rules: [ofKeys(['*'], 'ownedaccesskeys'), ofKeys(['list'], 'virtualclusterinstances')] }
    const parent = await server.makeKey({ scope: born }, {}, owner.token)
    const key = await server.makeKey({ scope: { ...rotating, ...real } }, {}, parent.token)
    await server.patch(`${keys}/${key.name}`, { spec: { scope: { ...rotating, projects: null } } }, key.token)
    await server.patch(`${keys}/${key.name}`, { spec: { scope: real } }, key.token)
    return { owner, key }
  }
  const drop = ({ name }: MadeKey, token?: string, more: object = {}) =>
    server.patch(`${keys}/${name}`, { spec: { dropAddedScopes: true, ...more } }, token)

  test('are shown, limit the key, and are dropped by an owner without a scope, with a line in the history', async () => {
    const { owner, key } = await narrowed()
    expect((await read(key)).status.addedScopes).toEqual([rotating])
    expect((await list(key, 'b')).status).toBe(403)
    expect((await drop(key, key.token)).json.message).toContain('may not drop scopes that were added')
    const expiring = await server.makeKey({ user: 'alice', ttl: 3600 })
    expect((await drop(key, expiring.token)).json.message).toContain(
      'may not drop added scopes of one that could outlive',
    )
    expect((await drop(key, owner.token, { description: 'x' })).status).toBe(422)
    const { generation } = (await read(key)).metadata
    const dropped = await drop(key, owner.token)
    const { spec, status, metadata } = dropped.json
    expect([dropped.status, spec.dropAddedScopes, status.addedScopes]).toEqual([200, undefined, undefined])
    expect(metadata.generation).toBe(generation + 1)
    expect((await list(key, 'b')).status).toBe(200)
    // What the key was born with stays.
    const outside = await server.call(instances('p-b'), { method: 'POST', body: instance('z'), token: key.token })
    expect(outside.status).toBe(403)
    await publishEvents()
    const { events } = (await server.call(`${keys}/${key.name}/history`)).json.status
    expect(events).toContainEqual(expect.objectContaining({ type: 'changed', fields: ['status.addedScopes'] }))
    const again = await drop(key, owner.token)
    expect([again.status, again.json.metadata.resourceVersion]).toEqual([200, metadata.resourceVersion])
  })

  test('are dropped by no create', async () => {
    const made = await server.call(keys, { method: 'POST', body: accessKey('dropping', { dropAddedScopes: true }) })
    expect([made.status, made.json.message]).toEqual([
      422,
      expect.stringContaining('an update that changes nothing else'),
    ])
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
    // A dry run records nothing, nor does an exchange of its own.
    for (const form of [{ dry_run: 'true' }, {}]) {
      expect((await federation.exchange(client, federation.sign(), { ...narrowed, ...form })).status).toBe(200)
    }
    const change = (spec: object) => server.patch(`${trusts}/tried`, { spec })
    const { status } = (await server.call(`${trusts}/tried`)).json
    expect(status.scopeTrial).toMatchObject({ refusals: 1, lastRefused: today })
    expect((await change({ scope: lesser, scopeTrial: null })).status).toBe(409)
    expect((await change({ scope: lesser, scopeTrial: { force: true } })).status).toBe(200)
    const made = (await server.call(`${trusts}/tried`)).json
    expect([made.spec.scopeTrial, made.status.formerScope.scope]).toEqual([undefined, { ...real, ...role }])
    expect((await federation.exchange(client, federation.sign(), narrowed)).status).toBe(400)
  } finally {
    await federation.close()
  }
})
