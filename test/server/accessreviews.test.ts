/** Tests access reviews of keys through the gateway: they say what the request itself then gets, and by which check. */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasSelfRotate } from '../../lib/authorization/scopes/roles.ts'
import type { Scope } from '../../lib/authorization/scopes/scope.ts'
import { validateScope } from '../../lib/authorization/scopes/validatescope.ts'
import { scope as anyScope } from '../lib/authorization/arbitraries.ts'
import { type AskedRequest, askedRequests, makeObjects } from '../support/askedrequests.ts'
import { accessKey, instances, keys } from '../support/objects.ts'
import type { Answer } from '../support/request.ts'
import { startServer, type TestServer } from '../support/server.ts'

interface Holder {
  name: string
  uid: string
  token: string
}

interface Step {
  check: string
  allowed?: boolean
  reason: string
  entry?: Scope
}

const merge = { 'content-type': 'application/merge-patch+json' }
let server: TestServer
let made = 0
const group = 'management.platform'
const vci = 'virtualclusterinstances'

async function key(spec: object, token = server.adminKey, metadata: object = {}): Promise<Holder> {
  made += 1
  const body = { ...accessKey(`k${made}`, spec), metadata: { name: `k${made}`, ...metadata } }
  const { json } = await server.call(keys, { method: 'POST', token, body })
  expect(json.message).toBeUndefined()
  return { name: json.metadata.name, uid: json.metadata.uid, token: json.spec.key }
}

const patch = ({ name }: Holder, spec: object) =>
  server.call(`${keys}/${name}`, { method: 'PATCH', headers: merge, body: { spec } })

const review = ({ name }: Pick<Holder, 'name'>, spec: object, token?: string): Promise<Answer> =>
  server.call(`${keys}/${name}/accessreview`, { method: 'POST', body: { spec }, ...(token !== undefined && { token }) })

const stepsOf = (json: Answer['json']): Record<string, Step> =>
  Object.fromEntries(json.status.steps.map((step: Step) => [step.check, step]))

beforeAll(async () => {
  server = await startServer({}, { streamSeconds: 60, unthrottled: true })
  await makeObjects(server)
}, 120_000)
afterAll(() => server?.stop())

/** Returns keys of several users, in every state, with random scopes, own and inherited. */
async function makeHolders(): Promise<Holder[]> {
  const valid = anyScope.filter((scope) => validateScope(scope).length === 0 && !hasSelfRotate(scope))
  const scopes = fc.sample(valid, { numRuns: 16, seed: 17 })
  const users = [{ user: 'alice' }, { user: 'root', groups: ['system:masters'] }, { team: 'red' }, { subject: 'robot' }]
  const maker = await key({ user: 'alice', scope: { rules: [{ verbs: ['create', 'get'] }] } })
  const disabled = await key({ user: 'alice' })
  await patch(disabled, { disabled: true })
  const deleted = await key({ user: 'alice' }, undefined, { finalizers: ['example.com/hold'] })
  await server.call(`${keys}/${deleted.name}`, { method: 'DELETE' })
  const leaked = await key({ user: 'alice' })
  await server.call('/leaks', { method: 'POST', token: '', body: { credentials: [leaked.token] } })
  const expired = await key({ user: 'alice', ttl: 1 })
  await expect.poll(async () => (await server.call(keys, { token: expired.token })).status).toBe(401)
  const rotated = await key({ user: 'alice' })
  const next = await server.call(`${keys}/${rotated.name}/rotate`, {
    method: 'POST',
    body: { spec: { overlapSeconds: 0 } },
  })
  return [
    ...(await Promise.all(users.map((spec) => key(spec)))),
    ...(await Promise.all(scopes.map((scope, index) => key({ ...users[index % users.length], scope })))),
    ...(await Promise.all(scopes.slice(0, 4).map((scope) => key({ user: 'alice', scope }, maker.token)))),
    await key({ user: 'alice' }, maker.token),
    await key({ user: 'alice', sourceCIDRs: ['203.0.113.0/24'] }),
    await key({ user: 'alice', sourceCIDRs: ['127.0.0.1'], scope: { projects: [{ project: 'a' }] } }),
    { ...rotated, token: next.json.status.key },
    disabled,
    deleted,
    leaked,
    expired,
  ]
}

