import { describe, expect, test } from 'vitest'
import {
  acceptsKeys,
  acceptsKeysAnywhere,
  acceptsKeysOfSpaces,
  mayReview,
  mayReviewAt,
  namedPlaces,
  reviewAttributes,
} from '../../../lib/authorization/review.ts'
import type { Place } from '../../../lib/authorization/scopes/place.ts'
import type { Scope } from '../../../lib/authorization/scopes/scope.ts'
import { as, master } from './users.ts'

const options = { projectNamespacePrefix: 'p-' }
const here = { type: 'Management' } as const
const eu: Place = { type: 'cluster', name: 'eu' }
const vc = (namespace: string, name: string): Place => ({ type: 'virtualCluster', namespace, name, uid: 'u' })
const role = (name: string, more: object = {}): Scope => ({ roles: [{ role: name, ...more }] })
const clusters = (...names: string[]): Scope => ({ clusters: names.map((cluster) => ({ cluster })) })
const agentOf = (...names: string[]): Scope => ({ ...role('agent'), ...clusters(...names) })
const virtual = (project: string, virtualCluster: string): Scope => ({ virtualClusters: [{ project, virtualCluster }] })

describe('mayReview', () => {
  const may = (spec: object, resource: 'tokenreviews' | 'subjectaccessreviews' = 'tokenreviews') =>
    mayReview(as({ user: 'alice', ...spec }), reviewAttributes(resource, here), options)?.allowed

  test('allows administrators, agents and virtual clusters', () => {
    expect(mayReview(master, reviewAttributes('tokenreviews', here), options)).toEqual({
      allowed: true,
      reason: 'group system:masters',
    })
    for (const name of ['agent', 'vcluster']) {
      expect(may({ scope: role(name) })).toBe(true)
      expect(may({ scope: role(name) }, 'subjectaccessreviews')).toBe(true)
    }
  })

  test('denies everyone else', () => {
    for (const name of ['platformCLI', 'network-peer', 'runner', 'workspace', 'toString', 'admin'])
      expect([name, may({ scope: role(name) })]).toEqual([name, false])
    for (const scope of [undefined, {}, { rules: [{}] }, clusters('*')]) expect(may({ scope })).toBe(false)
  })

  test('ignores other requests', () => {
    const ask = reviewAttributes('tokenreviews', here)
    if (ask.kind !== 'resource') throw new Error('a review is a resource')
    for (const other of [{ verb: 'get' }, { resource: 'pods' }, { group: 'x' }, { subresource: 'status' }])
      expect(mayReview(master, { ...ask, ...other }, options)).toBeUndefined()
  })
})

describe('namedPlaces', () => {
  const rules = (...all: object[]): Scope => ({ ...role('agent'), rules: all }) as Scope
  test.each<[string, Scope[], string[]]>([
    ['the cluster of an agent', [agentOf('eu')], ['eu']],
    ['all clusters of an agent', [agentOf('eu', 'us', 'eu')], ['eu', 'us']],
    ['the clusters that all scopes allow', [agentOf('eu', 'us'), agentOf('us', 'asia')], ['us']],
    ['the cluster of a rule', [rules({ cluster: 'eu' })], ['eu']],
    ['no cluster for which a rule allows no reviews', [rules({ cluster: 'eu', verbs: ['get'] })], []],
    ['no wildcard', [agentOf('*')], []],
    ['a name beside a wildcard', [agentOf('*'), agentOf('eu')], ['eu']],
    ['no virtual clusters for an agent', [{ ...agentOf('eu'), ...virtual('a', 'x') }], ['eu']],
    [
      'no clusters for a virtual cluster',
      [{ ...role('vcluster'), ...clusters('eu'), ...virtual('a', 'x') }],
      ['p-a/x'],
    ],
    ['the virtual cluster of a role', [role('vcluster', { virtualClusters: ['a/x'] })], ['p-a/x']],
    [
      'the virtual clusters in the projects of a role',
      [role('vcluster', { projects: ['a', 'b'], virtualClusters: ['x'] })],
      ['p-a/x', 'p-b/x'],
    ],
    ['no wildcard for virtual clusters', [role('vcluster', { projects: ['a'], virtualClusters: ['*'] })], []],
    [
      'the virtual cluster of a rule',
      [{ ...role('vcluster'), rules: [{ virtualClusters: [{ namespace: 'p-a', name: 'x' }, { name: 'y' }] }] }],
      ['p-a/x'],
    ],
    [
      'clusters and virtual clusters without a role',
      [{ rules: [{ requestTargets: ['Management'] }], ...clusters('eu'), ...virtual('a', 'x') }],
      ['eu', 'p-a/x'],
    ],
    ['nothing for an empty scope', [{}], []],
    ['nothing for an administrator without a scope', [], []],
  ])('returns %s', (_, chain, expected) => {
    const named = namedPlaces(chain, options)
    expect(named.map((place) => (place.type === 'cluster' ? place.name : `${place.namespace}/${place.name}`))).toEqual(
      expected,
    )
  })

  test('is limited by what the scope allows', () => {
    expect(mayReviewAt([agentOf('eu')], eu, options)).toBe(true)
    expect(mayReviewAt([agentOf('us')], eu, options)).toBe(false)
    expect(mayReviewAt([role('agent')], eu, options)).toBe(false)
    expect(mayReviewAt([], eu, options)).toBe(true)
    expect(mayReviewAt([role('vcluster', { virtualClusters: ['a/x'] })], vc('p-a', 'x'), options)).toBe(true)
    expect(mayReviewAt([role('vcluster', { virtualClusters: ['a/x'] })], vc('p-a', 'y'), options)).toBe(false)
    expect(mayReviewAt([role('vcluster', { virtualClusters: ['a/x'] })], eu, options)).toBe(false)
  })
})

