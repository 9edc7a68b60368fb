import { describe, expect, test } from 'vitest'
import type { Scope } from '../../../../lib/access/scopes/scope.ts'
import { holdsRight, rightOf, rightWarnings } from '../../../../lib/access/users/reviewright.ts'
import { alice, as, master } from '../users.ts'

const agentOf = (...clusters: string[]): Scope => ({
  roles: [{ role: 'agent' }],
  clusters: clusters.map((cluster) => ({ cluster })),
})
const vcluster: Scope = { roles: [{ role: 'vcluster', virtualClusters: ['a/x'] }] }
const [dev, prod] = [agentOf('dev'), agentOf('prod')]
const scopedMaster = as({ user: 'admin', groups: ['system:masters'], scope: { rules: [{}] } })
const right = (reviewScope: Scope) => ({ reviewScope })

describe('the right to review', () => {
  test.each([[dev], [vcluster]])('is that of a scope that an administrator without a scope writes: %j', (scope) => {
    expect(rightOf(master, scope)).toEqual(right(scope))
    expect(rightOf(master, scope, { scope: undefined })).toEqual(right(scope))
    expect(rightOf(master, scope, { scope: { roles: [{ role: 'platformCLI' }], spaces: [] } })).toEqual(right(scope))
  })

  test('is in no scope that anybody else writes, and in none without the role', () => {
    for (const user of [alice, scopedMaster, as({ user: 'agent', scope: dev })]) expect(rightOf(user, dev)).toEqual({})
    for (const scope of [undefined, {}, { rules: [{}] }, { clusters: [{ cluster: 'dev' }] }])
      expect(rightOf(master, scope)).toEqual({})
  })

  test.each([[alice], [master]])('stays with the scope, whoever changes the key: %#', (user) => {
    expect(rightOf(user, { ...dev }, { ...right(dev), scope: dev })).toEqual(right(dev))
    // Nobody gives it by the way, with a change of something else.
    expect(rightOf(user, { ...dev }, { scope: dev })).toEqual({})
  })

  // threat: reviews-10
  test('ends with any change by anybody else, and moves with a change by an administrator', () => {
    for (const next of [
      prod,
      { ...dev, projects: [] },
      { ...dev, spaces: [{ project: 'a', space: 's' }] },
      undefined,
    ]) {
      expect(rightOf(alice, next, { ...right(dev), scope: dev })).toEqual({})
      expect(rightOf(scopedMaster, next, { ...right(dev), scope: dev })).toEqual({})
    }
    expect(rightOf(master, prod, { ...right(dev), scope: dev })).toEqual(right(prod))
  })

  // threat: reviews-9
  test.each<[string, Scope]>([
    ['the role', { roles: [{ role: 'agent' }] }],
    ['the cluster', { clusters: [{ cluster: 'prod' }] }],
    ['a rule', { rules: [{ cluster: 'prod' }] }],
    ['a virtual cluster', { virtualClusters: [{ project: 'a', virtualCluster: 'x' }] }],
    ['a project', { projects: [{ project: 'a' }] }],
    ['both', prod],
  ])('is not given by completing or trimming a scope in which another wrote %s', (_, before) => {
    for (const next of [{ ...before, ...prod }, dev]) expect(rightOf(master, next, { scope: before })).toEqual({})
  })

  test('is held only by a chain that has the scope, and is missed in a warning', () => {
    expect([holdsRight(right(dev), [{}, dev]), holdsRight(right(dev), [prod]), holdsRight({}, [dev])]).toEqual([
      true,
      false,
      false,
    ])
    expect([rightWarnings('it', dev, right(dev)), rightWarnings('it', { rules: [{}] }, {})]).toEqual([[], []])
    expect(rightWarnings('access key "a"', vcluster, {})).toEqual([
      'access key "a" may not create reviews, although its scope has a role for them: an administrator without a scope must make the access key of a cluster',
    ])
  })
})
