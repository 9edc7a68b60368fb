import { describe, expect, test } from 'vitest'
import { type RoutedRequest, requestAttributes } from '../../../../lib/access/attributes/requestattributes.ts'
import { forbiddenFor } from '../../../../lib/engine/registry/forbidden.ts'
import cases from './vectors/requestattributes.cases.json' with { type: 'json' }

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
  test.each(cases.requests as [string, Parameters<typeof parse>][])('have the attributes: %s', (expected, args) =>
    expect(describeRequest(...args)).toBe(expected),
  )

  test('take the name from a field selector for list, watch and deletecollection', () => {
    const select = (httpMethod: string, ...fieldSelector: string[]) => {
      const found = parse(httpMethod, NS, { namespace: 'p-a' }, { fieldSelector })
      return found.kind === 'resource' ? found.name : undefined
    }
    expect([select('GET', 'metadata.name=x'), select('DELETE', 'metadata.name==x')]).toEqual(['x', 'x'])
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
    ])
      expect(select('GET', text), text).toBe('')
    expect(select('GET', 'metadata.name=x', 'metadata.name=y')).toBe('')
  })

  test.each(cases.names as [string, string][])('a name %j is a 400', (name, message) => {
    expect(() => parse('GET', `${G}/ownedaccesskeys/{name}`, { name })).toThrow(
      expect.objectContaining({ status: expect.objectContaining({ code: 400, reason: 'BadRequest', message }) }),
    )
    expect(() => parse('GET', NS, { namespace: name })).toThrow(/^Namespace parameter invalid/)
  })

  // threat: authorizer-4
  test('read only own members as parameters', () => {
    expect(() => parse('GET', `${G}/ownedaccesskeys/{constructor}`, {})).toThrow(/must be provided/)
    expect(describeRequest('GET', `${G}/ownedaccesskeys`, undefined)).toBe(`list ${M}/ownedaccesskeys /`)
  })
})

describe('forbidden', () => {
  const statusOf = (args: Parameters<typeof parse>, user: string, reason?: string) =>
    forbiddenFor(parse(...args), { name: user }, reason).status

  test('names an object in a namespace', () =>
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
    }))

  test('names a collection at the cluster scope, with a reason', () =>
    expect(statusOf(['DELETE', `${G}/ownedaccesskeys`], 'a', 'no <way>').message).toBe(
      'ownedaccesskeys.management.platform is forbidden: User "a" cannot deletecollection resource "ownedaccesskeys" in API group "management.platform" at the cluster scope: no <way>',
    ))

  test('names a path and escapes the first part for HTML', () => {
    const { message, details } = statusOf(['GET', `${B}/metrics`], '<a>&"b"')
    expect([message, details]).toEqual(['forbidden: User "&lt;a&gt;&amp;\\"b\\"" cannot get path "/metrics"', {}])
  })
})
