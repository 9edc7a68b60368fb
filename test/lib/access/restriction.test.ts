import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { insideOf, restrictsInside } from '../../../lib/access/restriction.ts'
import { evaluate } from '../../../lib/access/scopes/evaluate.ts'
import type { Scope } from '../../../lib/access/scopes/scope.ts'
import cases from './vectors/restriction.cases.json' with { type: 'json' }

const options = { projectNamespacePrefix: 'p-' }
const dev = { type: 'virtualCluster', namespace: 'p-shop', name: 'dev' } as const
const outside = { ...dev, namespace: 'elsewhere' }
const restricts = (...chain: Scope[]) => restrictsInside(chain, dev, options)

describe('restrictsInside', () => {
  test('is false without a scope, wherever the instance is', () => {
    expect([restricts(), restrictsInside([], outside, options)]).toEqual([false, false])
  })

  test('is true for every scope outside of projects', () =>
    expect(restrictsInside([{ rules: [{}] }], outside, options)).toBe(true))

  test.each(cases.unrestricted as [string, Scope][])('is false for %s', (_, scope) =>
    expect([restricts(scope), restricts(scope, {})]).toEqual([false, true]),
  )

  test.each(cases.restricting as [string, Scope][])('is true for %s', (_, scope) => expect(restricts(scope)).toBe(true))

  test.each<[Scope, boolean]>([
    [{ clusters: [{ cluster: 'eu' }] }, false],
    [{ clusters: [{ cluster: '*' }] }, false],
    [{ clusters: [{ cluster: 'us' }] }, true],
    [{ rules: [{ cluster: 'eu' }] }, false],
    [{ rules: [{ cluster: 'eu', verbs: ['get'] }] }, true],
    [{ spaces: [{ project: '*', space: '*' }] }, true],
  ])('in cluster eu, %j restricts: %s', (one, expected) => {
    expect(restrictsInside([one], { type: 'cluster', name: 'eu' }, options)).toBe(expected)
    expect(restrictsInside([], { type: 'cluster', name: 'eu' }, options)).toBe(false)
  })

  // threat: virtual-11
  test.each([
    [dev, { type: 'ProjectVirtualCluster', project: 'shop', virtualCluster: 'dev' }],
    [
      { type: 'cluster', name: 'eu' },
      { type: 'Cluster', cluster: 'eu' },
    ],
  ] as const)('is false in %j only if the evaluator denies nothing there', (place, target) => {
    const names = fc.constantFrom('', 'get', '*', 'dev', 'shop', 'p-shop', 'pods', 'eu')
    const few = fc.option(fc.array(names, { maxLength: 2 }), { nil: undefined })
    const rule = fc.record(
      {
        verbs: few,
        resourceNames: few,
        namespaces: few,
        nonResourceURLs: few,
        cluster: fc.option(names, { nil: undefined }),
        resources: fc.option(fc.array(fc.record({ group: names, resources: fc.array(names) }), { maxLength: 1 }), {
          nil: undefined,
        }),
        virtualClusters: fc.option(fc.array(fc.record({ name: names, namespace: names }), { maxLength: 2 }), {
          nil: undefined,
        }),
      },
      { requiredKeys: [] },
    ) as fc.Arbitrary<NonNullable<Scope['rules']>[number]>
    const scope: fc.Arbitrary<Scope> = fc.record(
      {
        roles: fc.array(fc.record({ role: fc.constantFrom('agent', 'vcluster', 'loftCLI') }), { maxLength: 1 }),
        clusters: fc.array(fc.record({ cluster: names }), { maxLength: 2 }),
        projects: fc.array(fc.record({ project: names }), { maxLength: 2 }),
        virtualClusters: fc.array(fc.record({ project: names, virtualCluster: names }), { maxLength: 2 }),
        rules: fc.array(rule, { maxLength: 3 }),
      },
      { requiredKeys: [] },
    )
    const asked = fc.oneof(
      fc.record({ kind: fc.constant('nonresource' as const), target: fc.constant(target), verb: names, path: names }),
      fc.record({
        kind: fc.constant('resource' as const),
        target: fc.constant(target),
        verb: names,
        group: names,
        resource: names,
        subresource: names,
        name: names,
        namespace: names,
      }),
    )
    let free = 0
    fc.assert(
      fc.property(
        fc.array(scope, { maxLength: 2 }),
        fc.array(asked, { minLength: 5, maxLength: 5 }),
        (chain, requests) => {
          if (restrictsInside(chain, place, options)) return
          free++
          for (const request of requests) expect(evaluate(chain, request, options).allowed).toBe(true)
        },
      ),
      { numRuns: 2000 },
    )
    expect(free).toBeGreaterThan(100)
  })
})

// What no account can stand for is refused.
// threat: exchange-36
describe('insideOf', () => {
  const eu = { type: 'cluster', name: 'eu' } as const
  const view = { roles: [{ role: 'view' }] }
  const viewEu: Scope = { ...view, clusters: [{ cluster: 'eu' }] }
  const whole: Scope = { clusters: [{ cluster: '*' }] }
  test.each<[string, Scope[], 'all' | 'view' | undefined]>([
    ['no scope', [], 'all'],
    ['the whole cluster', [whole], 'all'],
    ['view of the cluster', [viewEu], 'view'],
    ['view of all clusters', [{ ...view, clusters: [{ cluster: '*' }] }], 'view'],
    ['view below the whole cluster', [whole, viewEu], 'view'],
    ['the whole cluster below view', [viewEu, whole], 'view'],
    ['view twice', [viewEu, viewEu], 'view'],
    ['view of another cluster', [{ ...view, clusters: [{ cluster: 'us' }] }], undefined],
    ['view of nothing', [view], undefined],
    ['view of a space', [{ ...view, spaces: [{ project: 'a', space: 's' }] }], undefined],
    ['view of a project', [{ ...view, projects: [{ project: 'shop' }] }], undefined],
    ['view beside rules', [{ ...viewEu, rules: [{ cluster: 'eu', verbs: ['delete'] }] }], undefined],
    ['view beside rules about this API', [{ ...viewEu, rules: [{ requestTargets: ['Management'] }] }], undefined],
    ['view beside rules that allow everything', [{ ...viewEu, rules: [{}] }], 'all'],
    ['view below rules', [viewEu, { rules: [{ cluster: 'eu', verbs: ['get'] }] }], undefined],
    ['an empty scope', [{}], undefined],
  ])('%s is %3$j', (_, chain, expected) => {
    expect(insideOf(chain, eu, options)).toBe(expected)
    expect(restrictsInside(chain, eu, options)).toBe(expected !== 'all')
  })

  test.each<[Scope, 'view' | undefined]>([
    [{ ...view, virtualClusters: [{ project: 'shop', virtualCluster: 'dev' }] }, 'view'],
    [{ ...view, projects: [{ project: 'shop' }] }, 'view'],
    [{ ...view, clusters: [{ cluster: '*' }] }, undefined],
  ])('of a virtual cluster, %j is %j', (scope, expected) => {
    expect(insideOf([scope], dev, options)).toBe(expected)
    expect(insideOf([scope], outside, options)).toBe(undefined)
  })
})
