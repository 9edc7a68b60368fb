/**
 * Tests that self reviews agree with the requests themselves, for random scopes and every request that this API serves.
 * An allowed request never returns 403 or a 404 that hides an object; a denied one always does.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { validateScope } from '../../lib/authorization/scopes/validatescope.ts'
import { scope as anyScope } from '../lib/authorization/arbitraries.ts'
import { accessKey, apiVersion, instance, instances, keys, management } from '../support/objects.ts'
import { startServer, type TestServer } from '../support/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer({}, { streamSeconds: 60, unthrottled: true })
  const access = [{ verbs: ['*'], users: ['alice'] }]
  await server.make(instances('p-a'), instance('a', { access }))
  await server.make(instances('p-b'), instance('b'))
  await server.make(keys, accessKey('a', { user: 'alice' }))
  await server.make(keys, accessKey('b', { user: 'bob' }))
}, 120_000)
afterAll(() => server?.stop())

interface Asked {
  /** The attributes in the review. */
  resourceAttributes?: Record<string, string>
  nonResourceAttributes?: Record<string, string>
  method: string
  path: string
  /** The object or the path does not exist. */
  nothing?: boolean
  body?: unknown
  type?: string
}

const group = 'management.platform'
const merge = { body: {}, type: 'application/merge-patch+json' }

/** Returns the requests to the objects of a stored kind, all without an effect. Only the objects `there` exist. */
function ofKind(
  resource: string,
  collection: string,
  namespace: string,
  there: readonly string[],
  body: unknown,
): Asked[] {
  const attributes = { group, resource, namespace }
  const at = (verb: string, more: object, method: string, path: string, rest: object = {}): Asked => ({
    resourceAttributes: { ...attributes, verb, ...more },
    nothing: 'name' in more && !there.includes(String(more.name)),
    method,
    path: `${collection}${path}`,
    ...rest,
  })
  return [
    at('list', {}, 'GET', ''),
    at('create', {}, 'POST', '?dryRun=All', { body }),
    at('deletecollection', {}, 'DELETE', '?dryRun=All'),
    ...['a', 'b', 'none'].flatMap((name) => [
      at('list', { name }, 'GET', `?fieldSelector=metadata.name%3D${name}`),
      at('get', { name }, 'GET', `/${name}`),
      at('get', { name, subresource: 'status' }, 'GET', `/${name}/status`),
      at('patch', { name }, 'PATCH', `/${name}?dryRun=All`, merge),
      at('patch', { name, subresource: 'status' }, 'PATCH', `/${name}/status?dryRun=All`, merge),
      at('delete', { name }, 'DELETE', `/${name}?dryRun=All`),
    ]),
  ]
}

const createRequest = (where: string, resource: string, body: object = {}): Asked => ({
  resourceAttributes: { group: where, resource, verb: 'create' },
  method: 'POST',
  path: `/apis/${where}/v1/${resource}?dryRun=All`,
  body,
})

const allInstances = `${management}/virtualclusterinstances`
const requests: readonly Asked[] = [
  ...ofKind('ownedaccesskeys', keys, '', ['a', 'b'], accessKey('new')),
  ...['a', 'b', ''].flatMap((there) => {
    const namespace = there ? `p-${there}` : 'default'
    return ofKind('virtualclusterinstances', instances(namespace), namespace, [there], instance('new'))
  }),
  {
    resourceAttributes: { group, resource: 'virtualclusterinstances', verb: 'list' },
    method: 'GET',
    path: allInstances,
  },
  ...['a', 'b'].map((name) => ({
    resourceAttributes: {
      group,
      resource: 'virtualclusterinstances',
      subresource: 'kubeconfig',
      verb: 'create',
      name,
      namespace: `p-${name}`,
    },
    method: 'POST',
    path: `${instances(`p-${name}`)}/${name}/kubeconfig?dryRun=All`,
    body: { spec: { server: 'https://a.example.com' } },
  })),
  createRequest(group, 'directclusterendpointtokens', { spec: { scope: { clusters: [{ cluster: 'a' }] } } }),
  createRequest(group, 'selves'),
  createRequest('authentication.k8s.io', 'selfsubjectreviews'),
  createRequest('authentication.k8s.io', 'tokenreviews', { spec: { token: 'x' } }),
  createRequest('authorization.k8s.io', 'selfsubjectrulesreviews', { spec: { namespace: 'p-a' } }),
  createRequest('authorization.k8s.io', 'subjectaccessreviews', {
    spec: { user: 'x', resourceAttributes: { verb: 'get' } },
  }),
  { resourceAttributes: { resource: 'namespaces', verb: 'list' }, method: 'GET', path: '/api/v1/namespaces' },
  {
    resourceAttributes: { resource: 'namespaces', verb: 'get', name: 'p-a' },
    method: 'GET',
    path: '/api/v1/namespaces/p-a',
  },
  ...['', '/a'].map((name) => ({
    resourceAttributes: {
      group: 'apiextensions.k8s.io',
      resource: 'customresourcedefinitions',
      verb: name ? 'get' : 'list',
      name: name.slice(1),
    },
    nothing: name !== '',
    method: 'GET',
    path: `/apis/apiextensions.k8s.io/v1/customresourcedefinitions${name}`,
  })),
  ...[
    '/metrics',
    '/logs/a',
    '/apis',
    '/apis/nobody.example',
    '/apis/nobody.example/v1',
    '/openapi/v3',
    '/nothing',
  ].flatMap((path) =>
    // A review may also name the path with the base path.
    [path, `/kubernetes/management${path}`].map((asked) => ({
      nonResourceAttributes: { verb: 'get', path: asked },
      nothing: true,
      method: 'GET',
      path,
    })),
  ),
]

