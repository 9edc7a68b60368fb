/** Tests the functions that serve documents, and the one for all other routes. */
import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, test } from 'vitest'
import { kindRows, MANAGEMENT_GROUP } from '../../lib/kinds.ts'
import { type Invocation, type Json, useFunctions } from '../support/functions.ts'
import { envelope, field, message } from '../support/protobuf.ts'
import { alice } from '../support/users.ts'
import { refused, status } from './stored/fixtures.ts'
import cases from './vectors/documents.cases.json' with { type: 'json' }

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
    test('accepts the event of the repository', async () =>
      expect(await functions.invoke('discovery')).toMatchObject({ status: 200 }))

    test('lists groups, versions and resources', async () => {
      expect((await at('discovery', '/apis')).json.groups.map(({ name }: { name: string }) => name)).toEqual([
        'management.platform',
        'authentication.k8s.io',
        'authorization.k8s.io',
        'apiextensions.k8s.io',
      ])
      const { json } = await at('discovery', '/apis/management.platform/v1')
      const resources = kindRows
        .filter(({ group }) => group === MANAGEMENT_GROUP)
        .flatMap(({ plural, subresource, archetype }) =>
          archetype === 'stored' ? [plural, `${plural}/status`] : [[plural, subresource].filter(Boolean).join('/')],
        )
      expect(json.resources.map(({ name }: { name: string }) => name)).toEqual(resources)
      expect((await at('discovery', '/api')).json.versions).toEqual(['v1'])
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

  test('401 without a user', async () => expect((await at('discovery', '/apis', { authorizer: {} })).status).toBe(401))

  test.each(['/apis/nothing', '/apis/management.platform/v2', '/api/v2', '/api/v1/namespaces/Not_One'])(
    '404 for %s',
    async (path) => {
      expect(await at('discovery', path)).toMatchObject({ status: 404, json: { reason: 'NotFound' } })
      expect((await at('discovery', path, { headers: { accept: 'application/yaml' } })).text).toContain('code: 404\n')
    },
  )
})

