/** Tests the functions that serve documents, and the one for all other routes. */
import { describe, expect, test } from 'vitest'
import { type Invocation, useFunctions } from '../support/functions.ts'
import { envelope, field, message } from '../support/protobuf.ts'
import { alice } from '../support/users.ts'
import { status } from './stored/fixtures.ts'

const functions = useFunctions()
const base = '/kubernetes/management'
/** The answers are read as text: large ones would be compressed. */
const plain = { 'accept-encoding': 'identity' }
const json = { accept: 'application/json', ...plain }
/** Invokes the function for another path below the base path, on the catch-all route, which drops a trailing slash. */
const at = (name: string, path: string, more: object = {}) => {
  const route = { resource: '/{proxy+}', parameters: { proxy: `${base}${path}`.slice(1).replace(/\/$/, '') } }
  return functions.invoke(name, { user: alice, headers: json, query: {}, path: base + path, ...route, ...more })
}

describe('discovery', () => {
  describe('200', () => {
    test('accepts the event of the repository', async () => {
      const { status: code } = await functions.invoke('discovery')
      expect(code).toBe(200)
    })

    test('lists groups, versions and resources', async () => {
      expect((await at('discovery', '/apis')).json.groups.map(({ name }: { name: string }) => name)).toEqual([
        'management.platform',
        'authentication.k8s.io',
        'authorization.k8s.io',
        'apiextensions.k8s.io',
      ])
      const { json } = await at('discovery', '/apis/management.platform/v1')
      expect(json.resources.map(({ name }: { name: string }) => name)).toEqual([
        'ownedaccesskeys',
        'ownedaccesskeys/status',
        'ownedaccesskeys/rotate',
        'ownedaccesskeys/accessreview',
        'accesskeyrevocations',
        'federatedidentitycredentials',
        'federatedidentitycredentials/status',
        'identityproviders',
        'identityproviders/status',
        'virtualclusterinstances',
        'virtualclusterinstances/status',
        'virtualclusterinstances/kubeconfig',
        'directclusterendpointtokens',
        'selves',
      ])
      expect((await at('discovery', '/api')).json.versions).toEqual(['v1'])
      expect((await at('discovery', '/api/v1/namespaces/any')).json.metadata).toEqual({ name: 'any' })
    })
  })

  describe('304', () => {
    // Clients cache the document with the type of the 304.
    test('for the aggregated document that the client already has', async () => {
      const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
      const first = await at('discovery', '/apis', { headers: { accept } })
      expect(first.json.kind).toBe('APIGroupDiscoveryList')
      const etag = String(first.headers.etag)
      const again = await at('discovery', '/apis', { headers: { accept, 'If-None-Match': etag } })
      expect([again.status, again.text]).toEqual([304, ''])
      expect(again.headers['content-type']).toBe(first.headers['content-type'])
      expect(again.headers['content-type']).toContain('as=APIGroupDiscoveryList')
    })

    test('if one of several tags matches', async () => {
      const accept = 'application/yaml;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
      const first = await at('discovery', '/api', { headers: { accept } })
      expect(first.headers['content-type']).toBe(accept)
      expect(first.text).toContain('apiVersion: apidiscovery.k8s.io/v2\n')
      const tags = `"other", W/${first.headers.etag}`
      expect((await at('discovery', '/api', { headers: { accept, 'If-None-Match': tags } })).status).toBe(304)
    })
  })

  describe('401', () => {
    test('without a user', async () => {
      expect((await at('discovery', '/apis', { authorizer: {} })).status).toBe(401)
    })
  })

  describe('404', () => {
    test.each(['/apis/nothing', '/apis/management.platform/v2', '/api/v2', '/api/v1/namespaces/Not_One'])(
      'for %s',
      async (path) => {
        const { status: code, json } = await at('discovery', path)
        expect([code, json.reason]).toEqual([404, 'NotFound'])
        expect((await at('discovery', path, { headers: { accept: 'application/yaml' } })).text).toContain('code: 404\n')
      },
    )
  })
})

