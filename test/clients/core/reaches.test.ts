/** Compares who reaches a cluster, as clients say it, with what the server decides. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Holder, reachOf } from '../../../clients/core/src/reaches.ts'
import { evaluateHere } from '../../../lib/access/scopes/evaluate.ts'
import { reachesCluster } from '../../../lib/access/scopes/reachableclusters.ts'
import type { Scope } from '../../../lib/access/scopes/scope.ts'
import { KINDS } from '../../../lib/kinds.ts'

const key = (scope?: Scope, more: object = {}): Holder => ({ spec: { ...(scope && { scope }), ...more } })
const at = (...clusters: string[]): Scope => ({ clusters: clusters.map((cluster) => ({ cluster })) })
const tokens = [{ group: 'management.platform', resources: ['directclusterendpointtokens'] }]

describe('eu is reached by', () => {
  test.each<[string, Holder, string | undefined]>([
    ['a scope that names it', key(at('us', 'eu')), 'named'],
    ['a scope that names every cluster', key(at('*')), 'every cluster'],
    ['an administrator', key(undefined, { groups: ['system:masters'] }), 'administrator'],
    ['anybody without a scope', key(undefined, { user: 'alice' }), 'no scope'],
    ['a rule without limits', key({ rules: [{}] }), 'rule'],
    [
      'a rule for the cluster beside one for tokens',
      key({ rules: [{ cluster: 'eu' }, { resources: tokens }] }),
      'rule',
    ],
    ['a project of a scope that may ask', key({ ...at('us'), projects: [{ project: 'shop' }] }), 'spaces'],
  ])('%s', (_, holder, reach) => expect(reachOf(holder, 'eu')).toBe(reach))
})

test.each<[string, Holder]>([
  ['another cluster', key(at('us'))],
  ['a project alone', key({ projects: [{ project: 'shop' }] })],
  ['a role alone', key({ roles: [{ role: 'runner' }] })],
  ['an empty scope', key({})],
  ['the key of its reviews', key({ ...at('eu'), roles: [{ role: 'agent' }] })],
  ['a rule for the cluster alone', key({ rules: [{ cluster: 'eu' }] })],
  ['an administrator with a scope', key(at('us'), { groups: ['system:masters'] })],
  ['a scope that another one limits', { ...key(at('eu')), status: { addedScopes: [at('us')] } }],
])('eu is not reached by %s', (_, holder) => expect(reachOf(holder, 'eu')).toBeUndefined())

test('the narrowest reason is said where several scopes limit a key', () =>
  expect(reachOf({ ...key(at('*')), status: { addedScopes: [at('eu')] } }, 'eu')).toBe('named'))

test('all of that is what the server decides', () => {
  const some = <T>(one: fc.Arbitrary<T>) => fc.option(fc.array(one, { maxLength: 2 }), { nil: undefined })
  const cluster = fc.constantFrom('eu', 'us', '*', '')
  const rule = fc.record(
    {
      verbs: some(fc.constantFrom('create', 'get', '*')),
      cluster: fc.constantFrom('eu', 'us', ''),
      requestTargets: some(fc.constantFrom('Management', 'Cluster', 'ProjectSpace', 'ProjectVirtualCluster')),
      resources: some(
        fc.record({
          group: fc.constantFrom('management.platform', '', 'apps'),
          resources: some(fc.constantFrom('*', 'pods', 'directclusterendpointtokens')),
        }),
      ),
      resourceNames: some(fc.constantFrom('a')),
      namespaces: some(fc.constantFrom('', 'a')),
      nonResourceURLs: some(fc.constantFrom('/healthz')),
      virtualClusters: some(fc.record({ name: fc.constant('a') })),
    },
    { requiredKeys: [] },
  )
  const scope = fc.record(
    {
      clusters: fc.array(fc.record({ cluster }), { maxLength: 2 }),
      roles: fc.array(fc.record({ role: fc.constantFrom('agent', 'vcluster', 'runner', 'platformCLI', 'view') }), {
        maxLength: 1,
      }),
      projects: fc.array(fc.constant({ project: 'shop' }), { maxLength: 1 }),
      spaces: fc.array(fc.constant({ project: 'shop', space: 'dev' }), { maxLength: 1 }),
      virtualClusters: fc.array(fc.constant({ project: 'shop', virtualCluster: 'dev' }), { maxLength: 1 }),
      rules: fc.array(rule, { maxLength: 2 }),
    },
    { requiredKeys: [] },
  )
  const options = { projectNamespacePrefix: 'p-' }
  fc.assert(
    fc.property(scope, (given) => {
      const one = JSON.parse(JSON.stringify(given)) as Scope
      const asked = evaluateHere([one], KINDS.DirectClusterEndpointToken, { verb: 'create' }, options)
      expect(reachOf(key(one), 'eu') !== undefined).toBe(asked.allowed && reachesCluster([one], 'eu'))
    }),
    { numRuns: 3000 },
  )
})
