/** The page "Access check": questions in addresses, requests and commands, and the entries that decide. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  isAsked,
  PLACES,
  type Place,
  type Question,
  queryOf,
  questionOf,
  requestWords,
  secretsOf,
  specOf,
} from '../../../clients/console/src/pages/mayit/question.ts'
import { allowingEntry, isInherited, joined, verdictOf } from '../../../clients/console/src/pages/mayit/steps.ts'
import cases from './vectors/mayit.cases.json' with { type: 'json' }

const NONE: Question = { key: 'ci', verb: '', resource: '', name: '', namespace: '', place: '', at: '', from: '' }
const resources = [
  { name: 'virtualclusterinstances', singularName: 'virtualclusterinstance', shortNames: ['vci'] },
  { name: 'ownedaccesskeys', singularName: 'ownedaccesskey' },
]
const spec = (question: Partial<Question>) => specOf({ ...NONE, ...question }, resources)

describe('a question', () => {
  test('is the same after its address', () => {
    const word = fc.string({ minLength: 1 }).filter((text) => text.isWellFormed() && text === text.trim())
    const maybe = fc.oneof(fc.constant(''), word)
    const question = fc.record({
      key: word,
      verb: maybe,
      resource: maybe,
      name: maybe,
      namespace: maybe,
      place: fc.constantFrom(...(Object.keys(PLACES) as Place[])),
      at: maybe,
      from: maybe,
    })
    fc.assert(
      fc.property(question, (one) => {
        const asked = { ...one, at: one.place === '' ? '' : one.at }
        expect(questionOf(new URLSearchParams(queryOf(asked)), 'own')).toEqual(asked)
      }),
    )
  })

  test('is about the own key by default, and asks nothing with a key alone', () => {
    expect(questionOf(new URLSearchParams(), 'own')).toEqual({ ...NONE, key: 'own' })
    expect(isAsked(questionOf(new URLSearchParams('key=ci'), 'own'))).toBe(false)
    expect(isAsked(questionOf(new URLSearchParams('verb=get&resource=/x'), 'own'))).toBe(true)
  })

  test.each(cases.requests as [Partial<Question>, object][])('%j becomes a request', (question, expected) =>
    expect(spec(question)).toEqual({ spec: expected }),
  )

  test.each<[Partial<Question>, keyof Question, RegExp]>([
    [{ verb: 'get', resource: 'pods' }, 'resource', /no resource "pods".*pods\.GROUP/],
    [{ verb: 'get', resource: 'pods/web/log', place: 'cluster', at: 'c' }, 'resource', /RESOURCE\/SUBRESOURCE/],
    [{ verb: 'get', resource: '/metrics', name: 'x' }, 'resource', /no name/],
    [{ verb: 'get', resource: '/metrics', place: 'space', at: 'a/b' }, 'resource', /no paths/],
    [{ resource: 'vci' }, 'verb', /verb/],
    [{ resource: 'vci', verb: 'lst' }, 'verb', /did you mean "list"/],
    [{ resource: 'vci.management.platform', verb: 'frob' }, 'verb', /one of get, list/],
    [{ resource: '/metrics', verb: 'list', place: 'cluster', at: 'c' }, 'verb', /one of get, put/],
    [{ resource: 'vcis.management.platform', verb: 'get' }, 'resource', /no resource "vcis"/],
    [{ verb: 'get', resource: 'vci', key: '' }, 'key', /name/],
    [{ verb: 'get', resource: 'pods', place: 'cluster' }, 'at', /connected cluster/],
    [{ verb: 'get', resource: 'pods', place: 'virtual-cluster', at: 'dev' }, 'at', /PROJECT\/NAME/],
    [{ verb: 'get', resource: 'pods', place: 'space', at: 'a/b/c' }, 'at', /PROJECT\/NAME/],
  ])('%j is refused at its field', (question, field, words) => {
    expect(spec(question)).toEqual({ problems: { [field]: expect.stringMatching(words) } })
  })

  test.each(['key', 'verb', 'resource', 'name', 'namespace', 'at', 'from'] as const)(
    'with a value in %s is refused before it becomes an address or a request',
    (field) => {
      for (const value of ['0123456789abcdef'.repeat(4), 'mpk_abc', `Aa1/${'Bb2-'.repeat(8)}`])
        expect(Object.keys(secretsOf({ ...NONE, [field]: value }))).toEqual([field])
    },
  )

  test.each<Partial<Question>>([
    { resource: 'validatingadmissionpolicybindings' },
    { resource: 'validatingadmissionpolicybindings/status' },
    { resource: '/apis/apps/v1/namespaces/default/deployments' },
    { at: 'engineering/productionclustereurope' },
    { from: '2001:0db8:85a3:0000:0000:8a2e:0370:7334/128' },
    { key: 'shop-deploy-of-the-production-cluster', namespace: 'p-shop-s-dev' },
  ])('is none for %j', (question) => expect(secretsOf({ ...NONE, ...question })).toEqual({}))

  test('is said in words', () => {
    const asked = { ...NONE, verb: 'list', resource: 'pods', namespace: 'web', place: 'cluster', at: 'west' } as const
    expect(requestWords(asked)).toBe('list pods in namespace web in the connected cluster west')
  })
})

describe('a step', () => {
  const metadata = { name: 'ci', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' }
  const key = { metadata, spec: { scope: { projects: [{ project: 'a' }, { project: 'b' }], allowPlatformCli: true } } }
  const scope = (reason: string, allowed = true) => ({ check: 'scope' as const, allowed, reason })

  test('names the entry of the own scope that allows the request', () => {
    expect(allowingEntry(scope('spec.scope.projects[1]'), key)).toEqual({ projects: [{ project: 'b' }] })
    expect(allowingEntry(scope('chain[0].spec.scope.clusters[0], chain[1].spec.scope.projects[0]'), key)).toEqual({
      projects: [{ project: 'a' }],
    })
    expect(allowingEntry(scope('spec.scope.allowPlatformCli'), key)).toEqual({ allowPlatformCli: true })
  })

  test.each(['no scope', 'every scope', 'spec.scope.constructor[0]', 'spec.scope.rules[0]'])(
    'names no entry for "%s"',
    (reason) => expect(allowingEntry(scope(reason), key)).toBeUndefined(),
  )

  test('that refuses has no entry that allows', () =>
    expect(allowingEntry(scope('spec.scope.projects[1]', false), key)).toBeUndefined())

  test('says whether the scope can be changed', () => {
    expect(isInherited(scope('…; the access key inherited this scope, so nobody can change it', false))).toBe(true)
    expect(isInherited(scope('spec.scope does not allow it', false))).toBe(false)
  })

  test('that was not judged is neither allowed nor refused', () => {
    const texts = [true, false, undefined].map(
      (allowed) => verdictOf({ check: 'rights', ...(allowed !== undefined && { allowed }) }).text,
    )
    expect(texts).toEqual(['Passes', 'Refuses', 'Not judged'])
  })
})

test('an entry is added behind those of the same list, or makes the list', () =>
  expect(joined({ projects: [{ project: 'a' }] }, { projects: [{ project: 'b' }], rules: [{}] })).toEqual({
    projects: [{ project: 'a' }, { project: 'b' }],
    rules: [{}],
  }))
