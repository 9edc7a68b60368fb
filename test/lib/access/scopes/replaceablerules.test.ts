import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { evaluate } from '../../../../lib/access/scopes/evaluate.ts'
import { exactEntry } from '../../../../lib/access/scopes/exactentry.ts'
import { ruleWarnings } from '../../../../lib/access/scopes/replaceablerules.ts'
import type { Scope } from '../../../../lib/access/scopes/scope.ts'
import { attributes as anyAttributes, scope as anyScope } from '../arbitraries.ts'

const options = { projectNamespacePrefix: 'p-' }
const warningsOf = (scope: Scope) => ruleWarnings(scope, options)

describe('a rule', () => {
  test.each<[Scope, string]>([
    [{ rules: [{ cluster: 'eu' }] }, 'clusters'],
    [{ rules: [{ cluster: 'eu', verbs: ['*'], requestTargets: ['Cluster'], resources: [] }] }, 'clusters'],
    [{ rules: [{ requestTargets: ['Cluster'] }] }, 'clusters'],
    [{ rules: [{ virtualClusters: [{ name: 'x', namespace: 'p-a' }, { namespace: 'p-b' }] }] }, 'virtualClusters'],
  ])('of %j is deprecated, because %s says the same', (scope, list) =>
    expect(warningsOf(scope)).toEqual([`spec.scope.rules[0]: deprecated since v1; use spec.scope.${list} instead`]),
  )

  test.each<Scope>([
    { rules: [{}] },
    { rules: [{ verbs: ['get'] }] },
    { rules: [{ requestTargets: ['Management'] }] },
    { rules: [{ requestTargets: ['Cluster', 'ProjectSpace'] }] },
    { rules: [{ cluster: 'eu', verbs: ['get'] }] },
    { rules: [{ cluster: 'eu', namespaces: ['shop'] }] },
    { rules: [{ cluster: 'eu', nonResourceURLs: ['/metrics'] }] },
    { rules: [{ cluster: 'eu', requestTargets: ['Management'] }] },
    { rules: [{ virtualClusters: [{ name: 'x' }] }] },
    { rules: [{ virtualClusters: [{ name: 'x', namespace: 'elsewhere' }] }] },
    { roles: [{ role: 'agent' }], rules: [{ cluster: 'eu' }] },
    { clusters: [{ cluster: 'eu' }] },
  ])('of %j is not, because no other list says it', (scope) => expect(warningsOf(scope)).toEqual([]))

  test('that a refusal recommends is never deprecated', () => {
    fc.assert(
      fc.property(anyAttributes, (attributes) => {
        expect(warningsOf(exactEntry(attributes, options) ?? {})).toEqual([])
      }),
      { numRuns: 2000 },
    )
  })

  test('that is deprecated allows in clusters what the other list does', () => {
    const inClusters = anyAttributes.filter(({ target: { type } }) => type !== 'Management')
    fc.assert(
      fc.property(anyScope, inClusters, ({ rules = [] }, attributes) => {
        for (const rule of rules) {
          const [warning = ''] = warningsOf({ rules: [rule] })
          const instead: Scope = warning.endsWith('.clusters instead')
            ? { clusters: [{ cluster: rule.cluster || '*' }] }
            : {
                virtualClusters: (rule.virtualClusters ?? []).map(({ name, namespace = '' }) => ({
                  project: namespace.slice(2),
                  virtualCluster: name || '*',
                })),
              }
          if (warning === '') continue
          const decide = (scope: Scope) => evaluate([scope], attributes, options).allowed
          expect(decide(instead)).toBe(decide({ rules: [rule] }))
        }
      }),
      { numRuns: 5000 },
    )
  })
})
