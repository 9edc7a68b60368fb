import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { evaluateAt } from '../../../../lib/access/scopes/place.ts'
import type { Scope } from '../../../../lib/access/scopes/scope.ts'
import { parseSpaceNamespace } from '../../../../lib/access/scopes/space.ts'
import { clusterAudiences, virtualClusterAudience } from '../../../../lib/clusters/token/audience.ts'
import cases from './vectors/audience.cases.json' with { type: 'json' }

const ISSUER = 'https://api.example.com'
const clusters = (...names: string[]): Scope => ({ clusters: names.map((cluster) => ({ cluster })) })
const clustersOf = (...chain: Scope[]) =>
  clusterAudiences(ISSUER, chain).map((audience) => audience.slice(`${ISSUER}/clusters/`.length))

describe('clusterAudiences', () => {
  test('returns the wildcard for an unrestricted chain', () =>
    expect(clusterAudiences(ISSUER, [])).toEqual(['https://api.example.com/clusters/*']))

  test.each(cases.returns as [string, Scope[], string[]][])('returns %s', (_, chain, expected) =>
    expect(clustersOf(...chain)).toEqual(expected),
  )

  test.each(['a/../b', 'a/*', 'A', 'a b', '-a', 'a.', '', 'a\n', 'x'.repeat(254), 'ä'])(
    'ignores a name that is not a DNS name: %j',
    (name) => {
      expect(clustersOf(clusters(name))).toEqual([])
      if (name !== '') expect(clustersOf({ rules: [{ cluster: name }] })).toEqual([])
    },
  )

  test('does not treat the wildcard of a rule as a name', () =>
    expect(clustersOf({ rules: [{ cluster: '*' }] })).toEqual([]))
})

// threat: tokens-1
test('a token is valid for every cluster at which the evaluator allows anything', () => {
  const options = { projectNamespacePrefix: 'p-', spaceNamespace: parseSpaceNamespace('p-{project}-s-{space}') }
  /** No space, and one of each kind that a scope below may or may not name. */
  const names = ['a', 'b', 'c']
  const anywhere = ['default', ...names.flatMap((project) => names.map((space) => `p-${project}-s-${space}`))]
  const mayGet = (chain: Scope[], cluster: string, namespace: string) =>
    evaluateAt(
      chain,
      { type: 'cluster', name: cluster },
      {
        kind: 'resource',
        target: { type: 'Management' },
        verb: 'get',
        group: '',
        resource: 'pods',
        subresource: '',
        name: 'x',
        namespace,
      },
      options,
    ).allowed
  const name = fc.constantFrom('a', 'b', '*', '')
  const target = fc.constantFrom('Cluster', 'Management', 'ProjectSpace', 'ProjectVirtualCluster')
  const list = <T>(one: fc.Arbitrary<T>) => fc.array(one, { maxLength: 2 })
  const scope = fc.record(
    {
      clusters: list(fc.record({ cluster: name })),
      projects: list(fc.record({ project: name })),
      spaces: list(fc.record({ project: name, space: name })),
      roles: list(fc.record({ role: fc.constantFrom('agent', 'vcluster', 'platformCLI') })),
      rules: list(
        fc.record(
          { cluster: name, requestTargets: list(target), virtualClusters: list(fc.record({ name })) },
          { requiredKeys: [] },
        ),
      ),
    },
    { requiredKeys: [] },
  ) as fc.Arbitrary<Scope>
  fc.assert(
    fc.property(fc.array(scope, { maxLength: 3 }), fc.constantFrom('a', 'b'), (chain, cluster) => {
      const allowed = anywhere.some((namespace) => mayGet(chain, cluster, namespace))
      const audiences = clustersOf(...chain)
      expect(audiences.includes(cluster) || audiences.includes('*')).toBe(allowed)
    }),
    { numRuns: 3000 },
  )
})

test('the audience of a virtual cluster includes its uid', () =>
  expect(virtualClusterAudience(ISSUER, 'p-a', 'dev', 'u-1')).toBe(
    'https://api.example.com/virtualclusters/p-a/dev/u-1',
  ))