describe.each([
  { name: 'namespaces/list', kind: 'Namespace', apiVersion: 'v1' },
  {
    name: 'customresourcedefinitions/list',
    kind: 'CustomResourceDefinition',
    apiVersion: 'apiextensions.k8s.io/v1',
  },
])('$name', ({ name, kind, apiVersion }) => {
  const list = (query: Record<string, string> = {}, more: Invocation = {}) =>
    functions.invoke(name, { user: alice, query, ...more })
  const metadata = { resourceVersion: '1' }

  describe('200', () => {
    // Terraform first looks up its kinds among the definitions.
    test('returns an empty list', async () => {
      const { status: code, json } = await list()
      expect([code, json]).toEqual([200, { apiVersion, kind: `${kind}List`, metadata, items: [] }])
    })

    // kopf and Argo CD watch every discovered resource, and fail to start if they cannot.
    test('serves a watch without events that ends with a bookmark', async () => {
      const query = { watch: 'true', timeoutSeconds: '1', resourceVersion: '1' }
      const { status: code, text } = await list({ ...query, allowWatchBookmarks: 'true' })
      const bookmark = { type: 'BOOKMARK', object: { apiVersion, kind, metadata } }
      expect([
        code,
        text
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line)),
      ]).toEqual([200, [bookmark]])
      expect((await list(query)).text).toBe(' ')
    })

    test('marks the end of the initial events of a watch', async () => {
      const initial = { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan', resourceVersion: '' }
      const { text } = await list({ watch: '1', timeoutSeconds: '1', allowWatchBookmarks: '1', ...initial })
      const annotations = { 'k8s.io/initial-events-end': 'true' }
      expect(JSON.parse(text.split('\n')[0] ?? '').object.metadata).toEqual({ ...metadata, annotations })
    })

    test('ends a watch over WebSocket at once', async () => {
      const { status: code, text } = await list({ watch: '1' }, { headers: { 'Sec-WebSocket-Key': 'eA==' } })
      expect([code, text]).toEqual([200, '\n'])
    })
  })

  test.each<[number, Record<string, string>]>([
    [400, { watch: '1', resourceVersion: 'new' }],
    [400, { labelSelector: 'a in' }],
    [422, { watch: '1', sendInitialEvents: '1' }],
  ])('returns %s for %o', async (expected, query) => {
    expect((await list(query)).status).toBe(expected)
  })

  test('returns 401 without a user', async () => {
    expect((await list({}, { authorizer: {} })).status).toBe(401)
  })
})

describe('namespaces/create', () => {
  const create = (metadata: object, more: object = {}) =>
    functions.invoke('namespaces/create', {
      user: alice,
      body: { apiVersion: 'v1', kind: 'Namespace', metadata },
      ...more,
    })

  // `helm install --create-namespace` treats this as success.
  test('returns 409, because a namespace exists for every valid name', async () => {
    const { status: code, json } = await create({ name: 'p-web' })
    const message = 'namespaces "p-web" already exists'
    expect([code, json]).toEqual([409, status(409, 'AlreadyExists', message)])
    expect(json.details).toEqual({ name: 'p-web', kind: 'namespaces' })
    expect((await create({ name: 'p-web' }, { query: { dryRun: 'All' } })).status).toBe(409)
    const generated = await create({ generateName: 'p-' })
    expect([generated.status, generated.json.reason]).toEqual([409, 'AlreadyExists'])
  })

  test('returns 409 for a body in protobuf, which compiled clients send', async () => {
    const body = envelope('v1', 'Namespace', message(field(1, message(field(1, 'p-web')))))
    const headers = { 'content-type': 'application/vnd.kubernetes.protobuf' }
    expect((await create({}, { body, headers })).json.message).toBe('namespaces "p-web" already exists')
  })

  test('returns 422 for an invalid name', async () => {
    const { status: code, json } = await create({ name: 'No_Name' })
    expect([code, json.message]).toEqual([
      422,
      expect.stringMatching(
        /^Namespace "No_Name" is invalid: metadata.name: Invalid value: "No_Name": a lowercase RFC 1123 label must/,
      ),
    ])
    expect((await create({})).json.message).toBe(
      'Namespace "" is invalid: metadata.name: Required value: name or generateName is required',
    )
    expect((await create({ name: 'a.b' })).json.message).toContain('must not contain dots')
    expect((await create({ name: 'a', labels: { 'a b': '' } })).status).toBe(422)
  })

  test('returns 400 for another kind', async () => {
    expect((await create({}, { body: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } } })).status).toBe(400)
  })
})

describe('discovery of custom resource definitions', () => {
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  test('lists them', async () => {
    const { json: resources } = await at('discovery', '/apis/apiextensions.k8s.io/v1')
    expect(resources.resources).toMatchObject([{ name: 'customresourcedefinitions', verbs: ['get', 'list', 'watch'] }])
  })

  test('returns 404 for each name', async () => {
    const { status: code, json } = await at('discovery', `${path}/a.b.c`)
    const message = 'customresourcedefinitions.apiextensions.k8s.io "a.b.c" not found'
    expect([code, json.message]).toEqual([404, message])
  })
})

