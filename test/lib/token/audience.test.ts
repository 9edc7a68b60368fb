import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { evaluateAt } from '../../../lib/authorization/scopes/place.ts'
import type { Scope } from '../../../lib/authorization/scopes/scope.ts'
import { parseSpaceNamespace } from '../../../lib/authorization/scopes/space.ts'
import { clusterAudiences, virtualClusterAudience } from '../../../lib/token/audience.ts'

const ISSUER = 'https://api.example.com'
const clusters = (...names: string[]): Scope => ({ clusters: names.map((cluster) => ({ cluster })) })
const spaces = (...texts: string[]): Scope => ({
  spaces: texts.map((text) => text.split('/')).map(([project = '', space = '']) => ({ project, space })),
})
const clustersOf = (...chain: Scope[]) =>
  clusterAudiences(ISSUER, chain).map((audience) => audience.slice(`${ISSUER}/clusters/`.length))

describe('clusterAudiences', () => {
  test('returns the wildcard for an unrestricted chain', () => {
    expect(clusterAudiences(ISSUER, [])).toEqual(['https://api.example.com/clusters/*'])
  })

  test.each<[string, Scope[], string[]]>([
    ['the named clusters, sorted, without duplicates', [clusters('b', 'a', 'b')], ['a', 'b']],
    ['every cluster', [clusters('*')], ['*']],
    ['every cluster for a wildcard beside a name', [clusters('a', '*')], ['*']],
    [
      'the clusters that all scopes name',
      [clusters('a', 'b', 'c'), clusters('b', 'c', 'd'), clusters('c', 'b')],
      ['b', 'c'],
    ],
    ['the named cluster if the other scopes allow all', [clusters('*'), clusters('a'), clusters('*')], ['a']],
    ['nothing for disjoint scopes', [clusters('a'), clusters('b')], []],
    ['nothing for an empty scope', [{}], []],
    ['nothing for an empty scope after one for all clusters', [clusters('*'), {}], []],
    ['every cluster for a space, which any may contain', [spaces('p/s')], ['*']],
    ['every cluster for a project', [{ projects: [{ project: 'p' }] }], ['*']],
    ['every cluster for a rule about spaces', [{ rules: [{ requestTargets: ['Management', 'ProjectSpace'] }] }], ['*']],
    ['the named cluster if the other scope allows a space', [spaces('p/s'), clusters('a')], ['a']],
    [
      'the named cluster if another scope allows a project',
      [clusters('a', 'b'), { projects: [{ project: 'p' }] }, clusters('b')],
      ['b'],
    ],
    ['every cluster if the scopes share a space', [spaces('p/*'), spaces('q/s', 'p/t')], ['*']],
    ['every cluster for a space in an allowed project', [spaces('p/s'), { projects: [{ project: 'p' }] }], ['*']],
    ['nothing for different spaces', [spaces('p/s'), spaces('p/t')], []],
    ['nothing for a space of another project', [spaces('p/s'), { projects: [{ project: 'q' }] }], []],
    ['nothing if only pairs of three scopes overlap', [spaces('p/*'), spaces('p/s', 'q/s'), spaces('q/*')], []],
    [
      'the clusters that one scope allows entirely and the other in part',
      [{ ...clusters('a'), ...spaces('p/s') }, { ...clusters('b'), ...spaces('p/t') }, clusters('a', 'b', 'c')],
      ['a', 'b'],
    ],
    [
      'the cluster of one scope if the other allows its space',
      [{ ...clusters('a'), ...spaces('p/s') }, spaces('p/t')],
      ['a'],
    ],
    ['nothing for a space without a name, of all projects or of none', [spaces('p/', '*/s', '/s', 'P/s', 'p/a_b')], []],
    ['nothing for virtual clusters', [{ virtualClusters: [{ project: 'p', virtualCluster: '*' }] }], []],
    ['nothing for roles', [{ roles: [{ role: 'agent' }, { role: 'platformCLI' }], allowPlatformCli: true }], []],
    ['every cluster for a rule without restriction', [{ rules: [{}] }], ['*']],
    ['the cluster of a rule', [{ rules: [{ cluster: 'a', verbs: ['get'] }] }], ['a']],
    ['the clusters of rules and of the scope together', [{ ...clusters('b'), rules: [{ cluster: 'a' }] }], ['a', 'b']],
    ['every cluster for a rule about clusters', [{ rules: [{ requestTargets: ['Cluster'] }] }], ['*']],
    ['nothing for a rule about other targets', [{ rules: [{ requestTargets: ['Management'] }] }], []],
    [
      'nothing for a rule about other targets that names a cluster',
      [{ rules: [{ requestTargets: ['Management'], cluster: 'a' }] }],
      [],
    ],
    ['nothing for a rule about virtual clusters', [{ rules: [{ virtualClusters: [{ name: 'v' }] }] }], []],
    ['nothing for a cluster without a name', [{ clusters: [{}] }], []],
  ])('returns %s', (_, chain, expected) => {
    expect(clustersOf(...chain)).toEqual(expected)
  })

  test.each(['a/../b', 'a/*', 'A', 'a b', '-a', 'a.', '', 'a\n', 'x'.repeat(254), 'ä'])(
    'ignores a name that is not a DNS name: %j',
    (name) => {
      expect(clustersOf(clusters(name))).toEqual([])
      if (name !== '') expect(clustersOf({ rules: [{ cluster: name }] })).toEqual([])
    },
  )

  test('does not treat the wildcard of a rule as a name', () => {
    expect(clustersOf({ rules: [{ cluster: '*' }] })).toEqual([])
  })
})

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

test('the audience of a virtual cluster includes its uid', () => {
  expect(virtualClusterAudience(ISSUER, 'p-a', 'dev', 'u-1')).toBe(
    'https://api.example.com/virtualclusters/p-a/dev/u-1',
  )
})