/** Compares a review with the request itself. Returns the check that refuses it, or `none`, and what differs. */
async function compareWithRequest(
  holder: Holder,
  asked: AskedRequest,
): Promise<{ check: string; difference?: string }> {
  const { resourceAttributes, nonResourceAttributes, method, path, body, type, nothing } = asked
  const spec = {
    ...(resourceAttributes && { resourceAttributes }),
    ...(nonResourceAttributes && { nonResourceAttributes }),
    sourceIP: '127.0.0.1',
  }
  const [said, met] = await Promise.all([
    review(holder, spec),
    server.call(path, { method, token: holder.token, body, ...(type && { headers: { 'content-type': type } }) }),
  ])
  const { allowed, reason, steps } = said.json.status
  const refusing: Step | undefined = steps.find((step: Step) => step.allowed !== true)
  const { status } = met
  const message: string = met.json?.message ?? ''
  const isHidden = status === 403 || status === 404
  const check = refusing?.check ?? 'none'
  const agrees: Record<string, () => boolean> = {
    life: () => status === 401 && message === reason,
    source: () => status === 403 && message === reason,
    scope: () => status === 403 && (nothing === true || message.includes(`: ${reason.split(';')[0]}`)),
    rights: () => isHidden,
    none: () => status !== 401 && (!isHidden || (status === 404 && nothing === true)),
  }
  if (said.status === 201 && agrees[check]?.() && allowed === (refusing === undefined)) return { check }
  const difference = `${said.text} but ${status} ${message}: ${JSON.stringify([holder.name, asked])}`
  return { check, difference }
}

describe('an access review', () => {
  test('says what the request itself then gets, for 2,000 random keys and requests', async () => {
    const holders = await makeHolders()
    const pairs = fc.sample(fc.tuple(fc.constantFrom(...holders), fc.constantFrom(...askedRequests)), {
      numRuns: 2000,
      seed: 18,
    })
    const found: string[] = []
    const met = new Map<string, number>()
    const rest = pairs.values()
    const compare = async () => {
      for (const [holder, asked] of rest) {
        const { check, difference } = await compareWithRequest(holder, asked)
        met.set(check, (met.get(check) ?? 0) + 1)
        if (difference !== undefined) found.push(difference)
      }
    }
    await Promise.all(Array.from({ length: 16 }, compare))
    expect(found).toEqual([])
    for (const check of ['none', 'life', 'source', 'scope', 'rights']) {
      expect([check, (met.get(check) ?? 0) > 20]).toEqual([check, true])
    }
  }, 240_000)

  test('returns every step, also those after the first that refuses', async () => {
    const holder = await key({
      user: 'alice',
      disabled: true,
      sourceCIDRs: ['203.0.113.0/24'],
      scope: { projects: [{ project: 'x' }] },
    })
    const resourceAttributes = { verb: 'get', group, resource: vci, namespace: 'p-b', name: 'b' }
    const { json } = await review(holder, { resourceAttributes, sourceIP: '198.51.100.1' })
    const scope = 'spec.scope does not allow get of virtualclusterinstances "b" in project "b"'
    expect(json.status).toEqual({
      allowed: false,
      reason: 'access key is disabled',
      steps: [
        { check: 'life', allowed: false, reason: 'access key is disabled' },
        {
          check: 'source',
          allowed: false,
          reason: `access key "${holder.name}" may not be used from 198.51.100.1`,
        },
        {
          check: 'scope',
          allowed: false,
          entry: {
            rules: [
              {
                verbs: ['get'],
                resources: [{ group, resources: [vci], resourceNames: ['b'] }],
                namespaces: ['p-b'],
                requestTargets: ['Management'],
              },
            ],
          },
          reason: scope,
        },
        { check: 'rights', allowed: false, reason: 'not visible to this user' },
      ],
    })
    expect(json.metadata).toMatchObject({ name: holder.name, uid: holder.uid })
  })

  test('does not check source addresses without spec.sourceIP', async () => {
    const holder = await key({ user: 'alice', sourceCIDRs: ['203.0.113.0/24'] })
    const { json } = await review(holder, { resourceAttributes: { verb: 'list', group, resource: 'ownedaccesskeys' } })
    expect(json.status.allowed).toBe(true)
    const { source } = stepsOf(json)
    expect(source).toEqual({
      check: 'source',
      reason: 'not checked without spec.sourceIP: the access key is limited to 203.0.113.0/24',
    })
  })

  test('says that nobody can change an inherited scope', async () => {
    const maker = await key({ user: 'alice', scope: { rules: [{ verbs: ['create'] }] } })
    const child = await key({ user: 'alice' }, maker.token)
    const narrowed = await key({ user: 'alice', scope: { rules: [{ verbs: ['get'] }] } }, maker.token)
    const listing = { resourceAttributes: { verb: 'list', group, resource: 'ownedaccesskeys' } }
    const creating = { resourceAttributes: { verb: 'create', group, resource: 'ownedaccesskeys' } }
    const inherited = '; the access key inherited this scope, so nobody can change it'
    expect(stepsOf((await review(child, listing)).json).scope?.reason).toBe(
      `spec.scope does not allow list of ownedaccesskeys${inherited}`,
    )
    expect(stepsOf((await review(narrowed, listing)).json).scope?.reason).toBe(
      `chain[0].spec.scope does not allow list of ownedaccesskeys${inherited}`,
    )
    expect(stepsOf((await review(narrowed, creating)).json).scope?.reason).toBe(
      'chain[1].spec.scope does not allow create of ownedaccesskeys',
    )
  })

  test('names the entry with which the key is allowed the request', async () => {
    const holder = await key({ user: 'alice', scope: { projects: [{ project: 'x' }] } })
    const spec = { resourceAttributes: { verb: 'get', group, resource: vci, namespace: 'p-a', name: 'a' } }
    const { entry } = stepsOf((await review(holder, spec)).json).scope ?? {}
    await patch(holder, { scope: { projects: [{ project: 'x' }], ...entry } })
    expect((await review(holder, spec)).json.status).toMatchObject({ allowed: true })
    expect((await server.call(`${instances('p-a')}/a`, { token: holder.token })).status).toBe(200)
  })

  test('is no use of the key', async () => {
    const holder = await key({ user: 'alice' })
    await review(holder, { nonResourceAttributes: { verb: 'get', path: '/metrics' } })
    expect((await server.call(`${keys}/${holder.name}`)).json.status).not.toHaveProperty('lastActivity')
  })
})

