import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { adviseScope } from '../../../../lib/access/advice/advice.ts'
import { asksForReviews, kubeConfigOf, makesTokens } from '../../../../lib/access/advice/entryeffects.ts'
import { usedLines } from '../../../../lib/access/advice/lines.ts'
import { grantOf, type UsedEntry, type UsedPlace, withUid } from '../../../../lib/access/advice/usedentry.ts'
import { restrictsInside } from '../../../../lib/access/restriction.ts'
import { acceptsKeys, acceptsKeysOfSpaces, mayReviewAt, namedPlaces } from '../../../../lib/access/review.ts'
import { validateChain } from '../../../../lib/access/scopes/chain.ts'
import { reachableClusters, reachesCluster } from '../../../../lib/access/scopes/reachableclusters.ts'
import { hasReviews } from '../../../../lib/access/scopes/roles.ts'
import type { Scope } from '../../../../lib/access/scopes/scope.ts'
import { validateScope } from '../../../../lib/access/scopes/validatescope.ts'
import { runs } from '../../../support/effort.ts'
import * as arbitrary from '../arbitraries.ts'
import { plainlyAllowed, plainlyAllowedAt } from '../plainevaluator.ts'
import { type Asked, anyKey, asked, type Case, grantIn, OPTIONS, PLACES, scoped, unscoped } from './arbitraryusage.ts'

const RUNS = runs(2000)
const RANK = ['self', 'own', 'all'] as const
const rank = (chain: readonly Scope[], entry: UsedEntry): number => {
  const grant = grantOf(grantIn(chain, entry))
  return grant === undefined ? -1 : RANK.indexOf(grant)
}
const adviceOf = ({ scope, usage, options }: Case) => adviseScope(scope, usage, options)
const chainsOf = ({ scope, inherited }: Case, advised: Scope) => ({
  before: scope ? [...inherited, scope] : [...inherited],
  after: [...inherited, advised],
})
const isPlainlyAllowed = (scope: Scope, { attributes, place }: Asked): boolean =>
  place ? plainlyAllowedAt([scope], withUid(place), attributes) : plainlyAllowed([scope], attributes)

/** Requests that differ a little from recorded ones, so that they probe what the advice has cut off. */
const near = ({ entry }: { entry: UsedEntry }): Asked[] => {
  const { attributes, place } = entry
  const at = { ...(place && { place }) }
  if (attributes.kind === 'nonresource')
    return [
      { attributes: { ...attributes, path: `${attributes.path}/x` }, ...at },
      { attributes: { ...attributes, verb: '*' }, ...at },
    ]
  return [
    { name: '' },
    { name: 'zz' },
    { verb: '*' },
    { verb: 'get' },
    { namespace: 'zz' },
    { namespace: '' },
    { namespace: '', allNamespaces: true as const },
    { subresource: 'zz' },
    { resource: 'zz' },
    { group: 'zz' },
  ].map((more) => ({ attributes: { ...attributes, ...more }, ...at }))
}

/** A request as `asked` makes it, or one whose target no place derives, as in access reviews. */
const probe: fc.Arbitrary<Asked> = fc.oneof(
  asked,
  arbitrary.attributes.map((attributes) => ({ attributes })),
)

