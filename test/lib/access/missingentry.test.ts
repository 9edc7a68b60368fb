import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Attributes, managementRequest } from '../../../lib/access/attributes/attributes.ts'
import { broaderEntry, judgeEach, missingEntry, withEntry } from '../../../lib/access/missingentry.ts'
import { evaluate } from '../../../lib/access/scopes/evaluate.ts'
import { evaluateAt, type Place, targetOf } from '../../../lib/access/scopes/place.ts'
import type { Rule } from '../../../lib/access/scopes/rules.ts'
import type { Scope } from '../../../lib/access/scopes/scope.ts'
import { parseSpaceNamespace } from '../../../lib/access/scopes/space.ts'
import { validateScope } from '../../../lib/access/scopes/validatescope.ts'
import { played, runs } from '../../support/effort.ts'
import * as arbitrary from './arbitraries.ts'
import cases from './vectors/missingentry.cases.json' with { type: 'json' }

const options = { projectNamespacePrefix: 'p-', spaceNamespace: parseSpaceNamespace('p-{project}-s-{space}') }
const group = 'management.platform'
const requestFor = (verb: string, plural: string, more: object = {}) =>
  managementRequest({ group, plural }, { verb, ...more })

/** Returns the request with the namespace that a space gives it, and no other, as real requests have it. */
function inItsSpace(attributes: Attributes): Attributes {
  const { target } = attributes
  if (attributes.kind === 'nonresource' || target.type !== 'ProjectSpace') return attributes
  const { allNamespaces: _, ...rest } = attributes
  return { ...rest, namespace: `p-${target.project}-s-${target.space}` }
}

/** A space has no paths. */
const anyRequest = arbitrary.attributes
  .filter(({ kind, target }) => kind === 'resource' || target.type !== 'ProjectSpace')
  .map(inItsSpace)
const universe = fc.sample(anyRequest, { numRuns: 500, seed: 12 })
const anyChain = fc.array(arbitrary.scope, { minLength: 1, maxLength: 3 })

/** Reports whether the request is the asked one, or part of it: one name or namespace of all, one verb or resource of `*`. */
function isPartOf(one: Attributes, asked: Attributes): boolean {
  if (JSON.stringify(one.target) !== JSON.stringify(asked.target)) return false
  if (one.verb !== asked.verb && asked.verb !== '*') return false
  if (one.kind === 'nonresource' || asked.kind === 'nonresource') {
    return one.kind === 'nonresource' && asked.kind === 'nonresource' && one.path === asked.path
  }
  const isOfResource = one.resource === asked.resource && one.subresource === asked.subresource
  const isSame = one.group === asked.group && (isOfResource || asked.resource === '*')
  const isNamed = asked.name === '' || one.name === asked.name
  return isSame && isNamed && (asked.allNamespaces === true || one.namespace === asked.namespace)
}

/** Returns the rules that have another value in one part, or one part more. */
function changesOf(rule: Rule): Rule[] {
  const [resources] = rule.resources ?? []
  const others: Rule[] = [
    { verbs: ['watch'] },
    { nonResourceURLs: ['/elsewhere'] },
    { cluster: 'elsewhere' },
    { virtualClusters: [{ name: 'elsewhere', namespace: 'p-elsewhere' }] },
    { virtualClusters: [{ name: 'elsewhere' }] },
    { requestTargets: ['Management'] },
    { requestTargets: ['Cluster'] },
    { requestTargets: ['ProjectSpace'] },
    { requestTargets: ['ProjectVirtualCluster'] },
    ...(resources
      ? [
          { namespaces: ['elsewhere'] },
          { resourceNames: ['elsewhere'] },
          { resources: [{ ...resources, group: 'elsewhere' }] },
          { resources: [{ ...resources, resources: ['elsewhere'] }] },
          { resources: [{ ...resources, resourceNames: ['elsewhere'] }] },
        ]
      : []),
  ]
  return others.map((other) => ({ ...rule, ...other }))
}