describe('an access review for a target', () => {
  const cluster = { cluster: 'a' }
  const virtualCluster = { virtualCluster: { project: 'a', name: 'a' } }
  const space = { space: { project: 'a', name: 's' } }
  const namespaceOfSpace = 'p-a-s-s'
  const anywhere = 'nowhere'

  /** Returns what the cluster is told by the SubjectAccessReview that it sends. */
  async function told(agent: Holder, holder: Holder, chain: readonly Scope[], place: string, spec: object) {
    const extra = {
      'management.platform/access-key': [holder.name],
      'management.platform/access-key-uid': [holder.uid],
      'management.platform/scopes': [JSON.stringify(chain)],
      'management.platform/target': [place],
    }
    const { json } = await server.call('/apis/authorization.k8s.io/v1/subjectaccessreviews', {
      method: 'POST',
      token: agent.token,
      body: {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        spec: { user: 'alice', extra, ...spec },
      },
    })
    return json.status.denied !== true
  }

  test('says whether the SubjectAccessReview of the cluster denies the request, for random scopes', async () => {
    const agent = await key({
      user: 'agent',
      scope: { roles: [{ role: 'agent' }], clusters: [{ cluster: 'a' }, { cluster: anywhere }] },
    })
    const vcluster = await key({ user: 'v', scope: { roles: [{ role: 'vcluster', virtualClusters: ['a/a'] }] } })
    const { uid } = (await server.call(`${instances('p-a')}/a`)).json.metadata
    const places = [
      { target: cluster, ask: { agent, place: 'clusters/a' } },
      { target: virtualCluster, ask: { agent: vcluster, place: `virtualclusters/p-a/a/${uid}` } },
      { target: space, ask: { agent, place: `clusters/${anywhere}` } },
    ]
    const asks = [
      { resource: 'pods', verb: 'list', namespace: 'default' },
      { resource: 'pods', verb: 'get', namespace: namespaceOfSpace, name: 'p' },
      { resource: 'namespaces', verb: 'get', namespace: namespaceOfSpace, name: namespaceOfSpace },
      { resource: 'nodes', verb: 'list', namespace: '' },
    ]
    const valid = anyScope.filter((scope) => validateScope(scope).length === 0 && !hasSelfRotate(scope))
    const answers = new Set<string>()
    for (const scope of fc.sample(valid, { numRuns: 30, seed: 19 })) {
      const holder = await key({ user: 'alice', scope })
      for (const { target, ask } of places) {
        for (const resourceAttributes of asks) {
          if (target === space && resourceAttributes.namespace !== namespaceOfSpace) continue
          const { json } = await review(holder, { target, resourceAttributes })
          const isAllowed = await told(ask.agent, holder, [scope], ask.place, { resourceAttributes })
          const { allowed } = json.status
          expect([scope, target, resourceAttributes, allowed]).toEqual([scope, target, resourceAttributes, isAllowed])
          const { rights } = stepsOf(json)
          expect(rights).toEqual({ check: 'rights', reason: 'the cluster decides by its own RBAC' })
          answers.add(`${Object.keys(target)} ${allowed}`)
        }
      }
    }
    expect(answers.size).toBe(6)
  }, 60_000)

  test('fills in the namespace of a space', async () => {
    const holder = await key({ user: 'alice', scope: { spaces: [{ project: 'a', space: 's' }] } })
    const { json } = await review(holder, { target: space, resourceAttributes: { verb: 'list', resource: 'pods' } })
    expect(json.status).toMatchObject({ allowed: true })
    const elsewhere = { space: { project: 'a', name: 't' } }
    const refused = await review(holder, { target: elsewhere, resourceAttributes: { verb: 'list', resource: 'pods' } })
    expect(stepsOf(refused.json).scope).toEqual({
      check: 'scope',
      allowed: false,
      entry: {
        rules: [
          {
            verbs: ['list'],
            resources: [{ resources: ['pods'] }],
            namespaces: ['p-a-s-t'],
            requestTargets: ['ProjectSpace'],
          },
        ],
      },
      reason: 'spec.scope does not allow list of pods in namespace "p-a-s-t" in space "a/t"',
    })
  })
})