/** Reports whether the review allows the request and whether the request passes. */
async function judgeRequest(
  token: string,
  { resourceAttributes, nonResourceAttributes, method, path, body, type }: Asked,
) {
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: {
      ...(resourceAttributes && { resourceAttributes }),
      ...(nonResourceAttributes && { nonResourceAttributes }),
    },
  }
  const reviews = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
  const [said, met] = await Promise.all([
    server.call(reviews, { method: 'POST', token, body: review }),
    server.call(path, { method, token, body, ...(type && { headers: { 'content-type': type } }) }),
  ])
  const { allowed, reason } = said.json.status
  return { allowed, reason, status: met.status, message: met.json?.message ?? met.text.slice(0, 200) }
}

const deniedCodes = [403, 404]

async function disagreements(spec: object): Promise<string[]> {
  const answer = await server.call(keys, {
    method: 'POST',
    body: { apiVersion, kind: 'OwnedAccessKey', metadata: { generateName: 'k-' }, spec },
  })
  expect(answer.status, answer.text).toBe(201)
  const token: string = answer.json.spec.key
  const found: string[] = []
  for (const asked of requests) {
    const { allowed, reason, status, message } = await judgeRequest(token, asked)
    expect(status, message).not.toBe(401)
    expect(status, message).toBeLessThan(500)
    // A missing object returns 404 to every user whose scope allows the request.
    const agrees = allowed === !deniedCodes.includes(status) || (status === 404 && asked.nothing === true)
    if (!agrees) found.push(`${allowed} (${reason}) but ${status} (${message}): ${JSON.stringify(asked)}`)
  }
  return found
}

test.each([
  [{ user: 'alice', scope: { rules: [{ namespaces: [''] }] } }],
  [{ user: 'alice', scope: { rules: [{ nonResourceURLs: ['/metrics'] }] } }],
  [{ user: 'alice', scope: {} }],
  [{ user: 'alice' }],
  [{ user: 'root', groups: ['system:masters'] }],
  [{ user: 'alice', scope: { projects: [{ project: 'a' }] } }],
  [{ user: 'root', groups: ['system:masters'], scope: { roles: [{ role: 'platformCLI' }] } }],
])('the two reviews agree on %j', async (spec) => {
  expect(await disagreements(spec)).toEqual([])
})

test('the two reviews agree on any scope', async () => {
  const valid = anyScope.filter((scope) => Object.keys(scope).length > 0 && validateScope(scope).length === 0)
  const users = [{ user: 'alice' }, { user: 'root', groups: ['system:masters'] }]
  for (const [index, scope] of fc.sample(valid, { numRuns: 12, seed: 12 }).entries()) {
    expect(await disagreements({ ...users[index % 2], scope }), JSON.stringify(scope)).toEqual([])
  }
}, 240_000)

test('the reviews expect paths below the base path, and deny no request that no scope restricts', async () => {
  const get = async (scope: object, path: string) => {
    const { spec } = await server.make(keys, {
      apiVersion,
      kind: 'OwnedAccessKey',
      metadata: { generateName: 'k-' },
      spec: { user: 'alice', scope },
    })
    return (await server.call(path, { token: spec.key })).status
  }
  expect(await get({ rules: [{ nonResourceURLs: ['/metrics'] }] }, '/metrics')).toBe(404)
  expect(await get({ rules: [{ nonResourceURLs: ['/metrics'] }] }, '/logs')).toBe(403)
  expect(await get({}, '/apis/nobody.example')).toBe(404)
  expect(await get({}, '/apis/management.platform/v2')).toBe(404)
})
