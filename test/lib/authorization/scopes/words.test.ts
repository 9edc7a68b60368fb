import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isUnrestricted, scopePhrases, scopeWords } from '../../../../lib/authorization/scopes/words.ts'
import * as arbitrary from '../arbitraries.ts'

describe('the words of a scope', () => {
  test.each<[unknown, string]>([
    [undefined, 'everything its owner may'],
    [{}, 'nothing'],
    [{ projects: [], rules: [] }, 'nothing'],
    [{ projects: [{ project: 'demo' }], clusters: [{ cluster: 'west' }] }, 'project demo, cluster west'],
    [{ projects: [{ project: 'a' }, { project: 'b' }] }, 'projects a b'],
    [{ projects: [{ project: 'a' }, { project: '*' }] }, 'all projects'],
    [{ clusters: [{ cluster: '*' }] }, 'all clusters'],
    [{ virtualClusters: [{ project: 'a', virtualCluster: 'x' }] }, 'virtual cluster a/x'],
    [
      {
        virtualClusters: [
          { project: 'a', virtualCluster: '*' },
          { project: 'a', virtualCluster: 'x' },
          { project: 'b', virtualCluster: '*' },
        ],
        spaces: [{ project: 'c', space: '*' }],
      },
      'virtual cluster a/x, all virtual clusters of a b, all spaces of c',
    ],
    [{ roles: [{ role: 'agent' }], allowPlatformCli: true }, 'role agent, role platformCLI'],
    [
      { roles: [{ role: 'vcluster', projects: ['a'], virtualClusters: ['x', 'y'] }] },
      'role vcluster in project a for virtual clusters x y',
    ],
    [{ roles: [{ role: 'agent', projects: ['*'] }] }, 'role agent in all projects'],
    [{ rules: [{ verbs: ['get'] }, { cluster: 'west' }] }, '2 rules'],
    [
      { rules: [{ verbs: ['get'] }, { verbs: ['*'], namespaces: [] }] },
      'everything its owner may (a rule without limits), 1 rule',
    ],
  ])('of %j are: %s', (scope, words) => {
    expect(scopeWords(scope)).toBe(words)
  })

  test('name what they do not understand with a question mark', () => {
    expect(
      scopePhrases({ projects: [7, null, { project: '' }], roles: ['x'], rules: [7], clusters: 'west', moons: [] }),
    ).toEqual(['role ?', 'projects ? ? ?', '1 rule', '?'])
  })

  test('exist for every value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (scope) => {
        expect(scopeWords(scope)).not.toBe('')
      }),
    )
  })

  test('are "nothing" only for a scope without an entry', () => {
    fc.assert(
      fc.property(arbitrary.scope, (scope) => {
        const isEmpty = Object.values(scope).every(
          (value) => value === false || (Array.isArray(value) && value.length === 0),
        )
        expect(scopeWords(scope) === 'nothing').toBe(isEmpty)
      }),
    )
  })
})

describe('a scope restricts nothing', () => {
  test.each<[unknown, boolean]>([
    [undefined, true],
    [{}, false],
    [{ rules: [{}] }, true],
    [{ rules: [{ verbs: ['*'], resources: [], cluster: '' }] }, true],
    [{ rules: [{ verbs: ['get'] }] }, false],
    [{ rules: [{ namespaces: ['*'] }] }, false],
    [{ projects: [{ project: '*' }], clusters: [{ cluster: '*' }] }, false],
  ])('%j: %s', (scope, expected) => {
    expect(isUnrestricted(scope)).toBe(expected)
  })
})