describe('openapi', () => {
  describe('200', () => {
    const protobuf = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'
    test.each(['', '*/*', 'application/json', `text/html, ${protobuf};q=0.5, application/json`])(
      'v2 for Accept: %s',
      async (accept) => {
        const {
          status: code,
          json,
          headers,
        } = await at('openapi', '/openapi/v2', {
          headers: { accept, ...plain },
        })
        expect([code, json.swagger, headers['content-type']]).toEqual([200, '2.0', 'application/json'])
        const kinds = Object.values<{ 'x-kubernetes-group-version-kind'?: { kind: string }[] }>(json.definitions)
        const names = kinds.flatMap((one) => one['x-kubernetes-group-version-kind'] ?? []).map(({ kind }) => kind)
        expect(names).toContain('OwnedAccessKey')
        const known = { accept, 'If-None-Match': String(headers.etag) }
        expect((await at('openapi', '/openapi/v2', { headers: known })).status).toBe(304)
      },
    )

    test.each([protobuf, protobuf.replace('@', '.'), `${protobuf}, application/json`])(
      'v2 for Accept: %s is the same in protobuf',
      async (accept) => {
        const { status: code, text, headers } = await at('openapi', '/openapi/v2', { headers: { accept, ...plain } })
        expect([code, headers['content-type']]).toEqual([200, protobuf.replace('@', '.')])
        expect(text.slice(2, 5)).toBe('2.0')
        expect(text).toContain('platform.management.v1.OwnedAccessKey')
        const known = { accept, 'If-None-Match': String(headers.etag) }
        expect((await at('openapi', '/openapi/v2', { headers: known })).status).toBe(304)
        const json = await at('openapi', '/openapi/v2', { headers: { 'If-None-Match': String(headers.etag) } })
        expect(json.status).toBe(200)
      },
    )

    // Generated code puts descriptions into comments.
    test('contains no description that would end a comment', async () => {
      const { json } = await functions.invoke('openapi')
      for (const path of Object.keys(json.paths)) {
        const { text } = await at('openapi', `/openapi/v3/${path}`)
        expect(text).toContain('"openapi":"3.0.0"')
        const descriptions = [...text.matchAll(/"(?:description|summary)":"(?:[^"\\]|\\.)*"/g)].map(([one]) => one)
        expect(descriptions.filter((one) => one.includes('*/'))).toEqual([])
      }
    })

    test('lists only existing documents in the index', async () => {
      const { json } = await functions.invoke('openapi')
      const { serverRelativeURL } = json.paths['apis/management.platform/v1']
      const [path, hash] = serverRelativeURL.split('?hash=')
      const { status: code, json: document, headers } = await at('openapi', path, { query: { hash } })
      expect([code, document.openapi]).toEqual([200, '3.0.0'])
      expect(headers).toMatchObject({ etag: `"${hash}"`, 'cache-control': 'public, immutable' })
      const days = (Date.parse(String(headers.expires)) - Date.now()) / 86_400_000
      expect(Math.round(days)).toBe(365)
      const known = await at('openapi', path, { headers: { 'If-None-Match': `"${hash}"` } })
      expect([known.status, known.text]).toEqual([304, ''])
      const fresh = await at('openapi', path, { query: { hash: '' } })
      expect([fresh.status, fresh.headers['cache-control']]).toEqual([200, 'no-cache, private'])
    })
  })

  describe('301', () => {
    test('for an outdated hash', async () => {
      const { status: code, headers } = await at('openapi', '/openapi/v3/apis/management.platform/v1', {
        query: { hash: 'OLD' },
      })
      // The location is relative, so it works below any stage and base path.
      expect([code, headers.location]).toEqual([301, expect.stringMatching(/^\?hash=[0-9A-F]+$/)])
    })
  })

  describe('401', () => {
    test('without a user', async () => {
      expect((await functions.invoke('openapi', { authorizer: {} })).status).toBe(401)
    })
  })

  describe('404', () => {
    test('for an unknown group', async () => {
      expect((await at('openapi', '/openapi/v3/apis/nothing/v1')).status).toBe(404)
    })
  })
})

describe('issuer', () => {
  describe('200', () => {
    // Public, because a cluster that verifies tokens has no access key.
    test('serves the discovery document and the keys that it refers to', async () => {
      const { json, headers } = await functions.invoke('issuer')
      expect(json).toMatchObject({
        issuer: 'https://keyplane.example.com/kubernetes/management',
        jwks_uri: 'https://keyplane.example.com/kubernetes/management/openid/v1/jwks',
      })
      expect(headers['cache-control']).toContain('public')
      const jwks = await functions.invoke('issuer', { resource: `${base}/openid/v1/jwks` })
      expect(jwks.json.keys).toEqual([expect.objectContaining({ kty: 'EC', crv: 'P-256', alg: 'ES256', use: 'sig' })])
      // Only the public part of a signing key is published.
      expect(jwks.json.keys[0]).not.toHaveProperty('d')
    })

    test.each(['/version', '/healthz', '/livez', '/readyz'])('for %s', async (path) => {
      expect((await functions.invoke('issuer', { resource: base + path })).status).toBe(200)
    })
  })
})

