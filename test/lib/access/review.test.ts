import { describe, expect, test } from 'vitest'
import {
  acceptsKeys,
  acceptsKeysAnywhere,
  acceptsKeysOfSpaces,
  mayReviewAt,
  namedPlaces,
  reviewAttributes,
} from '../../../lib/access/review.ts'
import type { Place } from '../../../lib/access/scopes/place.ts'
import type { Scope } from '../../../lib/access/scopes/scope.ts'
import { mayReview } from '../../../lib/access/users/reviewright.ts'
import { KINDS, type KindRow } from '../../../lib/kinds.ts'
import { as, master } from './users.ts'
import cases from './vectors/review.cases.json' with { type: 'json' }

const options = { projectNamespacePrefix: 'p-' }
const here = { type: 'Management' } as const
const eu: Place = { type: 'cluster', name: 'eu' }
const vc = (namespace: string, name: string): Place => ({ type: 'virtualCluster', namespace, name, uid: 'u' })
const role = (name: string, more: object = {}): Scope => ({ roles: [{ role: name, ...more }] })
const clusters = (...names: string[]): Scope => ({ clusters: names.map((cluster) => ({ cluster })) })
const agentOf = (...names: string[]): Scope => ({ ...role('agent'), ...clusters(...names) })
const virtual = (project: string, virtualCluster: string): Scope => ({ virtualClusters: [{ project, virtualCluster }] })

describe('mayReview', () => {
  const may = (spec: object, kind: KindRow = KINDS.TokenReview, right: object = { mayReview: true }) =>
    mayReview({ ...as({ user: 'alice', ...spec }), ...right }, reviewAttributes(kind, here), options)?.allowed

  test('allows administrators, and agents and virtual clusters whose scope has the right', () => {
    expect(mayReview(master, reviewAttributes(KINDS.TokenReview, here), options)).toEqual({
      allowed: true,
      reason: 'group system:masters',
    })
    for (const name of ['agent', 'vcluster']) {
      expect([may({ scope: role(name) }), may({ scope: role(name) }, KINDS.SubjectAccessReview)]).toEqual([true, true])
    }
  })

  test('denies everyone else', () => {
    for (const name of ['agent', 'vcluster']) expect(may({ scope: role(name) }, KINDS.TokenReview, {})).toBe(false)
    for (const name of ['platformCLI', 'network-peer', 'runner', 'workspace', 'toString', 'admin'])
      expect([name, may({ scope: role(name) })]).toEqual([name, false])
    for (const scope of [undefined, {}, { rules: [{}] }, clusters('*')]) expect(may({ scope })).toBe(false)
  })

  test('ignores other requests', () => {
    const ask = reviewAttributes(KINDS.TokenReview, here)
    if (ask.kind !== 'resource') throw new Error('a review is a resource')
    for (const other of [{ verb: 'get' }, { resource: 'pods' }, { group: 'x' }, { subresource: 'status' }])
      expect(mayReview(master, { ...ask, ...other }, options)).toBeUndefined()
  })
})

describe('namedPlaces', () => {
  test.each(cases.clusters as [string, Scope[], string[]][])('returns %s', (_, chain, expected) => {
    const named = namedPlaces(chain, options)
    expect(named.map((place) => (place.type === 'cluster' ? place.name : `${place.namespace}/${place.name}`))).toEqual(
      expected,
    )
  })

  test('is limited by what the scope allows', () => {
    expect(mayReviewAt([agentOf('eu')], eu, options)).toBe(true)
    expect(mayReviewAt([agentOf('us')], eu, options)).toBe(false)
    expect([mayReviewAt([role('agent')], eu, options), mayReviewAt([], eu, options)]).toEqual([false, true])
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

  test.each(cases.inCluster as [string, Scope[], boolean][])('a cluster: %s', (_, chain, expected) =>
    expect(acceptsKeys(chain, eu, options)).toBe(expected),
  )

  test.each(cases.inVirtualCluster as [string, Scope[], boolean][])('a virtual cluster: %s', (_, chain, expected) => {
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
