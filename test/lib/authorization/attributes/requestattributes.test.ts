import { describe, expect, test } from 'vitest'
import { forbiddenFor } from '../../../../lib/authorization/attributes/forbidden.ts'
import { type RoutedRequest, requestAttributes } from '../../../../lib/authorization/attributes/requestattributes.ts'

const B = '/kubernetes/management'
const G = `${B}/apis/management.platform/v1`
const OPTIONS = { basePath: B, namespaced: new Set(['virtualclusterinstances']) }
const NS = `${G}/namespaces/{namespace}/virtualclusterinstances`

const parse = (
  httpMethod: string,
  resource: string,
  pathParameters: RoutedRequest['pathParameters'] = null,
  query: Record<string, string[]> = {},
) => requestAttributes({ httpMethod, resource, pathParameters, multiValueQueryStringParameters: query }, OPTIONS)

/** `VERB GROUP/RESOURCE[/SUB] NAMESPACE/NAME`, or `VERB PATH`. */
function describeRequest(...args: Parameters<typeof parse>): string {
  const found = parse(...args)
  if (found.kind === 'nonresource') return `${found.verb} ${found.path}`
  const { verb, group, resource, subresource, namespace, name, allNamespaces } = found
  return `${verb} ${group}/${resource}${subresource && `/${subresource}`} ${allNamespaces ? '*' : namespace}/${name}`
}

const M = 'management.platform'
const named = { namespace: 'p-a', name: 'x' }

