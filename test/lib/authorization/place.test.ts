import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Attributes } from '../../../lib/authorization/attributes.ts'
import { evaluateAt, type Place, placeText, readPlace, targetOf } from '../../../lib/authorization/place.ts'

const options = { projectNamespacePrefix: 'p-' }
const eu: Place = { type: 'cluster', name: 'eu' }
const virtual = (namespace: string): Place => ({ type: 'virtualCluster', namespace, name: 'x', uid: 'u-1' })

describe('the text of a place', () => {
  const label = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,8}[a-z0-9])?$/)
  const subdomain = fc.array(label, { minLength: 1, maxLength: 3 }).map((labels) => labels.join('.'))
  const place: fc.Arbitrary<Place> = fc.oneof(
    fc.record({ type: fc.constant('cluster' as const), name: subdomain }),
    fc.record({ type: fc.constant('virtualCluster' as const), namespace: label, name: subdomain, uid: fc.uuid() }),
  )

  test('is read back', () => {
    fc.assert(
      fc.property(place, (one) => {
        expect(readPlace(placeText(one))).toEqual(one)
      }),
    )
  })

  test('has one form', () => {
    fc.assert(
      fc.property(
        fc.oneof(place.map(placeText), fc.string(), fc.webPath()),
        fc.string({ maxLength: 2 }),
        (text, more) => {
          for (const one of [text + more, more + text]) {
            const read = readPlace(one)
            if (read) expect(placeText(read)).toBe(one)
          }
        },
      ),
    )
  })

  test.each([
    'clusters',
    'clusters/',
    'clusters/*',
    'clusters/EU',
    'clusters/eu\n',
    'clusters/eu/',
    'clusters/a..b',
    'clusters/-a',
    'virtualclusters/p-a/x',
    'virtualclusters/p-a/x/',
    'virtualclusters/p.a/x/u',
    'virtualclusters/p-a/x/u/v',
  ])('is not %j', (text) => {
    expect(readPlace(text)).toBeUndefined()
  })
})

test('a text that is too long is no place, and costs nothing', () => {
  expect(readPlace(`clusters/${'a'.repeat(253)}`)).toBeDefined()
  expect(readPlace(`clusters/${'a'.repeat(254)}`)).toBeUndefined()
  expect(readPlace(`virtualclusters/${'a-'.repeat(500_000)}`)).toBeUndefined()
})

test('requests go to the cluster, or to the virtual cluster of a project', () => {
  expect(targetOf(eu, options)).toEqual({ type: 'Cluster', cluster: 'eu' })
  expect(targetOf(virtual('p-a'), options)).toEqual({
    type: 'ProjectVirtualCluster',
    project: 'a',
    virtualCluster: 'x',
  })
})

describe('evaluateAt', () => {
  const list: Attributes = {
    kind: 'resource',
    target: { type: 'Management' },
    verb: 'list',
    group: '',
    resource: 'pods',
    subresource: '',
    name: '',
    namespace: 's',
  }
  const at = (place: Place, scope: object, attributes: Attributes = list) =>
    evaluateAt([scope], place, attributes, options).allowed

  test('judges by the place, wherever the request says that it goes', () => {
    expect(at(eu, { clusters: [{ cluster: 'eu' }] })).toBe(true)
    expect(at(eu, { clusters: [{ cluster: 'us' }] })).toBe(false)
    expect(at(eu, { rules: [{ requestTargets: ['Management'] }] })).toBe(false)
    expect(at(virtual('p-a'), { projects: [{ project: 'a' }] })).toBe(true)
    expect(at(virtual('p-b'), { projects: [{ project: 'a' }] })).toBe(false)
  })

  test('no list selects a virtual cluster outside of projects, but a rule for everything does', () => {
    const lists = { projects: [{ project: '*' }], virtualClusters: [{ project: '', virtualCluster: '*' }] }
    expect(at(virtual('default'), lists)).toBe(false)
    expect(at(virtual('default'), { rules: [{}] })).toBe(true)
  })

  test('leaves everybody discovery and the questions about oneself, and nothing more', () => {
    const path = (text: string, verb = 'get'): Attributes => ({ ...list, kind: 'nonresource', path: text, verb })
    for (const text of ['/api', '/apis/apps/v1', '/openapi/v3/apis/apps/v1', '/version'])
      expect([text, at(eu, {}, path(text))]).toEqual([text, true])
    for (const text of ['/metrics', '/', '/api/v1/pods', '/logs'])
      expect([text, at(eu, {}, path(text))]).toEqual([text, false])
    expect(at(eu, {}, path('/api', 'post'))).toBe(false)
    const review = { ...list, verb: 'create', group: 'authorization.k8s.io', resource: 'selfsubjectaccessreviews' }
    expect(at(eu, {}, review)).toBe(true)
    expect(at(eu, {}, { ...review, resource: 'subjectaccessreviews' })).toBe(false)
  })
})
