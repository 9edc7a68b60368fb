/** Compares who reaches a connected or a virtual cluster, as clients say it, with what the server decides. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { VirtualCluster } from '../../../clients/core/src/objects.ts'
import { type Holder, reachOf } from '../../../clients/core/src/reaches.ts'
import { type Asking, virtualReachOf, virtualReachWords } from '../../../clients/core/src/virtualreaches.ts'
import { evaluateHere } from '../../../lib/access/scopes/evaluate.ts'
import { reachesCluster } from '../../../lib/access/scopes/reachableclusters.ts'
import type { Scope } from '../../../lib/access/scopes/scope.ts'
import { identityNamed } from '../../../lib/access/users/identity.ts'
import { mayAccess } from '../../../lib/access/users/instances.ts'
import { KINDS } from '../../../lib/kinds.ts'
import { as } from '../../lib/access/users.ts'

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

const dev = (spec: NonNullable<VirtualCluster['spec']>) =>
  ({ metadata: { name: 'dev', namespace: 'p-shop' }, spec }) as VirtualCluster
const held = (owner: string, spec: object, more: object = {}): Asking => ({ spec, status: { owner, ...more } })
const one = (project: string, virtualCluster: string): Scope => ({ virtualClusters: [{ project, virtualCluster }] })
const mine = dev({ owner: { team: 'shop' }, access: [{ verbs: ['use'], users: ['alice', 'github:7'] }] })
const github = { username: { claim: 'sub', prefix: 'github:' } }

test.each<[string, Asking, string | undefined]>([
  ['an administrator', held('root', { groups: ['system:masters'] }), 'administrator without a scope'],
  ['its owner', held('team:shop', { scope: one('shop', 'dev') }), 'owner, its scope names the cluster'],
  ['a user of the team', held('bob', { team: 'shop', scope: one('shop', '*') }), 'owner, its scope names the project'],
  ['a user whom it names', held('alice', {}), 'its access rules, no scope limits it'],
  ['a trust of people', held('team:ops', { claimMappings: github }), 'its access rules, no scope limits it'],
  ['every project', held('alice', { scope: { projects: [{ project: '*' }] } }), expect.stringMatching(/every project/)],
  ['somebody else', held('bob', {}), undefined],
  ['a team of the name undefined', held('undefined', {}), undefined],
  ['a subject of the same name', held('subject:alice', {}), undefined],
  [
    'a trust of the owner for people of others',
    held('team:shop', { claimMappings: { username: { prefix: 'x:' } } }),
    undefined,
  ],
  ['another scope', held('alice', { scope: one('shop', 'test') }), undefined],
  ['a scope that another one limits', held('alice', {}, { addedScopes: [one('data', 'dev')] }), undefined],
  [
    'the key of its reviews',
    held('alice', { scope: { ...one('shop', 'dev'), roles: [{ role: 'vcluster' }] } }),
    undefined,
  ],
])('a virtual cluster and %s', (_, holder, why) => {
  const reach = virtualReachOf(holder, mine, 'p-')
  expect(reach && virtualReachWords(reach)).toEqual(why)
})

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
          resources: some(
            fc.constantFrom('*', '*/*', 'pods', 'directclusterendpointtokens', 'virtualclusterinstances/kubeconfig'),
          ),
        }),
      ),
      resourceNames: some(fc.constantFrom('a', 'dev')),
      namespaces: some(fc.constantFrom('', 'a', 'p-shop')),
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
      projects: fc.array(fc.record({ project: fc.constantFrom('shop', 'data', '*') }), { maxLength: 1 }),
      spaces: fc.array(fc.constant({ project: 'shop', space: 'dev' }), { maxLength: 1 }),
      virtualClusters: fc.array(
        fc.record({ project: fc.constantFrom('shop', 'data', '*'), virtualCluster: fc.constantFrom('dev', '*', '') }),
        { maxLength: 1 },
      ),
      rules: fc.array(rule, { maxLength: 2 }),
    },
    { requiredKeys: [] },
  )
  const options = { projectNamespacePrefix: 'p-' }
  const name = fc.constantFrom('alice', 'shop', '')
  const instance = fc.record({
    owner: fc.record({ user: name, team: name }, { requiredKeys: [] }),
    access: fc.array(
      fc.record({
        verbs: fc.array(fc.constantFrom('use', 'create', 'get', '*'), { maxLength: 1 }),
        subresources: fc.array(fc.constantFrom('kubeconfig', 'status'), { maxLength: 1 }),
        users: fc.array(name, { maxLength: 1 }),
        teams: fc.array(name, { maxLength: 1 }),
      }),
      { maxLength: 2 },
    ),
  })
  const user = fc.record({
    owner: fc.constantFrom('alice', 'bob', 'team:shop', 'subject:alice'),
    groups: some(fc.constantFrom('team:shop', 'system:masters', 'ops')),
  })
  fc.assert(
    fc.property(scope, instance, user, (given, spec, { owner, groups = [] }) => {
      const one = JSON.parse(JSON.stringify(given)) as Scope
      const asked = evaluateHere([one], KINDS.DirectClusterEndpointToken, { verb: 'create' }, options)
      expect(reachOf(key(one), 'eu') !== undefined).toBe(asked.allowed && reachesCluster([one], 'eu'))
      const place = { verb: 'create', subresource: 'kubeconfig', namespace: 'p-shop', name: 'dev' }
      const isOpen = evaluateHere([one], KINDS.VirtualClusterInstance, place, options).allowed
      const mayUse = mayAccess(as({ groups }, { creator: identityNamed(owner) }), spec, 'create', 'kubeconfig').allowed
      const reach = virtualReachOf(held(owner, { groups, scope: one }), dev(spec), 'p-')
      expect(reach !== undefined).toBe(isOpen && mayUse)
    }),
    { numRuns: 3000 },
  )
})
