import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { evaluate } from '../../../lib/authorization/evaluate.ts'
import type { Scope } from '../../../lib/authorization/scope.ts'
import { clusterAudiences, virtualClusterAudience } from '../../../lib/token/audience.ts'

const ISSUER = 'https://api.example.com'
const clusters = (...names: string[]): Scope => ({ clusters: names.map((cluster) => ({ cluster })) })
const left = (...chain: Scope[]) =>
  clusterAudiences(ISSUER, chain).map((audience) => audience.slice(`${ISSUER}/clusters/`.length))

describe('clusterAudiences', () => {
  test('an unrestricted chain is for every cluster', () => {
    expect(clusterAudiences(ISSUER, [])).toEqual(['https://api.example.com/clusters/*'])
  })

  test.each<[string, Scope[], string[]]>([
    ['the clusters that are named, sorted, once', [clusters('b', 'a', 'b')], ['a', 'b']],
    ['every cluster', [clusters('*')], ['*']],
    ['every cluster, though one is named too', [clusters('a', '*')], ['*']],
    ['what all scopes name', [clusters('a', 'b', 'c'), clusters('b', 'c', 'd'), clusters('c', 'b')], ['b', 'c']],
    ['what one scope names where the other leaves all', [clusters('*'), clusters('a'), clusters('*')], ['a']],
    ['nothing where the scopes have nothing in common', [clusters('a'), clusters('b')], []],
    ['nothing for an empty scope', [{}], []],
    ['nothing for an empty scope behind one that leaves all', [clusters('*'), {}], []],
    [
      'nothing for projects, spaces and virtual clusters',
      [
        {
          projects: [{ project: '*' }],
          spaces: [{ project: 'p', space: '*' }],
          virtualClusters: [{ project: 'p', virtualCluster: '*' }],
        },
      ],
      [],
    ],
    ['nothing for roles', [{ roles: [{ role: 'agent' }, { role: 'platformCLI' }], allowPlatformCli: true }], []],
    ['every cluster for a rule without restriction', [{ rules: [{}] }], ['*']],
    ['the cluster of a rule', [{ rules: [{ cluster: 'a', verbs: ['get'] }] }], ['a']],
    ['rules and clusters together', [{ ...clusters('b'), rules: [{ cluster: 'a' }] }], ['a', 'b']],
    ['every cluster for a rule about clusters', [{ rules: [{ requestTargets: ['Cluster'] }] }], ['*']],
    ['nothing for a rule about other targets', [{ rules: [{ requestTargets: ['Management', 'ProjectSpace'] }] }], []],
    [
      'nothing for a rule about other targets that names a cluster',
      [{ rules: [{ requestTargets: ['Management'], cluster: 'a' }] }],
      [],
    ],
    ['nothing for a rule about virtual clusters', [{ rules: [{ virtualClusters: [{ name: 'v' }] }] }], []],
    ['nothing for a cluster without a name', [{ clusters: [{}] }], []],
  ])('%s', (_, chain, expected) => {
    expect(left(...chain)).toEqual(expected)
  })

  test.each(['a/../b', 'a/*', 'A', 'a b', '-a', 'a.', '', 'a\n', 'x'.repeat(254), 'ä'])(
    'a name that is no DNS name opens nothing: %j',
    (name) => {
      expect(left(clusters(name))).toEqual([])
      if (name !== '') expect(left({ rules: [{ cluster: name }] })).toEqual([])
    },
  )

  test('the wildcard of a rule is no name', () => {
    expect(left({ rules: [{ cluster: '*' }] })).toEqual([])
  })
})

test('where the evaluator allows anything at a cluster, the token is for that cluster', () => {
  const name = fc.constantFrom('a', 'b', '*', '')
  const target = fc.constantFrom('Cluster', 'Management', 'ProjectSpace', 'ProjectVirtualCluster')
  const list = <T>(one: fc.Arbitrary<T>) => fc.array(one, { maxLength: 2 })
  const scope = fc.record(
    {
      clusters: list(fc.record({ cluster: name })),
      projects: list(fc.record({ project: name })),
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
    fc.property(list(scope), fc.constantFrom('a', 'b'), (chain, cluster) => {
      const { allowed } = evaluate(
        chain,
        { kind: 'nonresource', target: { type: 'Cluster', cluster }, verb: 'get', path: '/' },
        { projectNamespacePrefix: 'p-' },
      )
      const audiences = left(...chain)
      expect(audiences.includes(cluster) || audiences.includes('*')).toBe(allowed)
    }),
    { numRuns: 1000 },
  )
})

test('a virtual cluster is named with its uid', () => {
  expect(virtualClusterAudience(ISSUER, 'p-a', 'dev', 'u-1')).toBe(
    'https://api.example.com/virtualclusters/p-a/dev/u-1',
  )
})