describe('advice', () => {
  // threat: usage-5
  test('keeps what the key did, with the same grant, where it is accepted and what it made', () => {
    fc.assert(
      fc.property(fc.oneof(anyKey, scoped, unscoped), (one) => {
        const { scope: advised } = adviceOf(one)
        if (advised === undefined) return
        const { before, after } = chainsOf(one, advised)
        for (const { entry } of one.usage.entries) {
          expect(grantOf(grantIn(after, entry))).toBe(grantOf(grantIn(before, entry)))
          expect(one.scope && grantOf(grantIn([advised], entry))).toBe(
            one.scope && grantOf(grantIn([one.scope], entry)),
          )
          const made = kubeConfigOf(entry)
          if (made?.type === 'virtualCluster' && !restrictsInside(before, made, OPTIONS))
            expect(restrictsInside(after, made, OPTIONS)).toBe(false)
          if (made?.type === 'cluster' && reachesCluster(before, made.name))
            expect(reachesCluster(after, made.name)).toBe(true)
          const left = reachableClusters(after)
          if (makesTokens(entry) && reachableClusters(before) !== left && left !== 'all')
            expect(left.size).toBeGreaterThan(0)
        }
        for (const { place } of one.usage.accepted) {
          const at = withUid(place)
          if (acceptsKeys(before, at, OPTIONS)) expect(acceptsKeys(after, at, OPTIONS)).toBe(true)
          if (acceptsKeysOfSpaces(before, at)) expect(acceptsKeysOfSpaces(after, at)).toBe(true)
        }
      }),
      RUNS,
    )
  })

  // threat: usage-5
  test('gives nothing: no request, no higher grant, no cluster that accepts the key or its tokens', () => {
    fc.assert(
      fc.property(scoped, fc.array(probe, { maxLength: 20 }), (one, some) => {
        const { scope: advised } = adviceOf(one)
        if (advised === undefined) return
        for (const request of [...some, ...one.usage.entries.flatMap(near)]) {
          expect(rank([advised], request)).toBeLessThanOrEqual(rank([one.scope], request))
          if (isPlainlyAllowed(advised, request)) expect(isPlainlyAllowed(one.scope, request)).toBe(true)
        }
        const { before, after } = chainsOf(one, advised)
        for (const place of PLACES.map(withUid)) {
          if (acceptsKeys(after, place, OPTIONS)) expect(acceptsKeys(before, place, OPTIONS)).toBe(true)
          if (acceptsKeysOfSpaces(after, place)) expect(acceptsKeysOfSpaces(before, place)).toBe(true)
        }
        const [wide, left] = [reachableClusters(before), reachableClusters(after)]
        if (wide !== 'all') expect(left !== 'all' && [...left].every((name) => wide.has(name))).toBe(true)
      }),
      RUNS,
    )
  })

  test('changes nothing where a cluster never asks and the key could be used', () => {
    const unheard: UsedPlace = { type: 'cluster', name: 'unheard-of' }
    fc.assert(
      fc.property(scoped, fc.array(asked, { maxLength: 20 }), (one, some) => {
        const { scope: advised } = adviceOf(one)
        if (advised === undefined) return
        const { before, after } = chainsOf(one, advised)
        const { entries, accepted } = one.usage
        const made = entries.flatMap(({ entry }) => kubeConfigOf(entry) ?? [])
        const tokens = entries.some(({ entry }) => makesTokens(entry))
        const reached = reachableClusters(before)
        const isReached = ({ name }: UsedPlace) => reached === 'all' || reached.has(name)
        const unseen = [...PLACES, unheard].filter(
          (place) =>
            one.usage.asked(place) === undefined &&
            (accepted.some((a) => a.place === place) ||
              (place.type === 'cluster'
                ? isReached(place) &&
                  (tokens || made.some(({ type, name }) => type === 'cluster' && name === place.name))
                : made.some((one) => isDeepStrictEqual(one, place)))),
        )
        for (const place of unseen)
          for (const { attributes } of [...some, ...entries.flatMap(near)])
            expect(rank(after, { attributes, place })).toBe(rank(before, { attributes, place }))
        const left = reachableClusters(after)
        for (const place of unseen)
          if (place.type === 'cluster' && isReached(place)) expect(left === 'all' || left.has(place.name)).toBe(true)
      }),
      RUNS,
    )
  })

  test('leaves a key that asks for reviews the places that it names', () => {
    fc.assert(
      fc.property(scoped, (one) => {
        const { scope: advised } = adviceOf(one)
        if (advised === undefined || !one.usage.entries.some(({ entry }) => asksForReviews(entry))) return
        const { before, after } = chainsOf(one, advised)
        expect(namedPlaces(after, OPTIONS)).toEqual(namedPlaces(before, OPTIONS))
        for (const place of PLACES.map(withUid))
          expect(mayReviewAt(after, place, OPTIONS)).toBe(mayReviewAt(before, place, OPTIONS))
      }),
      RUNS,
    )
  })

  test('drops no role for reviews while clusters beside it stay, for which the key would get tokens', () => {
    fc.assert(
      fc.property(scoped, (one) => {
        const { scope: advised } = adviceOf(one)
        if (advised === undefined || !hasReviews(one.scope) || hasReviews(advised)) return
        expect([advised.clusters ?? [], advised.virtualClusters ?? []]).toEqual([[], []])
      }),
      RUNS,
    )
  })

  test('drops only unused lines, is valid, and drops nothing more when it is asked again', () => {
    fc.assert(
      fc.property(scoped, (one) => {
        const advice = adviceOf(one)
        const { scope: advised, dropped, narrowed } = advice
        expect(adviceOf(one)).toEqual(advice)
        if (advised === undefined) {
          expect([dropped, narrowed]).toEqual([[], []])
          return
        }
        const lines = usedLines(one.scope, one.usage, one.options)
        const stateOf = (name: string) => lines.find(({ line }) => line === name)?.state
        expect(dropped.map(stateOf).filter((state) => state !== 'Unused')).toEqual([])
        expect(narrowed.map(stateOf).filter((state) => state !== 'Used')).toEqual([])
        expect(dropped.length + narrowed.length).toBeGreaterThan(0)
        expect(Object.values(advised).some((list) => list === true || (Array.isArray(list) && list.length > 0))).toBe(
          true,
        )
        if (validateScope(one.scope).length === 0) expect(validateScope(advised)).toEqual([])
        expect(validateChain([...one.inherited, advised])).toEqual([])
        const again = adviseScope(advised, one.usage, one.options)
        expect([again.scope, again.dropped, again.narrowed]).toEqual([undefined, [], []])
      }),
      RUNS,
    )
  })
})