describe('customresourcedefinitions/list', () => {
  const { kind, apiVersion } = { kind: 'CustomResourceDefinition', apiVersion: 'apiextensions.k8s.io/v1' }
  const list = (query: Record<string, string> = {}, more: Invocation = {}) =>
    functions.invoke('customresourcedefinitions/list', { user: alice, query, ...more })
  const metadata = { resourceVersion: '1' }

  describe('200', () => {
    // Terraform first looks up its kinds among the definitions.
    test('returns an empty list', async () => {
      const { status: code, json } = await list()
      expect([code, json]).toEqual([200, { apiVersion, kind: `${kind}List`, metadata, items: [] }])
    })

    test('returns an empty Table and an empty list of metadata', async () => {
      const as = (form: string) => list({}, { headers: { accept: `application/json;as=${form};v=v1;g=meta.k8s.io` } })
      const table = await as('Table')
      expect(table.json).toMatchObject({ kind: 'Table', apiVersion: 'meta.k8s.io/v1', metadata, rows: [] })
      expect(table.json.columnDefinitions.map(({ name }: { name: string }) => name)).toEqual(['Name', 'Age'])
      const partial = await as('PartialObjectMetadataList')
      expect(partial.json).toEqual({
        kind: 'PartialObjectMetadataList',
        apiVersion: 'meta.k8s.io/v1',
        metadata,
        items: null,
      })
      expect([table.status, partial.status, (await as('PartialObjectMetadata')).status]).toEqual([200, 200, 406])
    })

    test('serves a watch of metadata and of Tables', async () => {
      const query = { watch: 'true', timeoutSeconds: '1', resourceVersion: '1', allowWatchBookmarks: 'true' }
      for (const form of ['PartialObjectMetadata', 'Table']) {
        const accept = `application/json;as=${form};v=v1;g=meta.k8s.io`
        const { status: code, text } = await list(query, { headers: { accept } })
        const [first] = text.split('\n')
        expect([code, JSON.parse(first ?? '')]).toMatchObject([
          200,
          { type: 'BOOKMARK', object: { kind: form, metadata } },
        ])
      }
    })

    // kopf and Argo CD watch every discovered resource, and fail to start if they cannot.
    test('serves a watch of bookmarks, or of nothing for clients that take none', async () => {
      const query = { watch: 'true', timeoutSeconds: '1', resourceVersion: '1' }
      const { status: code, text } = await list({ ...query, allowWatchBookmarks: 'true' })
      const lines = text.trimEnd().split('\n')
      const bookmark = { type: 'BOOKMARK', object: { apiVersion, kind, metadata } }
      expect([code, lines.map((line) => JSON.parse(line))]).toEqual([200, [bookmark, bookmark]])
      expect((await list(query)).text).toBe('')
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

  test.each(cases.invalid as [number, Record<string, string>][])('returns %s for %o', async (expected, query) =>
    expect((await list(query)).status).toBe(expected),
  )

  test('returns 401 without a user', async () => expect((await list({}, { authorizer: {} })).status).toBe(401))
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
    expect([code, json]).toEqual([409, status(409, 'AlreadyExists', 'namespaces "p-web" already exists')])
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

  test('returns 400 for another kind', async () =>
    expect((await create({}, { body: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } } })).status).toBe(400))
})

describe('a namespace', () => {
  test('is the same object at all times', async () => {
    const { status: code, json } = await at('discovery', '/api/v1/namespaces/p-web')
    expect([code, json]).toEqual([
      200,
      {
        kind: 'Namespace',
        apiVersion: 'v1',
        metadata: {
          name: 'p-web',
          // The UUID of version 5 of https://keyplane.example.com/kubernetes/management/api/v1/namespaces/p-web.
          uid: '651b4cf4-f2b9-5ed9-9fee-de6a0bb8fde5',
          resourceVersion: '1',
          creationTimestamp: '1970-01-01T00:00:00Z',
          labels: { 'kubernetes.io/metadata.name': 'p-web' },
        },
        spec: { finalizers: ['kubernetes'] },
        status: { phase: 'Active' },
      },
    ])
    expect((await at('discovery', '/api/v1/namespaces/p-ops')).json.metadata.uid).not.toBe(json.metadata.uid)
  })

  test('is shown as kubectl shows it', async () => {
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io'
    const { json } = await at('discovery', '/api/v1/namespaces/p-web', { headers: { accept, ...plain } })
    expect(json.columnDefinitions.map(({ name }: { name: string }) => name)).toEqual(['Name', 'Status', 'Age'])
    expect(json.rows[0].cells.slice(0, 2)).toEqual(['p-web', 'Active'])
  })
})

describe('discovery of custom resource definitions', () => {
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  test('lists them', async () => {
    const { json: resources } = await at('discovery', '/apis/apiextensions.k8s.io/v1')
    expect(resources.resources).toMatchObject([{ name: 'customresourcedefinitions', verbs: ['get', 'list', 'watch'] }])
  })

  test('are beside the two main kinds, which `kubectl get all` shows', async () => {
    const { json } = await at('discovery', '/apis/management.platform/v1')
    const main = json.resources.filter(({ categories }: { categories?: string[] }) => categories?.includes('all'))
    expect(main.map(({ name }: { name: string }) => name)).toEqual(['ownedaccesskeys', 'virtualclusterinstances'])
  })

  test('returns 404 for each name', async () => {
    const { status: code, json } = await at('discovery', `${path}/a.b.c`)
    expect([code, json.message]).toEqual([404, 'customresourcedefinitions.apiextensions.k8s.io "a.b.c" not found'])
  })
})

/** Returns the keywords of all objects that have a `$ref`. The schema of OpenAPI ignores those beside it. */
function besideReferences(value: Json): string[] {
  if (typeof value !== 'object' || value === null) return []
  const own = typeof value.$ref === 'string' ? Object.keys(value) : []
  return [...own, ...Object.values(value).flatMap(besideReferences)]
}

describe('openapi', () => {
  describe('200', () => {
    const protobuf = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'
    test.each(['', '*/*', 'application/json', `text/html, ${protobuf};q=0.5, application/json`])(
      'v2 for Accept: %s',
      async (accept) => {
        const { status: code, json, headers } = await at('openapi', '/openapi/v2', { headers: { accept, ...plain } })
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

    // kubectl explain, Terraform and validators of manifests look up every resource of discovery here.
    test('describes every resource that discovery lists, in v2 and v3', async () => {
      const { json: groups } = await at('discovery', '/apis')
      const listed = groups.groups.map(({ versions }: { versions: { groupVersion: string }[] }) => versions[0])
      const [v2, ...v3] = await Promise.all(
        ['v2', 'v3/api/v1', ...listed.map((one: { groupVersion: string }) => `v3/apis/${one.groupVersion}`)].map(
          async (path) => (await at('openapi', `/openapi/${path}`)).json,
        ),
      )
      const kindsOf = (schemas: object) =>
        Object.values<{ 'x-kubernetes-group-version-kind'?: Json[] }>({ ...schemas })
          .flatMap((one) => one['x-kubernetes-group-version-kind'] ?? [])
          .map(({ group, version, kind }) => `${group}/${version} ${kind}`)
      const inV2 = kindsOf(v2.definitions)
      const inV3 = v3.flatMap((one) => kindsOf(one.components?.schemas))
      for (const path of ['/api/v1', ...listed.map((one: { groupVersion: string }) => `/apis/${one.groupVersion}`)]) {
        const { json: list } = await at('discovery', path)
        const groupVersion = list.groupVersion.includes('/') ? list.groupVersion : `/${list.groupVersion}`
        for (const { name, kind, namespaced } of list.resources) {
          const [plural, subresource = ''] = name.split('/')
          const whole = `${path}/${namespaced ? 'namespaces/{namespace}/' : ''}${plural}`
          const one = subresource ? `${whole}/{name}/${subresource}` : whole
          for (const { paths } of [v2, v3.find((each) => each.paths?.[one]) ?? {}]) expect(paths).toHaveProperty([one])
          for (const described of [inV2, inV3]) expect(described).toContain(`${groupVersion} ${kind}`)
        }
      }
    })

    test('is valid, and has nothing but descriptions beside references, as generators require', async () => {
      const { json } = await functions.invoke('openapi')
      const documents = ['/openapi/v2', ...Object.keys(json.paths).map((path) => `/openapi/v3/${path}`)]
      for (const path of documents) {
        const { json: document } = await at('openapi', path)
        const { valid, errors } = await new Validator().validate(structuredClone(document))
        expect([path, valid, errors]).toEqual([path, true, undefined])
        const beside = path === '/openapi/v2' ? ['$ref', 'description'] : ['$ref']
        expect([path, besideReferences(document).filter((key) => !beside.includes(key))]).toEqual([path, []])
      }
    })

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

  test('301 for an outdated hash', async () => {
    const { status: code, headers } = await at('openapi', '/openapi/v3/apis/management.platform/v1', {
      query: { hash: 'OLD' },
    })
    // The location is relative, so it works below any stage and base path.
    expect([code, headers.location]).toEqual([301, expect.stringMatching(/^\?hash=[0-9A-F]+$/)])
  })

  test('401 without a user', async () =>
    expect((await functions.invoke('openapi', { authorizer: {} })).status).toBe(401))

  test('404 for an unknown group', async () =>
    expect((await at('openapi', '/openapi/v3/apis/nothing/v1')).status).toBe(404))
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

    test.each(['/version', '/healthz', '/livez', '/readyz'])('for %s', async (path) =>
      expect((await functions.invoke('issuer', { resource: base + path })).status).toBe(200),
    )
  })
})

describe('notfound', () => {
  // Only users may learn which routes exist.
  test('401 without a user', async () =>
    expect((await functions.invoke('notfound', { authorizer: {} })).status).toBe(401))

  describe('302', () => {
    const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
    const ask = (route: object, accept: string, more: object = {}) =>
      functions.invoke('notfound', { authorizer: {}, headers: { accept }, query: {}, ...route, ...more })
    const root = { resource: '/', parameters: null, path: '/' }
    const address = { resource: '/{proxy+}', parameters: { proxy: base.slice(1) }, path: base }

    // threat: page-3
    test.each([root, address])('leads a browser at $path to the console', async (route) => {
      const { status, headers } = await ask(route, browser)
      expect([status, headers.location, headers.vary]).toEqual([302, 'https://keyplane.example.com/console/', 'Accept'])
    })

    // threat: page-3
    test.each([
      ['other clients', address, '*/*', {}],
      ['a client that likes JSON better', address, 'text/html;q=0.5, application/json', {}],
      ['a client that refuses pages', address, 'text/html;q=0', {}],
      ['a write', address, browser, { method: 'POST' }],
      ['other paths', { ...address, parameters: { proxy: `${base.slice(1)}/nothing` } }, browser, {}],
      ['paths that begin with a host', { ...address, parameters: { proxy: `/evil.example/${base}` } }, browser, {}],
    ])('but not %s', async (_, route, accept, more) => expect((await ask(route, accept, more)).status).toBe(401))
  })

  describe('404', () => {
    test('for an unknown health check, without a key', async () => {
      const event = { resource: `${base}/readyz/{check}`, parameters: { check: 'etcd' }, authorizer: {} }
      expect(await functions.invoke('issuer', event)).toMatchObject({ status: 404, text: '404 page not found\n' })
    })

    test.each(cases.writes)('for a write to %s', async (path) =>
      expect((await at('notfound', path, { method: 'POST' })).status).toBe(404),
    )

    test('for any other path', async () =>
      expect(await at('notfound', '/nothing')).toMatchObject(
        refused(404, 'NotFound', expect.stringMatching(/^the server could not find the requested resource: /)),
      ))
  })

  test.each(cases.methods)('405 $method $path', async ({ method, path }) =>
    expect(await at('notfound', path, { method })).toMatchObject({ status: 405, json: { reason: 'MethodNotAllowed' } }),
  )

  test('405 for a subresource, as for a kind that stores nothing', async () => {
    const path = '/apis/management.platform/v1/namespaces/p-web/virtualclusterinstances/preview'
    const refusal = async (step: string) => (await at('notfound', path + step, { method: 'PUT' })).json.message
    expect(await refusal('/kubeconfig')).toMatch(/^the server does not allow this method on the requested resource: /)
    const below = 'update is not supported on resources of kind "virtualclusterinstances.management.platform"'
    expect(await refusal('')).toBe(below)
    expect(await refusal('/kubeconfig/more')).toMatch(/^the server could not find the requested resource: /)
  })
})
