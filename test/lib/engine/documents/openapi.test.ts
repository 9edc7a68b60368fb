import { createHash } from 'node:crypto'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv } from 'ajv'
import formatsPlugin from 'ajv-formats'
import { describe, expect, test } from 'vitest'
import { openApi, openApiDocument } from '../../../../lib/engine/documents/openapi.ts'
import type { OpenApiKind } from '../../../../lib/engine/documents/paths.ts'
import { object, string } from '../../../../lib/engine/meta/schema/schema.ts'
import type { JsonObject, JsonValue } from '../../../../lib/engine/meta/types.ts'
import { example } from '../meta/example.ts'
import cases from './vectors/openapi.cases.json' with { type: 'json' }

const stored: OpenApiKind = {
  ...example,
  verbs: ['create', 'get', 'list', 'update', 'patch', 'delete', 'deletecollection', 'watch'],
}
const token: OpenApiKind = {
  ...example,
  kind: 'ExampleToken',
  plural: 'exampletokens',
  singular: 'exampletoken',
  verbs: ['create'],
  schema: { spec: object('What is wanted.', {}), status: object('The answer.', { token: string('The token.') }) },
  credential: () => ({}),
}
const parent: OpenApiKind = { ...stored, kind: 'Parent', plural: 'parents', singular: 'parent', scope: 'Namespaced' }
const below: OpenApiKind = { ...token, kind: 'Config', plural: 'parents', scope: 'Namespaced', subresource: 'config' }
const other: OpenApiKind = { ...token, group: 'other.test', kind: 'Review', plural: 'reviews', singular: 'review' }
const info = { title: 'Test', version: 'v1', license: { name: 'Apache-2.0', url: 'https://example.com' } }
const document = openApiDocument([stored, token, parent, below], info)

interface Operation {
  operationId: string
  summary: string
  description: string
  parameters: { name: string; in: string }[]
  requestBody?: { content: JsonObject }
  responses: JsonObject
  'x-kubernetes-action': string
  'x-kubernetes-group-version-kind': JsonObject
}
const METHODS = ['get', 'post', 'put', 'patch', 'delete']
const paths = document.paths as unknown as Record<string, Record<string, Operation>>
const operations = Object.entries(paths).flatMap(([path, item]) =>
  METHODS.flatMap((method) => (item[method] ? [{ path, method, operation: item[method] }] : [])),
)
const schemas = (document.components as { schemas: Record<string, JsonObject> }).schemas
const base = '/apis/example.test/v1'

/** Returns the value at a JSON pointer `#/a/b`. */
const resolve = (ref: string): unknown =>
  ref
    .slice(2)
    .split('/')
    .reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], document)

function refs(value: JsonValue): string[] {
  if (Array.isArray(value)) return value.flatMap(refs)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) =>
    name === '$ref' && typeof member === 'string' ? [member] : refs(member),
  )
}

test('the document is valid OpenAPI 3.0', async () => {
  const validator = new Validator()
  const result = await validator.validate(structuredClone(document))
  expect([result.errors, result.valid, validator.version]).toEqual([undefined, true, '3.0'])
})

test('every reference has a target, and every operationId is unique', () => {
  expect(refs(document).filter((ref) => resolve(ref) === undefined)).toEqual([])
  const ids = operations.map(({ operation }) => operation.operationId)
  expect(new Set(ids).size).toBe(ids.length)
  for (const { operation } of operations) expect(operation.summary).toMatch(/^[A-Z].*[^.]$/)
})

