/** Tests the negotiated form of responses. Every row was recorded from kube-apiserver 1.34. */
import { describe, expect, it } from 'vitest'
import {
  negotiate,
  negotiateDiscovery,
  negotiateStatus,
  transformError,
} from '../../../../../lib/engine/endpoints/negotiation/accept.ts'
import cases from './vectors/accept.cases.json' with { type: 'json' }

const asking = (headers: Readonly<Record<string, string>>, pretty?: string) => ({
  headers,
  query: new Map(pretty === undefined ? [] : [['pretty', [pretty]]]),
})

const form = (accept: string, options: Parameters<typeof negotiate>[1] = {}): string => {
  try {
    const { mediaType, transform, execCredential } = negotiate(asking({ accept }), options)
    return `${mediaType}${transform ? ` ${transform.as} ${transform.version}` : ''}${execCredential ? ' ExecCredential' : ''}`
  } catch (error) {
    return (error as Error).message
  }
}

const json = 'application/json'
const refused = 'only the following media types are accepted: application/json, application/yaml'

describe('Accept', () => {
  it.each(cases.accepted as [string, string][])('accepts %j', (accept, expected) => expect(form(accept)).toBe(expected))

  it.each(cases.rejected)('rejects %j', (accept) => expect(form(accept)).toBe(refused))

  it('allows only JSON for a watch', () => {
    expect(form('application/json;stream=watch', { watch: true })).toBe(json)
    const streamed = 'only the following media types are accepted: application/json;stream=watch'
    expect(form('application/yaml', { watch: true })).toBe(streamed)
    expect(form('application/yaml,application/json', { watch: true })).toBe(streamed)
    expect(form('text/html', { watch: true })).toBe(refused)
  })

  it('is read up to 64 clauses', () => {
    const otherClauses = (count: number) => 'text/html,'.repeat(count)
    expect([form(`${otherClauses(63)}${json}`), form(`${otherClauses(64)}${json}`)]).toEqual([json, refused])
  })
})

// No row was recorded: kube-apiserver has no ExecCredentials. The clauses compete as those of a Table do there.
describe('Accept with an ExecCredential', () => {
  const parameters = 'as=ExecCredential;g=client.authentication.k8s.io;v=v1'
  const asked = `${json};${parameters}`
  it.each(cases.withCredential as [string, string][])('of a kind with a credential: %j', (accept, expected) => {
    expect(form(accept, { hasCredential: true })).toBe(expected)
  })

  it.each([
    `${json};as=ExecCredential`,
    `${json};as=ExecCredential;v=v1`,
    `${json};as=ExecCredential;g=client.authentication.k8s.io`,
    `${json};as=ExecCredential;g=client.authentication.k8s.io;v=v1alpha1`,
    `${json};as=execcredential;g=client.authentication.k8s.io;v=v1`,
    `${json};as=ExecCredential;g=meta.k8s.io;v=v1`,
    `${json};as=Table;g=client.authentication.k8s.io;v=v1`,
    `text/plain;${parameters}`,
    `${asked};sv=v2`,
  ])('of a kind with a credential rejects %j', (accept) => expect(form(accept, { hasCredential: true })).toBe(refused))

  it('has the version that the client asks for', () => {
    const accept = `${json};as=ExecCredential;g=client.authentication.k8s.io;v=v1beta1`
    expect(negotiate(asking({ accept }), { hasCredential: true }).execCredential).toBe('v1beta1')
    expect(negotiate(asking({ accept: `${asked},${accept}` }), { hasCredential: true }).execCredential).toBe('v1')
    expect(negotiateStatus(asking({ accept }))?.execCredential).toBe('v1beta1')
  })

  it('is not served for other kinds', () =>
    expect([form(asked), form(`${asked},application/yaml`)]).toEqual([refused, 'application/yaml']))

  it('gives a Status its own form', () => {
    const plugin = { mediaType: json, execCredential: 'v1', pretty: true }
    expect(negotiateStatus(asking({ accept: asked }))).toEqual(plugin)
    expect(negotiateStatus(asking({ accept: `text/html,${asked}` }))).toEqual(plugin)
    expect(negotiateStatus(asking({ accept: `${asked},application/yaml` }))).toEqual({
      mediaType: 'application/yaml',
      pretty: false,
    })
  })
})

describe('indentation', () => {
  const curl = { 'user-agent': 'curl/8.0' }
  it.each([
    [{}, 'true', true],
    [{}, 'maybe', false],
    [curl, undefined, true],
    [curl, '', true],
    [curl, 'false', false],
    [{ accept: 'application/json;pretty=1' }, 'false', true],
    [{ accept: 'application/json;pretty=1;pretty=' }, undefined, true],
    [{ accept: 'application/json;pretty=true' }, undefined, false],
  ])('%j, pretty=%s: %s', (headers, pretty, expected) =>
    expect(negotiate(asking(headers, pretty)).pretty).toBe(expected),
  )
})

describe('aggregated discovery', () => {
  const v2 = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
  it.each([
    [v2, 'v2'],
    [`${json},${v2}`, 'v2'],
    [`${v2};q=0.5,${json}`, 'v2'],
    [`${v2.replace('v=v2', 'v=v2beta1')},${v2}`, 'v2'],
    [`${v2.replace('v=v2', 'v=v2beta1')},${json}`, 'v2beta1'],
    [v2.replace('v=v2', 'v=v3'), undefined],
    [v2.replace('json', 'vnd.kubernetes.protobuf'), undefined],
    [json, undefined],
    ['', undefined],
  ])('%s: %s', (accept, version) => expect(negotiateDiscovery(asking({ accept }))?.version).toBe(version))
})

describe('a Status', () => {
  it('has the form of the first clause without a transform', () => {
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/yaml'
    expect(negotiateStatus(asking({ accept }))).toEqual({ mediaType: 'application/yaml', pretty: false })
  })

  it('has no negotiated form when no clause can be served', () => {
    expect(negotiateStatus(asking({ accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }))).toBeUndefined()
    expect(negotiateStatus(asking({ accept: 'text/html' }))).toBeUndefined()
    expect(negotiateStatus(asking({ accept: 'application/json;sv=v1' }))).toBeUndefined()
  })
})

it('rejects a transform that does not fit the response', () => {
  expect(transformError('PartialObjectMetadata', true)?.message).toBeDefined()
  expect(transformError('PartialObjectMetadata', true)?.status.message).toContain('(*unstructured.UnstructuredList)')
  expect(transformError('PartialObjectMetadataList', false)?.status.message).toBe('content is not a list')
})