describe('an access review is a 422', () => {
  const asked = { resourceAttributes: { verb: 'list', resource: 'pods' } }

  test.each<[string, object, string]>([
    ['without a request', {}, 'exactly one of nonResourceAttributes or resourceAttributes must be specified'],
    ['with two requests', { ...asked, nonResourceAttributes: { verb: 'get', path: '/' } }, 'cannot be specified in'],
    ['without a verb', { resourceAttributes: { resource: 'pods' } }, 'spec.resourceAttributes.verb: Required'],
    ['without a resource', { resourceAttributes: { verb: 'get' } }, 'spec.resourceAttributes.resource: Required'],
    ['without a path', { nonResourceAttributes: { verb: 'get' } }, 'spec.nonResourceAttributes.path: Required'],
    ['with an empty target', { ...asked, target: {} }, 'exactly one of cluster, virtualCluster and space'],
    [
      'with two targets',
      { ...asked, target: { cluster: 'a', space: { project: 'a', name: 's' } } },
      'exactly one of cluster, virtualCluster and space',
    ],
    ['with a path as the cluster', { ...asked, target: { cluster: '../a' } }, 'spec.target.cluster: Invalid'],
    ['with an empty cluster', { ...asked, target: { cluster: '' } }, 'spec.target.cluster: Required'],
    [
      'without the project of a virtual cluster',
      { ...asked, target: { virtualCluster: { name: 'a' } } },
      'spec.target.virtualCluster.project: Required',
    ],
    [
      'with an ambiguous space',
      { ...asked, target: { space: { project: 'a', name: 's-s-s' } } },
      'must be the names of a project and a space',
    ],
    [
      'with the namespace of another space',
      {
        resourceAttributes: { ...asked.resourceAttributes, namespace: 'p-a-s-t' },
        target: { space: { project: 'a', name: 's' } },
      },
      'must be empty or the namespace of the space, p-a-s-s',
    ],
    [
      'with a path in a space',
      { nonResourceAttributes: { verb: 'get', path: '/' }, target: { space: { project: 'a', name: 's' } } },
      'a space has no paths',
    ],
    ['with a source that is no address', { ...asked, sourceIP: 'localhost' }, 'spec.sourceIP: Invalid value'],
  ])('%s', async (_, spec, text) => {
    const { status, json } = await review({ name: 'a' }, spec)
    expect([status, json.message]).toEqual([422, expect.stringContaining(text)])
  })

  test('with the name of another key', async () => {
    const { status, json } = await server.call(`${keys}/a/accessreview`, {
      method: 'POST',
      body: { metadata: { name: 'b' }, spec: asked },
    })
    expect([status, json.message]).toEqual([422, expect.stringContaining('must match the access key name')])
  })
})
