import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Attributes } from '../../../../lib/access/attributes/attributes.ts'
import { evaluate } from '../../../../lib/access/scopes/evaluate.ts'
import { evaluateAt, formatPlace, type Place, parsePlace, targetOf } from '../../../../lib/access/scopes/place.ts'
import type { Scope } from '../../../../lib/access/scopes/scope.ts'
import { parseSpaceNamespace } from '../../../../lib/access/scopes/space.ts'
import { runs } from '../../../support/effort.ts'
import * as arbitrary from '../arbitraries.ts'
import { plainlyAllowed, plainlyAllowedAt } from '../plainevaluator.ts'
import cases from './vectors/place.cases.json' with { type: 'json' }

const options = { projectNamespacePrefix: 'p-', spaceNamespace: parseSpaceNamespace('p-{project}-s-{space}') }
const eu: Place = { type: 'cluster', name: 'eu' }
const virtual = (namespace: string): Place => ({ type: 'virtualCluster', namespace, name: 'x', uid: 'u-1' })

describe('the text of a place', () => {
  const label = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,8}[a-z0-9])?$/)
  const subdomain = fc.array(label, { minLength: 1, maxLength: 3 }).map((labels) => labels.join('.'))
  const place: fc.Arbitrary<Place> = fc.oneof(
    fc.record({ type: fc.constant('cluster' as const), name: subdomain }),
    fc.record({ type: fc.constant('virtualCluster' as const), namespace: label, name: subdomain, uid: fc.uuid() }),
  )

  test('round-trips', () => {
    fc.assert(
      fc.property(place, (one) => {
        expect(parsePlace(formatPlace(one))).toEqual(one)
      }),
    )
  })

  test('round-trips with the longest names', () => {
    const namespace = 'a'.repeat(63)
    const name = `${namespace}.${namespace}.${namespace}.${'a'.repeat(61)}`
    const longest: Place = { type: 'virtualCluster', namespace, name, uid: randomUUID() }
    expect(parsePlace(formatPlace(longest))).toEqual(longest)
  })

  test('has a single form', () => {
    fc.assert(
      fc.property(
        fc.oneof(place.map(formatPlace), fc.string(), fc.webPath()),
        fc.string({ maxLength: 2 }),
        (text, more) => {
          for (const one of [text + more, more + text]) {
            const read = parsePlace(one)
            if (read) expect(formatPlace(read)).toBe(one)
          }
        },
      ),
    )
  })

  test.each(cases.noPlaces)('rejects %j', (text) => expect(parsePlace(text)).toBeUndefined())
})

test('parsePlace rejects a text that is too long', () => {
  expect(parsePlace(`clusters/${'a'.repeat(253)}`)).toBeDefined()
  expect(parsePlace(`clusters/${'a'.repeat(254)}`)).toBeUndefined()
  expect(parsePlace(`virtualclusters/p-a/x/${'u'.repeat(600)}`)).toBeUndefined()
})

test('targetOf returns the cluster, or the virtual cluster of a project', () => {
  expect(targetOf(eu, options)).toEqual({ type: 'Cluster', cluster: 'eu' })
  expect(targetOf(virtual('p-a'), options)).toEqual({
    type: 'ProjectVirtualCluster',
    project: 'a',
    virtualCluster: 'x',
  })
})

const listPods: Attributes = {
  kind: 'resource',
  target: { type: 'Management' },
  verb: 'list',
  group: '',
  resource: 'pods',
  subresource: '',
  name: '',
  namespace: 's',
}

describe('evaluateAt', () => {
  const at = (place: Place, scope: object, attributes: Attributes = listPods) =>
    evaluateAt([scope], place, attributes, options).allowed

  test('uses the target of the place, whatever the request names', () => {
    expect(at(eu, { clusters: [{ cluster: 'eu' }] })).toBe(true)
    expect(at(eu, { clusters: [{ cluster: 'us' }] })).toBe(false)
    expect(at(eu, { rules: [{ requestTargets: ['Management'] }] })).toBe(false)
    expect(at(virtual('p-a'), { projects: [{ project: 'a' }] })).toBe(true)
    expect(at(virtual('p-b'), { projects: [{ project: 'a' }] })).toBe(false)
  })

  test('allows a virtual cluster outside of projects only by a rule for everything', () => {
    const lists = { projects: [{ project: '*' }], virtualClusters: [{ project: '', virtualCluster: '*' }] }
    expect([at(virtual('default'), lists), at(virtual('default'), { rules: [{}] })]).toEqual([false, true])
  })

  test('always allows discovery and self-reviews, and nothing else', () => {
    const path = (text: string, verb = 'get'): Attributes => ({ ...listPods, kind: 'nonresource', path: text, verb })
    for (const text of ['/api', '/apis/apps/v1', '/openapi/v3/apis/apps/v1', '/version'])
      expect([text, at(eu, {}, path(text))]).toEqual([text, true])
    for (const text of ['/metrics', '/', '/api/v1/pods', '/logs'])
      expect([text, at(eu, {}, path(text))]).toEqual([text, false])
    expect(at(eu, {}, path('/api', 'post'))).toBe(false)
    const review = { ...listPods, verb: 'create', group: 'authorization.k8s.io', resource: 'selfsubjectaccessreviews' }
    expect([at(eu, {}, review), at(eu, {}, { ...review, resource: 'subjectaccessreviews' })]).toEqual([true, false])
  })
})