describe('notfound', () => {
  describe('400', () => {
    test('for an update of a collection', async () => {
      const { status: code, json } = await at('notfound', '/apis/management.platform/v1/ownedaccesskeys', {
        method: 'PUT',
      })
      expect([code, json]).toEqual([400, expect.objectContaining({ message: 'name must be provided' })])
    })
  })

  describe('401', () => {
    // Only users may learn which routes exist.
    test('without a user', async () => {
      expect((await functions.invoke('notfound', { authorizer: {} })).status).toBe(401)
    })
  })

  describe('404', () => {
    test('for an unknown resource, as for custom resources', async () => {
      const { status: code, text } = await functions.invoke('notfound')
      expect([code, text]).toEqual([404, '404 page not found\n'])
    })

    test('for an unknown health check, without a key', async () => {
      const event = { resource: `${base}/readyz/{check}`, parameters: { check: 'etcd' }, authorizer: {} }
      const { status: code, text } = await functions.invoke('issuer', event)
      expect([code, text]).toEqual([404, '404 page not found\n'])
    })

    test('for an unknown subresource, as for custom resources', async () => {
      const { status: code, json } = await at('notfound', '/apis/management.platform/v1/ownedaccesskeys/ci/scale')
      const details = { name: 'ci', group: 'management.platform', kind: 'ownedaccesskeys' }
      const message = 'ownedaccesskeys.management.platform "ci" not found'
      expect([code, json]).toEqual([404, expect.objectContaining({ reason: 'NotFound', message, details })])
    })

    test.each([
      '/api/v1/namespaces/default/events',
      '/api/v1/namespaces/No',
      '/apis/management.platform/v1/things',
      '/apis/management.platform/v2',
      '/apis/other/v1',
      '/apis/apiextensions.k8s.io/v1/others',
    ])('for a write to %s', async (path) => {
      expect((await at('notfound', path, { method: 'POST' })).status).toBe(404)
    })

    test('for any other path', async () => {
      const { status: code, json } = await at('notfound', '/nothing')
      expect([code, json]).toEqual([
        404,
        status(404, 'NotFound', expect.stringMatching(/^the server could not find the requested resource: /)),
      ])
    })
  })

  describe('405', () => {
    test.each([
      { method: 'POST', path: '/apis/management.platform/v1/ownedaccesskeys/ci' },
      { method: 'GET', path: '/apis/management.platform/v1/selves' },
      { method: 'OPTIONS', path: '/apis/management.platform/v1/ownedaccesskeys' },
      { method: 'DELETE', path: '/apis/management.platform/v1/ownedaccesskeys/ci/status' },
      { method: 'PUT', path: '/api/v1/namespaces' },
      { method: 'DELETE', path: '/api/v1/namespaces/p-web' },
      { method: 'POST', path: '/apis/management.platform/v1/' },
      { method: 'PUT', path: '/apis/authentication.k8s.io' },
      { method: 'POST', path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions' },
      { method: 'PATCH', path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/a.b' },
      { method: 'POST', path: '/api' },
      { method: 'PUT', path: '/openapi/v3' },
      { method: 'POST', path: '/version' },
    ])('$method $path', async ({ method, path }) => {
      const { status: code, json } = await at('notfound', path, { method })
      expect([code, json.reason]).toEqual([405, 'MethodNotAllowed'])
    })
  })

  test('405 for a subresource, as for a kind that stores nothing', async () => {
    const path = '/apis/management.platform/v1/namespaces/p-web/virtualclusterinstances/preview'
    const refusal = async (step: string) => (await at('notfound', path + step, { method: 'PUT' })).json.message
    expect(await refusal('/kubeconfig')).toMatch(/^the server does not allow this method on the requested resource: /)
    const below = 'update is not supported on resources of kind "virtualclusterinstances.management.platform"'
    expect(await refusal('')).toBe(below)
    expect(await refusal('/kubeconfig/more')).toMatch(/^the server could not find the requested resource: /)
  })

  describe('415', () => {
    test('for the media type of a patch of a collection, which is checked first', async () => {
      const path = '/apis/management.platform/v1/ownedaccesskeys'
      expect((await at('notfound', path, { method: 'PATCH' })).status).toBe(415)
      const headers = { 'content-type': 'application/merge-patch+json' }
      expect((await at('notfound', path, { method: 'PATCH', headers })).status).toBe(400)
    })
  })
})
