import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { requestTargets } from '../../../../lib/access/attributes/attributes.ts'
import { evaluate } from '../../../../lib/access/scopes/evaluate.ts'
import { isUnrestricted } from '../../../../lib/access/scopes/unrestricted.ts'
import { scopePhrases, scopeWords } from '../../../../lib/access/scopes/words.ts'
import * as arbitrary from '../arbitraries.ts'
import cases from './vectors/words.cases.json' with { type: 'json' }

describe('the words of a scope', () => {
  test.each([...(cases.words as [unknown, string][]), [undefined, 'everything its owner and groups may']])(
    'of %j are: %s',
    (scope, words) => expect(scopeWords(scope)).toBe(words),
  )

  // threat: list-3
  test('name what they do not understand with a question mark', () =>
    expect(
      scopePhrases({ projects: [7, null, { project: '' }], roles: ['x'], rules: [7], clusters: 'west', moons: [] }),
    ).toEqual(['role ?', 'projects ?, ?, ?', '1 rule', '?']))

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
  // threat: list-3
  test.each<[unknown, boolean]>([
    [undefined, true],
    [{}, false],
    [{ rules: [{}] }, true],
    [{ rules: [{ verbs: ['*'], resources: [], cluster: '' }] }, true],
    [{ rules: [{ requestTargets: ['Management', 'Cluster', 'ProjectSpace', 'ProjectVirtualCluster'] }] }, true],
    [
      {
        rules: [
          { requestTargets: ['Management', 'ProjectSpace'] },
          { requestTargets: ['Cluster', 'ProjectVirtualCluster'] },
        ],
      },
      true,
    ],
    [
      {
        rules: [{ requestTargets: ['Management', 'ProjectSpace', 'ProjectVirtualCluster'] }],
        clusters: [{ cluster: '*' }],
      },
      true,
    ],
    [{ rules: [{ requestTargets: ['Management', 'Cluster', 'ProjectSpace'] }] }, false],
    [{ rules: [{ verbs: ['get'] }] }, false],
    [{ rules: [{ namespaces: ['*'] }] }, false],
    [{ projects: [{ project: '*' }], clusters: [{ cluster: '*' }] }, false],
  ])('%j: %s', (scope, expected) => expect(isUnrestricted(scope)).toBe(expected))

  // threat: revocation-5
  test('only if it allows every request', () => {
    const options = { projectNamespacePrefix: 'p-' }
    fc.assert(
      fc.property(fc.array(fc.subarray([...requestTargets])), arbitrary.attributes, (targets, attributes) => {
        const scope = { rules: targets.map((some) => ({ requestTargets: some })) }
        const { allowed } = evaluate([scope], attributes, options)
        expect(allowed || !isUnrestricted(scope)).toBe(true)
      }),
    )
  })
})