describe('spaces of a connected cluster', () => {
  const dev: Scope = { spaces: [{ project: 'shop', space: 'dev' }] }
  const shop: Scope = { projects: [{ project: 'shop' }] }
  const list: Attributes = { ...listPods, namespace: 'p-shop-s-dev' }
  const judge = (chain: Scope[], more: object = {}, place: Place = eu) =>
    evaluateAt(chain, place, { ...list, ...more }, options)
  const may = (chain: Scope[], more: object = {}, place: Place = eu) => judge(chain, more, place).allowed

  test('are exactly what a scope of spaces or projects allows', () => {
    for (const scope of [dev, shop, { spaces: [{ project: 'shop', space: '*' }] }, { projects: [{ project: '*' }] }])
      for (const more of [
        {},
        { verb: '*', group: '*', resource: '*' },
        { verb: 'delete', name: 'p', subresource: 'x' },
      ])
        expect([scope, more, may([scope], more)]).toEqual([scope, more, true])
    for (const scope of [{ spaces: [{ project: 'shop', space: 'test' }] }, { projects: [{ project: 'sho' }] }, {}])
      expect([scope, may([scope])]).toEqual([scope, false])
  })

  // threat: reviews-2
  test.each(cases.otherNamespaces)('do not include the namespace %j', (namespace) => {
    for (const verb of ['get', 'list', 'create', '*']) expect(may([dev], { namespace, verb })).toBe(false)
    expect(may([{ spaces: [{ project: '*', space: '*' }] }], { namespace })).toBe(false)
  })

  // threat: reviews-2
  test('belong to no project when the namespace is ambiguous', () => {
    for (const namespace of ['p-a-s-b-s-c', 'p-a-s-s-b', 'p-a-s-s-s-b']) {
      for (const [project, space] of [
        ['a', 'b-s-c'],
        ['a-s-b', 'c'],
        ['a', 's-b'],
        ['a-s', 'b'],
        ['a-s', 's-b'],
      ] as const)
        expect(may([{ spaces: [{ project, space }], projects: [{ project }] }], { namespace })).toBe(false)
      expect(may([{ projects: [{ project: '*' }] }], { namespace })).toBe(false)
      expect(may([{ rules: [{ requestTargets: ['ProjectSpace'] }] }], { namespace })).toBe(false)
      expect(may([{ clusters: [{ cluster: 'eu' }] }], { namespace })).toBe(true)
    }
  })

  // threat: reviews-2
  test('are only read with the role view, their Namespace included', () => {
    const viewed: Scope = { ...dev, roles: [{ role: 'view' }] }
    const namespace = { resource: 'namespaces', name: 'p-shop-s-dev' }
    const every = { group: '*', resource: '*', verb: 'get' }
    for (const [more, expected] of [
      [{}, true],
      [{ verb: 'get', name: 'p', subresource: 'log' }, true],
      [{ ...namespace, verb: 'get' }, true],
      [{ ...namespace, verb: 'get', subresource: 'status' }, true],
      [{ ...namespace, verb: 'patch' }, false],
      [{ ...namespace, verb: 'delete' }, false],
      [{ ...namespace, verb: 'get', subresource: 'finalize' }, false],
      [{ resource: 'namespaces', namespace: '' }, false],
      [{ ...namespace, verb: 'get', namespace: 'p-shop-s-test', name: 'p-shop-s-test' }, false],
      [{ resource: 'secrets' }, false],
      [{ resource: 'secrets', verb: 'get', name: 's' }, false],
      [{ verb: 'get', name: 'p', subresource: 'exec' }, false],
      [{ verb: 'create' }, false],
      [{ verb: '*' }, false],
      [every, false],
      [{ namespace: 'p-shop-s-test' }, false],
    ] as const) {
      expect([more, may([viewed], more)]).toEqual([more, expected])
      // In the chain of a key that may do more, and of one that may do less.
      expect([more, may([dev, viewed], more)]).toEqual([more, expected])
      expect(may([viewed, { spaces: [{ project: 'shop', space: 'test' }] }], more)).toBe(false)
    }
    expect(may([viewed], {}, virtual('p-shop'))).toBe(false)
  })

  test('include their Namespace and no other cluster-scoped object', () => {
    const namespaces = { resource: 'namespaces', verb: 'get' }
    expect(may([dev], { ...namespaces, name: 'p-shop-s-dev' })).toBe(true)
    expect(may([dev], { ...namespaces, name: 'p-shop-s-test', namespace: 'p-shop-s-test' })).toBe(false)
    expect(may([dev], { ...namespaces, name: 'p-shop-s-test' })).toBe(false)
    expect(may([dev], { ...namespaces, name: '' })).toBe(false)
    expect(may([dev], { ...namespaces, verb: 'list', namespace: '' })).toBe(false)
    expect(may([dev], { ...namespaces, verb: 'create', name: 'p-shop-s-dev', namespace: '' })).toBe(false)
    expect(may([dev], { resource: 'nodes', namespace: '' })).toBe(false)
    expect(may([dev], { kind: 'nonresource', verb: 'get', path: '/metrics' })).toBe(false)
    expect(may([dev], { kind: 'nonresource', verb: 'get', path: '/api/v1/namespaces/p-shop-s-dev/pods' })).toBe(false)
  })

  test('exist only in connected clusters, not in virtual clusters or this API', () => {
    for (const namespace of ['p-shop', 'p-garden', 'default']) expect(may([dev], {}, virtual(namespace))).toBe(false)
    expect(evaluate([dev], list, options).allowed).toBe(false)
  })

  test('are restricted by each scope independently', () => {
    const inEu = { clusters: [{ cluster: 'eu' }] }
    const reading = { rules: [{ verbs: ['list'], requestTargets: ['ProjectSpace' as const] }] }
    expect(judge([shop, inEu, dev, reading])).toEqual({
      allowed: true,
      reason:
        'chain[0].spec.scope.projects[0], chain[1].spec.scope.clusters[0], chain[2].spec.scope.spaces[0], chain[3].spec.scope.rules[0]',
    })
    expect([may([dev, inEu], { namespace: 'default' }), may([dev, reading], { verb: 'get' })]).toEqual([false, false])
    expect(may([dev, { clusters: [{ cluster: 'us' }] }])).toBe(false)
    expect(may([dev, { spaces: [{ project: 'shop', space: 'test' }] }])).toBe(false)
  })

  test('are covered by a rule for their cluster, and by a rule for spaces in every cluster', () => {
    expect(may([{ rules: [{ cluster: 'eu', namespaces: ['p-shop-s-dev'] }] }])).toBe(true)
    expect(may([{ rules: [{ cluster: 'us' }] }])).toBe(false)
    expect(may([{ rules: [{ requestTargets: ['ProjectSpace'], namespaces: ['p-shop-s-dev'] }] }])).toBe(true)
    expect(may([{ rules: [{ requestTargets: ['ProjectSpace'], namespaces: ['p-shop-s-test'] }] }])).toBe(false)
    expect(may([{ rules: [{ requestTargets: ['ProjectSpace', 'Cluster'], cluster: 'us' }] }])).toBe(false)
  })

  test('are denied with a reason that names the cluster', () =>
    expect(judge([dev], { namespace: 'p-shop-s-test' })).toEqual({
      allowed: false,
      reason: 'spec.scope does not allow list of pods in namespace "p-shop-s-test" in cluster "eu"',
    }))

  describe('properties', () => {
    const RUNS = runs(5000)
    const place = fc.constantFrom<Place>(eu, { type: 'cluster', name: 'a' }, virtual('p-a'))
    const namespace = fc.constantFrom('', 'default', 'p-a', 'p-a-s-a', 'p-a-s-b', 'p-b-s-a', 'p-a-s-s-b', 'p-b-s-')
    const request = fc
      .tuple(arbitrary.attributes, namespace, fc.boolean())
      .map(([attributes, where, ofNamespace]): Attributes => {
        if (attributes.kind === 'nonresource') return attributes
        return {
          ...attributes,
          namespace: where,
          ...(ofNamespace && { group: '', resource: 'namespaces', name: where }),
        }
      })
    const chain = fc.array(arbitrary.scope, { maxLength: 3 })

    // threat: reviews-2
    test('hold: both evaluators agree', () => {
      fc.assert(
        fc.property(chain, place, request, (scopes, at, asked) => {
          expect(evaluateAt(scopes, at, asked, options).allowed).toBe(plainlyAllowedAt(scopes, at, asked))
        }),
        runs(20_000),
      )
    })

    test('hold: an additional scope never allows more', () => {
      fc.assert(
        fc.property(chain, arbitrary.scope, place, request, (scopes, more, at, asked) => {
          if (evaluateAt([...scopes, more], at, asked, options).allowed)
            expect(evaluateAt(scopes, at, asked, options).allowed).toBe(true)
        }),
        RUNS,
      )
    })

    test('hold: other namespaces are evaluated only as requests to the cluster', () => {
      fc.assert(
        fc.property(chain, request, (scopes, asked) => {
          const whole = plainlyAllowed(scopes, { ...asked, target: { type: 'Cluster', cluster: 'eu' } })
          const { allowed, reason } = evaluateAt(scopes, eu, asked, options)
          if (whole) expect(allowed).toBe(true)
          const inSpace = asked.kind === 'resource' && /^p-[ab]-s-[ab]$/.test(asked.namespace)
          if (!inSpace && reason !== 'every scope') expect(allowed).toBe(whole)
        }),
        RUNS,
      )
    })
  })
})