describe('acceptsKeys', () => {
  const all: Scope = { rules: [{}] }
  const targets = (...requestTargets: string[]) => ({ rules: [{ requestTargets }] }) as Scope
  const ofSpace: Scope = { spaces: [{ project: 'a', space: 's' }] }
  const ofProject: Scope = { projects: [{ project: 'a' }] }

  test.each<[string, Scope[], boolean]>([
    ['rejects a chain without a scope', [], false],
    ['rejects an empty scope', [{}], false],
    ['accepts a chain that names it', [clusters('eu')], true],
    ['rejects a chain that names others', [clusters('us', 'eu2')], false],
    ['accepts a chain for all clusters', [clusters('*')], true],
    ['accepts a rule for it', [{ rules: [{ cluster: 'eu', verbs: ['get'] }] }], true],
    ['rejects an unrestricted rule', [all], false],
    ['rejects a rule for the target Cluster', [targets('Cluster')], false],
    ['accepts a chain if one scope names it', [all, clusters('eu')], true],
    ['accepts a space that another scope restricts to it', [ofSpace, clusters('eu')], true],
    ['accepts a scope with it and a space', [{ ...ofSpace, rules: [{ cluster: 'eu' }] }], true],
    ['rejects a space with other clusters', [{ ...ofSpace, ...clusters('us') }], false],
    ['rejects a chain with a scope that excludes it', [clusters('eu'), clusters('us')], false],
    ['rejects a chain with an empty scope', [clusters('eu'), {}], false],
    [
      'rejects projects, spaces and roles',
      [{ projects: [{ project: '*' }], spaces: [{ project: 'a', space: '*' }], ...role('agent') }],
      false,
    ],
  ])('a cluster: %s', (_, chain, expected) => {
    expect(acceptsKeys(chain, eu, options)).toBe(expected)
  })

  test.each<[string, Scope[], boolean]>([
    ['rejects a chain without a scope', [], false],
    ['accepts a chain that names it', [virtual('a', 'x')], true],
    ['accepts all virtual clusters of its project', [virtual('a', '*')], true],
    ['accepts its project', [{ projects: [{ project: 'a' }] }], true],
    ['accepts all projects', [{ projects: [{ project: '*' }] }], true],
    ['rejects a chain that names others', [virtual('a', 'y'), virtual('b', 'x')], false],
    [
      'accepts a rule for it',
      [{ rules: [{ virtualClusters: [{ name: 'x', namespace: 'p-a' }], verbs: ['get'] }] }],
      true,
    ],
    ['rejects a rule for another one', [{ rules: [{ virtualClusters: [{ name: 'y' }] }] }], false],
    ['rejects an unrestricted rule', [all], false],
    ['accepts a chain if one scope names it', [all, virtual('a', 'x')], true],
    [
      'accepts a rule for its target with a scope that names it',
      [targets('ProjectVirtualCluster'), virtual('a', 'x')],
      true,
    ],
    ['rejects a chain with a scope that excludes it', [virtual('a', 'x'), targets('Management')], false],
    [
      'rejects clusters, spaces and roles',
      [{ ...clusters('*'), spaces: [{ project: 'a', space: '*' }], ...role('vcluster') }],
      false,
    ],
  ])('a virtual cluster: %s', (_, chain, expected) => {
    expect(acceptsKeys(chain, vc('p-a', 'x'), options)).toBe(expected)
  })

  test.each<[string, Scope[], boolean]>([
    ['accepts a space', [ofSpace], true],
    ['accepts a space that all other scopes allow', [all, ofProject, ofSpace], true],
    ['accepts a space with another scope that names the cluster', [clusters('eu'), ofSpace], true],
    ['rejects other clusters', [ofSpace, clusters('us')], false],
    ['rejects a project, which covers more than its spaces', [ofProject], false],
    ['rejects a rule for the target ProjectSpace', [targets('ProjectSpace')], false],
    ['rejects a chain with an empty scope', [ofSpace, {}], false],
    ['rejects a space that another scope excludes', [ofSpace, { spaces: [{ project: 'a', space: 't' }] }], false],
    ['rejects a chain without a scope', [], false],
  ])('a cluster that identifies itself: %s', (_, chain, expected) => {
    expect(acceptsKeysOfSpaces(chain, eu)).toBe(expected)
    expect(acceptsKeysOfSpaces(chain, vc('p-a', 's'))).toBe(false)
  })

  test('acceptsKeysAnywhere accepts chains that name a place', () => {
    expect(acceptsKeysAnywhere([])).toBe(false)
    for (const scope of [{}, all, role('agent'), targets('Cluster')]) expect(acceptsKeysAnywhere([scope])).toBe(false)
    const named = [
      clusters('eu'),
      ofSpace,
      { projects: [{ project: 'a' }] },
      virtual('a', 'x'),
      { rules: [{ cluster: 'eu' }] },
    ]
    for (const scope of named) expect(acceptsKeysAnywhere([all, scope])).toBe(true)
    expect(acceptsKeysAnywhere([{ rules: [{ virtualClusters: [{ name: 'x' }] }] }])).toBe(true)
  })
})