describe('paths', () => {
  test('match the routes, without the base path', () => {
    const served = Object.fromEntries(
      Object.entries(paths).map(([path, item]) => [path, METHODS.filter((method) => item[method])]),
    )
    expect(served).toEqual({
      [`${base}/examples`]: ['get', 'post', 'delete'],
      [`${base}/examples/{name}`]: ['get', 'put', 'patch', 'delete'],
      [`${base}/examples/{name}/status`]: ['get', 'put', 'patch'],
      [`${base}/exampletokens`]: ['post'],
      [`${base}/exampletokens/{name}`]: ['patch'],
      [`${base}/namespaces/{namespace}/parents`]: ['get', 'post', 'delete'],
      [`${base}/parents`]: ['get'],
      [`${base}/namespaces/{namespace}/parents/{name}`]: ['get', 'put', 'patch', 'delete'],
      [`${base}/namespaces/{namespace}/parents/{name}/status`]: ['get', 'put', 'patch'],
      [`${base}/namespaces/{namespace}/parents/{name}/config`]: ['post', 'patch'],
    })
  })

  test('state which patches return 405', () => {
    const unserved = operations.filter(({ operation }) => operation.description.startsWith('Not supported (405)'))
    expect(unserved.map(({ path }) => path)).toEqual([
      `${base}/exampletokens/{name}`,
      `${base}/namespaces/{namespace}/parents/{name}/config`,
    ])
  })

  // Generated clients derive the names of their methods from the ids.
  test('have operationIds in the form of Kubernetes', () => {
    const ids = (path: string) => METHODS.map((method) => paths[base + path]?.[method]?.operationId).filter(Boolean)
    expect(ids('/namespaces/{namespace}/parents')).toEqual([
      'listExampleTestV1NamespacedParent',
      'createExampleTestV1NamespacedParent',
      'deleteExampleTestV1CollectionNamespacedParent',
    ])
    expect(ids('/parents')).toEqual(['listExampleTestV1ParentForAllNamespaces'])
    expect(ids('/examples/{name}')).toEqual([
      'readExampleTestV1Example',
      'replaceExampleTestV1Example',
      'patchExampleTestV1Example',
      'deleteExampleTestV1Example',
    ])
    expect(ids('/examples/{name}/status')[0]).toBe('readExampleTestV1ExampleStatus')
    const review = { ...other, group: 'authentication.k8s.io' }
    expect(JSON.stringify(openApiDocument([review], info))).toContain('"createAuthenticationV1Review"')
  })

  test('are below the URL of the server, which is relative to that of the document', () => {
    const [{ url }] = document.servers as [{ url: string }]
    const place = 'https://example.com/prod/base/openapi/v3/apis/example.test/v1?hash=1'
    expect(new URL(url, place).href).toBe('https://example.com/prod/base/')
  })

  test('describe each operation in the words of Kubernetes', () => {
    const actions = operations
      .filter(({ path }) => path.startsWith(`${base}/examples`))
      .map(({ method, operation }) => `${method} ${operation['x-kubernetes-action']}`)
    expect(actions).toEqual([
      'get list',
      'post post',
      'delete deletecollection',
      'get get',
      'put put',
      'patch patch',
      'delete delete',
      'get get',
      'put put',
      'patch patch',
    ])
  })

  test('document an ExecCredential as a form of answers with credentials, and of no others', () => {
    const types = (path: string, code: string) =>
      Object.keys((paths[base + path]?.post?.responses[code] as { content?: JsonObject } | undefined)?.content ?? {})
    const own = ['application/json', 'application/yaml']
    const asked = own.map((type) => `${type};as=ExecCredential;g=client.authentication.k8s.io;v=v1`)
    expect(types('/exampletokens', '201')).toEqual([...own, ...asked])
    expect(types('/exampletokens', 'default')).toEqual(own)
    expect(types('/examples', '201')).toEqual(own)
  })

  const list = ['labelSelector', 'fieldSelector', 'limit', 'continue', 'resourceVersion', 'resourceVersionMatch']
  const remove = ['dryRun', 'propagationPolicy', 'orphanDependents', 'gracePeriodSeconds']
  test.each([
    [
      '/examples',
      'get',
      [...list, 'namePrefix', 'watch', 'allowWatchBookmarks', 'sendInitialEvents', 'timeoutSeconds'],
    ],
    ['/examples', 'delete', [...list, ...remove]],
    ['/examples/{name}', 'get', ['resourceVersion']],
    ['/examples/{name}', 'delete', remove],
    ['/examples/{name}', 'put', ['dryRun', 'fieldManager', 'fieldValidation']],
    ['/examples/{name}', 'patch', ['dryRun', 'fieldManager', 'fieldValidation', 'force']],
  ])('%s %s lists every option', (path, method, names) => {
    expect(paths[base + path]?.[method]?.parameters.map(({ name }) => name)).toEqual(['pretty', ...names])
  })

  test('state that an apply can create an object, but not its status', () => {
    const codes = (path: string) => Object.keys(paths[base + path]?.patch?.responses ?? {})
    expect(codes('/examples/{name}')).toEqual(['200', '201', '401', 'default'])
    expect(codes('/examples/{name}/status')).toEqual(['200', '401', 'default'])
  })

  test.each(['Example', 'ExampleToken', 'Parent', 'Config'])(
    'kubectl finds that %s is validated by the server',
    (kind) => {
      const patches = operations.filter(
        ({ method, operation }) => method === 'patch' && operation['x-kubernetes-group-version-kind'].kind === kind,
      )
      expect(patches.length).toBeGreaterThan(0)
      for (const { operation } of patches) {
        // kubectl does not resolve references.
        expect(operation.parameters).toContainEqual(expect.objectContaining({ name: 'fieldValidation', in: 'query' }))
        expect(Object.keys(operation.requestBody?.content ?? {})).toEqual([
          'application/json-patch+json',
          'application/merge-patch+json',
          'application/apply-patch+yaml',
        ])
      }
    },
  )
})