describe('requests', () => {
  test.each<[string, Parameters<typeof parse>]>([
    [`create ${M}/ownedaccesskeys /`, ['POST', `${G}/ownedaccesskeys`]],
    [`list ${M}/ownedaccesskeys /`, ['GET', `${G}/ownedaccesskeys`]],
    [`list ${M}/ownedaccesskeys /`, ['HEAD', `${G}/ownedaccesskeys`]],
    [`watch ${M}/ownedaccesskeys /`, ['GET', `${G}/ownedaccesskeys`, null, { watch: ['true'] }]],
    [`watch ${M}/ownedaccesskeys /`, ['GET', `${G}/ownedaccesskeys`, null, { watch: [''] }]],
    [`watch ${M}/ownedaccesskeys /`, ['GET', `${G}/ownedaccesskeys`, null, { watch: ['maybe', 'false'] }]],
    [`list ${M}/ownedaccesskeys /`, ['GET', `${G}/ownedaccesskeys`, null, { watch: ['False'] }]],
    [`list ${M}/ownedaccesskeys /`, ['GET', `${G}/ownedaccesskeys`, null, { watch: ['0'] }]],
    [`deletecollection ${M}/ownedaccesskeys /`, ['DELETE', `${G}/ownedaccesskeys`]],
    [`get ${M}/ownedaccesskeys /x`, ['GET', `${G}/ownedaccesskeys/{name}`, { name: 'x' }, { watch: ['true'] }]],
    [`get ${M}/ownedaccesskeys /x`, ['HEAD', `${G}/ownedaccesskeys/{name}`, { name: 'x' }]],
    [`update ${M}/ownedaccesskeys /x`, ['PUT', `${G}/ownedaccesskeys/{name}`, { name: 'x' }]],
    [`patch ${M}/ownedaccesskeys/status /x`, ['PATCH', `${G}/ownedaccesskeys/{name}/status`, { name: 'x' }]],
    [`delete ${M}/ownedaccesskeys /x`, ['DELETE', `${G}/ownedaccesskeys/{name}`, { name: 'x' }]],
    [`list ${M}/virtualclusterinstances */`, ['GET', `${G}/virtualclusterinstances`]],
    [`list ${M}/virtualclusterinstances p-a/`, ['GET', NS, { namespace: 'p-a' }]],
    [`get ${M}/virtualclusterinstances p-a/x`, ['GET', `${NS}/{name}`, named]],
    [`create ${M}/virtualclusterinstances/kubeconfig p-a/x`, ['POST', `${NS}/{name}/kubeconfig`, named]],
    ['list /namespaces /', ['GET', `${B}/api/v1/namespaces`]],
    ['get /namespaces p-a/p-a', ['GET', `${B}/api/v1/namespaces/{namespace}`, { namespace: 'p-a' }]],
    [
      'create authorization.k8s.io/selfsubjectaccessreviews /',
      ['POST', `${B}/apis/authorization.k8s.io/v1/selfsubjectaccessreviews`],
    ],
    ['get /apis', ['GET', `${B}/apis`]],
    ['get /apis/x/v1', ['GET', `${B}/apis/{group}/{version}`, { group: 'x', version: 'v1' }]],
    ['get /openapi/v3/apis/x/v1', ['GET', `${B}/openapi/v3/apis/{group}/{version}`, { group: 'x', version: 'v1' }]],
    ['post /version', ['POST', `${B}/version`]],
    ['get /', ['GET', B]],
    ['get /kubernetes/managementx', ['GET', '/kubernetes/managementx']],
    [
      'get /apis/management.platform/v1/nothings',
      ['GET', `${B}/{proxy+}`, { proxy: 'apis/management.platform/v1/nothings' }],
    ],
    [
      'get /apis/management.platform/v1/ownedaccesskeys/x',
      ['GET', `${B}/{proxy+}`, { proxy: 'apis/management.platform/v1/ownedaccesskeys/x' }],
    ],
    ['get /metrics', ['GET', '/{proxy+}', { proxy: 'kubernetes/management/metrics' }]],
    ['get /apis/x/v1', ['GET', '/{proxy+}', { proxy: 'kubernetes/management/apis/x/v1' }]],
    ['get /', ['GET', '/{proxy+}', { proxy: 'kubernetes/management' }]],
    ['get /metrics', ['GET', '/{proxy+}', { proxy: 'metrics' }]],
    ['get /kubernetes/managementx', ['GET', '/{proxy+}', { proxy: 'kubernetes/managementx' }]],
    ['get /x/kubernetes/management/apis', ['GET', '/{proxy+}', { proxy: 'x/kubernetes/management/apis' }]],
    [`options ${M}/ownedaccesskeys /`, ['OPTIONS', `${G}/ownedaccesskeys`]],
  ])('have the attributes: %s', (expected, args) => expect(describeRequest(...args)).toBe(expected))

  test('take the name from a field selector for list, watch and deletecollection', () => {
    const select = (httpMethod: string, ...fieldSelector: string[]) => {
      const found = parse(httpMethod, NS, { namespace: 'p-a' }, { fieldSelector })
      return found.kind === 'resource' ? found.name : undefined
    }
    expect(select('GET', 'metadata.name=x')).toBe('x')
    expect(select('DELETE', 'metadata.name==x')).toBe('x')
    expect(select('GET', 'metadata.namespace=p-a,metadata.name=x')).toBe('x')
    expect(select('POST', 'metadata.name=x')).toBe('')
    for (const text of [
      'metadata.name!=x',
      'metadata.name=',
      'metadata.name=a/b',
      'metadata.name=..',
      'metadata.name=x\\,y',
      'xmetadata.name=x',
      'metadata.name=x,metadata.name=y',
    ]) {
      expect(select('GET', text), text).toBe('')
    }
    expect(select('GET', 'metadata.name=x', 'metadata.name=y')).toBe('')
  })

  test.each([
    ['..', `Name parameter invalid: "..": may not be '..'`],
    ['.', `Name parameter invalid: ".": may not be '.'`],
    ['a/b', `Name parameter invalid: "a/b": may not contain '/'`],
    ['a%2fb', `Name parameter invalid: "a%2fb": may not contain '%'`],
    ['a/%', `Name parameter invalid: "a/%": may not contain '/';may not contain '%'`],
    ['', 'Name parameter invalid: "": must be provided'],
  ])('a name %j is a 400', (name, message) => {
    expect(() => parse('GET', `${G}/ownedaccesskeys/{name}`, { name })).toThrow(
      expect.objectContaining({ status: expect.objectContaining({ code: 400, reason: 'BadRequest', message }) }),
    )
    expect(() => parse('GET', NS, { namespace: name })).toThrow(/^Namespace parameter invalid/)
  })

  test('read only own members as parameters', () => {
    expect(() => parse('GET', `${G}/ownedaccesskeys/{constructor}`, {})).toThrow(/must be provided/)
    expect(describeRequest('GET', `${G}/ownedaccesskeys`, undefined)).toBe(`list ${M}/ownedaccesskeys /`)
  })
})

describe('forbidden', () => {
  const statusOf = (args: Parameters<typeof parse>, user: string, reason?: string) =>
    forbiddenFor(parse(...args), { name: user }, reason).status

  test('names an object in a namespace', () => {
    expect(statusOf(['PATCH', `${NS}/{name}/status`, named], 'limited')).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message:
        'virtualclusterinstances.management.platform "x" is forbidden: User "limited" cannot patch resource "virtualclusterinstances/status" in API group "management.platform" in the namespace "p-a"',
      reason: 'Forbidden',
      details: { name: 'x', group: 'management.platform', kind: 'virtualclusterinstances' },
      code: 403,
    })
  })

  test('names a collection at the cluster scope, with a reason', () => {
    expect(statusOf(['DELETE', `${G}/ownedaccesskeys`], 'a', 'no <way>').message).toBe(
      'ownedaccesskeys.management.platform is forbidden: User "a" cannot deletecollection resource "ownedaccesskeys" in API group "management.platform" at the cluster scope: no <way>',
    )
  })

  test('names a path and escapes the first part for HTML', () => {
    const { message, details } = statusOf(['GET', `${B}/metrics`], '<a>&"b"')
    expect(message).toBe('forbidden: User "&lt;a&gt;&amp;\\"b\\"" cannot get path "/metrics"')
    expect(details).toEqual({})
  })
})