describe('missingEntry', () => {
  // threat: users-14
  test('returns a valid rule that allows the request, and nothing but the request', () => {
    let found = 0
    fc.assert(
      fc.property(anyChain, anyRequest, fc.array(anyRequest, { minLength: 20, maxLength: 20 }), (chain, asked, all) => {
        const missing = missingEntry(chain, asked, options)
        const refusing = chain.filter((scope) => !evaluate([scope], asked, options).allowed)
        if (missing === undefined) return
        found += 1
        expect(refusing).toHaveLength(1)
        const { index, exact } = missing
        expect([validateScope(exact), evaluate([exact], asked, options).allowed]).toEqual([[], true])
        const widened = chain.map((scope, at) => (at === index ? withEntry(scope, exact) : scope))
        expect(evaluate(widened, asked, options).allowed).toBe(true)
        for (const other of all) {
          const isOpened = evaluate([exact], other, options).allowed && !evaluate([{}], other, options).allowed
          if (isOpened) expect(isPartOf(other, asked), JSON.stringify([exact, other])).toBe(true)
        }
      }),
      runs(5000),
    )
    expect(found).toBeGreaterThan(played(1000))
  })

  // threat: users-14
  test('returns an entry of which no narrower one suffices', () => {
    fc.assert(
      fc.property(arbitrary.scope, anyRequest, (scope, asked) => {
        const missing = missingEntry([scope], asked, options)
        const [rule] = missing?.exact.rules ?? []
        if (rule === undefined) return
        const allows = (one: Rule, request: Attributes) => evaluate([{ rules: [one] }], request, options).allowed
        const opened = universe.filter((request) => allows(rule, request))
        for (const other of changesOf(rule)) {
          // A change that keeps the request allowed only spells out what the rule says anyway.
          const lost = allows(other, asked) ? opened.filter((request) => !allows(other, request)) : []
          expect([rule, other, lost]).toEqual([rule, other, []])
        }
      }),
      runs(3000),
    )
  })

  test.each(cases.rules as [string, Attributes, Rule][])('returns the rule for %s', (_, attributes, rule) => {
    expect(missingEntry([{}], attributes, options)).toEqual({ index: 0, exact: { rules: [rule] } })
    expect(missingEntry([{ projects: [{ project: '*' }], rules: [{}] }, {}], attributes, options)).toEqual({
      index: 1,
      exact: { rules: [rule] },
    })
  })

  const metrics = { kind: 'nonresource', target: { type: 'Management' }, verb: 'get' } as const

  test.each<[string, Scope[], Attributes]>([
    ['when two scopes refuse', [{}, { projects: [{ project: 'b' }] }], requestFor('list', 'ownedaccesskeys')],
    ['for a path that would be a pattern', [{}], { ...metrics, path: '/logs/*' }],
    ['for no verb', [{}], requestFor('', 'ownedaccesskeys')],
    ['for all groups', [{}], requestFor('list', 'pods', { group: '*' })],
    [
      'for a virtual cluster outside of projects',
      [{}],
      requestFor('list', 'nodes', { target: { type: 'ProjectVirtualCluster', project: '', virtualCluster: 'x' } }),
    ],
    [
      'when the entry would make the chain too long',
      [{ projects: [{ project: 'x'.repeat(4000) }] }],
      { ...metrics, path: '/metrics' },
    ],
  ])('returns undefined %s', (_, chain, attributes) => {
    expect(evaluate(chain, attributes, options).allowed).toBe(false)
    expect(missingEntry(chain, attributes, options)).toBeUndefined()
  })

  test.each<[string, Place]>([
    ['a connected cluster', { type: 'cluster', name: 'a' }],
    ['a virtual cluster', { type: 'virtualCluster', namespace: 'p-a', name: 'b', uid: 'u' }],
  ])('returns what the review of %s then allows, there and nowhere else', (_, place) => {
    const elsewhere: Place[] = [
      { type: 'cluster', name: 'b' },
      { type: 'virtualCluster', namespace: 'p-b', name: 'b', uid: 'u' },
    ]
    let found = 0
    fc.assert(
      fc.property(anyChain, arbitrary.attributes, (chain, asked) => {
        const attributes = { ...asked, target: targetOf(place, options) }
        const judge = (all: readonly Scope[]) => evaluateAt(all, place, attributes, options)
        const missing = missingEntry(chain, attributes, options, judgeEach(chain, judge))
        if (missing === undefined) return
        found += 1
        expect(judge(chain).allowed).toBe(false)
        const { index, exact } = missing
        expect(judge(chain.map((scope, at) => (at === index ? withEntry(scope, exact) : scope))).allowed).toBe(true)
        for (const other of elsewhere) expect(evaluateAt([exact], other, attributes, options).allowed).toBe(false)
      }),
      runs(2000),
    )
    expect(found).toBeGreaterThan(played(500))
  })
})

describe('broaderEntry', () => {
  const rotation = (name: string) => requestFor('create', 'ownedaccesskeys', { subresource: 'rotate', name })

  const broader = (scope: Scope, attributes: Attributes) => {
    const missing = missingEntry([scope], attributes, options)
    return missing && broaderEntry([scope], missing, { attributes, keyName: 'ci', options })
  }

  test.each([
    ...(cases.narrowest as [string, Attributes, Scope | undefined, string?][]),
    ['the keys, of which a role allows only those of the user', requestFor('list', 'ownedaccesskeys'), undefined],
    ['the rotation of another key', rotation('cd'), undefined],
  ])('returns the narrowest for %s', (_, attributes, entry, opens) => {
    const found = broader({}, attributes)
    expect(found?.entry).toEqual(entry)
    if (opens) expect(found?.opens).toBe(opens)
  })

  test('returns an entry that allows the request and is shorter than the rule', () => {
    fc.assert(
      fc.property(arbitrary.scope, anyRequest, (scope, asked) => {
        const missing = missingEntry([scope], asked, options)
        const found = broader(scope, asked)
        if (missing === undefined || found === undefined) return
        expect(validateScope(found.entry)).toEqual([])
        expect(evaluate([withEntry(scope, found.entry)], asked, options).allowed).toBe(true)
        expect(JSON.stringify(found.entry).length).toBeLessThan(JSON.stringify(missing.exact).length)
      }),
      runs(3000),
    )
  })
})