describe('schemas', () => {
  test('contain the kind as a list, and metadata as a reference', () => {
    expect(Object.keys(schemas).filter((name) => name.startsWith('test.'))).toEqual([
      'test.example.v1.Example',
      'test.example.v1.ExampleList',
      'test.example.v1.ExampleToken',
      'test.example.v1.Parent',
      'test.example.v1.ParentList',
      'test.example.v1.Config',
    ])
    const kind = schemas['test.example.v1.Example']
    expect(kind?.['x-kubernetes-group-version-kind']).toEqual([
      { group: 'example.test', version: 'v1', kind: 'Example' },
    ])
    expect((kind?.properties as JsonObject | undefined)?.metadata).toEqual({
      description: 'Standard metadata of the object.',
      allOf: [{ $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' }],
    })
  })

  test.each(cases.fields as [string, JsonObject][])('describe spec.%s', (name, expected) => {
    expect(resolve(`#/components/schemas/test.example.v1.Example/properties/spec/properties/${name}`)).toEqual(expected)
  })

  test('state the list type of each list', () => {
    const at = (path: string) => resolve(`#/components/schemas/${path}`)
    expect(at('test.example.v1.Example/properties/status/properties/conditions')).toMatchObject({
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
    })
    const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta/properties'
    expect(at(`${meta}/finalizers`)).toMatchObject({ 'x-kubernetes-list-type': 'set' })
    expect(at(`${meta}/managedFields`)).toMatchObject({ 'x-kubernetes-list-type': 'atomic' })
    expect(at(`${meta}/ownerReferences`)).toMatchObject({
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['uid'],
      items: { 'x-kubernetes-map-type': 'atomic' },
    })
  })

  test('accept complete objects', () => {
    const ajv = new Ajv({ strict: false })
    formatsPlugin.default(ajv)
    ajv.addSchema(document, 'document')
    const isValid = ajv.compile({ $ref: 'document#/components/schemas/test.example.v1.Example' })
    const value = {
      apiVersion: 'example.test/v1',
      kind: 'Example',
      metadata: { name: 'a', labels: { a: 'b' }, managedFields: [{ fieldsV1: { 'f:spec': {} }, operation: 'Update' }] },
      spec: { ttl: 5 },
    }
    expect([isValid(value), isValid({ ...value, metadata: { labels: { a: 5 } } })]).toEqual([true, false])
    expect(isValid({ ...value, spec: { ttl: 'x' } })).toBe(false)
    // As docs/clients.md makes a JSON Schema for editors.
    const { components } = document as { components: object }
    const alone = ajv.compile({ $ref: '#/components/schemas/test.example.v1.Example', components })
    expect([alone(value), alone({ ...value, spec: { ttl: 'x' } })]).toEqual([true, false])
  })
})

describe('the index', () => {
  const { index, documents } = openApi([stored, other], info)

  test('lists each group version with the hash of its document', () => {
    const entries = Object.entries(documents).map(([path, { hash }]) => [
      path,
      { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` },
    ])
    expect(JSON.parse(index)).toEqual({ paths: Object.fromEntries(entries) })
    expect(Object.keys(documents)).toEqual(['apis/example.test/v1', 'apis/other.test/v1'])
  })

  test('has upper-case SHA-512 hashes that are equal for equal kinds', () => {
    for (const { text, hash } of Object.values(documents)) {
      expect(hash).toBe(createHash('sha512').update(text).digest('hex').toUpperCase())
    }
    expect(openApi([stored, other], info)).toEqual({ index, documents })
  })

  test('refers to documents with only the kinds of their group version', () =>
    expect(documents['apis/other.test/v1']?.text).not.toContain('ExampleList'))
})
