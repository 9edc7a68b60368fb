/** Which access keys the page shows, in which order, and which need attention. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { stateWords } from '../../../clients/console/src/api/keyfacts.ts'
import { pollEvery } from '../../../clients/console/src/api/poller.ts'
import { TRUST_LABEL } from '../../../clients/console/src/api/trusts.ts'
import { type CardName, cards, needs } from '../../../clients/console/src/keylist/attention.ts'
import {
  matcher as matcherWith,
  partsOf,
  type TermName,
  termText,
  withTerm,
} from '../../../clients/console/src/keylist/filter.ts'
import { countText, countWords } from '../../../clients/console/src/keylist/searched.ts'
import { select } from '../../../clients/console/src/keylist/selection.ts'
import { finished } from '../../../clients/console/src/keylist/slices.ts'
import {
  chosen,
  columns,
  DEFAULT_SORT,
  type Sort,
  sorted,
  sortOf,
  sortText,
} from '../../../clients/console/src/keylist/sorting.ts'
import { summaryOf } from '../../../clients/console/src/keylist/summary.ts'
import { unknownWords, unreadName } from '../../../clients/console/src/keylist/unknown.ts'
import { hrefOfView, type View, viewOf } from '../../../clients/console/src/keylist/view.ts'
import { isLikeValue } from '../../../clients/console/src/text/keyvalue.ts'
import { routeOf } from '../../../clients/console/src/text/routes.ts'
import { isExchanged } from '../../../clients/core/src/keylives.ts'
import type { AccessKey } from '../../../clients/core/src/objects.ts'
import { ago, ahead, byExchange, DAY, type Facts, HOUR, keyOf, keys, MINUTE, NOW } from './keys.ts'
import cases from './vectors/keyspage.cases.json' with { type: 'json' }

const FIRST_VIEW = viewOf(new URLSearchParams())
const selected = (all: readonly AccessKey[], filter: string) => finished(select(all, filter, { now: NOW }))
const matcher = (filter: string) => matcherWith(filter, { now: NOW })

/** A value as `openssl rand -hex 32` makes it. */
const madeByClient = '0123456789abcdef'.repeat(4)

const cardsOf = (facts: Facts): CardName[] => [...cards.keys()].filter((name) => needs(name, keyOf(facts), NOW))

describe('a key needs attention', () => {
  test.each<[string, Facts, CardName[]]>([
    ['not if it has a scope and an end, and is used', {}, []],
    ['if it never expires', { status: { expirationTimestamp: undefined } }, ['never-expires']],
    [
      'if it has leaked, whatever else it lacks',
      { spec: { scope: undefined }, status: { phase: 'Leaked' } },
      ['leaked'],
    ],
    ['if it has no scope', { spec: { scope: undefined } }, ['no-scope']],
    ['if a rule of its scope has no limit', { spec: { scope: { rules: [{}] } } }, ['no-scope']],
    ['not if its scope is empty', { spec: { scope: {} } }, []],
    ['if it was last used 90 days ago', { status: { lastActivity: ago(90 * DAY) } }, ['unused']],
    ['not if it was used a minute later', { status: { lastActivity: ago(90 * DAY - MINUTE) } }, []],
    [
      'if it was made 90 days ago and never used',
      { metadata: { creationTimestamp: ago(90 * DAY) }, status: { lastActivity: undefined } },
      ['unused'],
    ],
    [
      'not if it was made later and not used yet',
      { metadata: { creationTimestamp: ago(89 * DAY) }, status: { lastActivity: undefined } },
      [],
    ],
    [
      'not if it was made long ago and is used',
      { metadata: { creationTimestamp: ago(900 * DAY) }, status: { lastActivity: ago(DAY) } },
      [],
    ],
    ['if it expires in 14 days', { status: { expirationTimestamp: ahead(14 * DAY) } }, ['expires-soon']],
    ['not if it expires a minute later', { status: { expirationTimestamp: ahead(14 * DAY + MINUTE) } }, []],
    ['if it was made for a week', { status: { expirationTimestamp: ahead(7 * DAY) } }, ['expires-soon']],
    ['not if it was made for a day', { status: { expirationTimestamp: ahead(22 * HOUR) } }, []],
    [
      'not if each use extends it by 14 days',
      {
        spec: { ttlAfterLastActivity: true },
        status: { lastActivity: ago(DAY), expirationTimestamp: ahead(13 * DAY) },
      },
      [],
    ],
    [
      'if its disuse ends it soon, although each use extends it by 30 days',
      {
        spec: { ttlAfterLastActivity: true },
        status: { lastActivity: ago(20 * DAY), expirationTimestamp: ahead(10 * DAY) },
      },
      ['expires-soon'],
    ],
    [
      'if its new value is not used',
      { status: { values: [{ state: 'Current' }, { state: 'Pending' }] } },
      ['rotation-pending'],
    ],
    ['not if its old value ends', { status: { values: [{ state: 'Current' }, { state: 'Retiring' }] } }, []],
    [
      'for several reasons',
      { spec: { scope: undefined }, status: { expirationTimestamp: undefined } },
      ['never-expires', 'no-scope'],
    ],
  ])('%s', (_, facts, expected) => expect(cardsOf(facts)).toEqual(expected))

  const reasons: Facts = {
    spec: { scope: undefined },
    status: { expirationTimestamp: undefined, lastActivity: ago(99 * DAY) },
  }

  test.each(['Disabled', 'Expired', 'Terminating', 'Elsewhere'])('never while its phase is %s', (phase) => {
    expect(cardsOf(reasons)).toHaveLength(3)
    expect(cardsOf({ ...reasons, status: { ...reasons.status, phase } })).toEqual([])
  })

  test('never if its times cannot be read, as far as they decide', () =>
    expect(
      cardsOf({ metadata: { creationTimestamp: 'x' }, status: { lastActivity: 'x', expirationTimestamp: 'x' } }),
    ).toEqual([]))

  test('is counted as often as it is found', () => {
    fc.assert(
      fc.property(keys, (all) => {
        const { counts } = finished(summaryOf(all, NOW))
        for (const name of cards.keys())
          expect(selected(all, `needs:${name}`).shown).toHaveLength(counts.get(name) ?? 0)
      }),
    )
  })
})

describe('a key of an exchange', () => {
  const exchanged = { metadata: { ownerReferences: byExchange }, status: { expirationTimestamp: ahead(HOUR) } }

  test('is known by its controller and its short life, and needs no attention', () => {
    expect(isExchanged(keyOf(exchanged))).toBe(true)
    expect(cardsOf({ ...exchanged, spec: { scope: undefined } })).toEqual([])
  })

  // threat: list-2
  test.each<[string, Facts]>([
    ['never expires', { status: { expirationTimestamp: undefined } }],
    ['lives longer than a day', { status: { expirationTimestamp: ahead(23 * HOUR) } }],
    ['is extended by each use', { spec: { ttlAfterLastActivity: true }, status: { expirationTimestamp: ahead(HOUR) } }],
  ])('is not what claims to be one and %s', (_, facts) =>
    expect(isExchanged(keyOf({ metadata: { ownerReferences: byExchange }, ...facts }))).toBe(false),
  )

  test('is not what another object owns', () => {
    const [owner] = byExchange.map((one) => ({ ...one, controller: false }))
    expect(isExchanged(keyOf({ ...exchanged, metadata: { ownerReferences: owner ? [owner] : [] } }))).toBe(false)
  })

  const all = [keyOf(), keyOf({ ...exchanged, name: 'shop-1' }), keyOf({ ...exchanged, name: 'shop-2' })]

  test('is not shown unasked, and is counted', () => {
    expect(selected(all, '')).toMatchObject({
      shown: [{ metadata: { name: 'ci' } }],
      total: 1,
      exchanges: 2,
      hidden: 2,
    })
    expect(selected(all, 'shop-2')).toMatchObject({ shown: [], total: 1, hidden: 1 })
    const asked = { shown: [{}, {}], total: 2, exchanges: 2, hidden: 0 }
    expect(selected(all, 'trust:*')).toMatchObject(asked)
  })
})

describe('the filter', () => {
  const key = keyOf({
    name: 'shop-CI',
    metadata: { labels: { app: 'shop', 'example.com/tier': 'front' } },
    spec: { displayName: 'Ｆull Width\u202E', description: 'For releases', scope: { clusters: [{ cluster: 'west' }] } },
    status: {
      owner: 'team:shop',
      lastSources: [{ ip: '203.0.113.7', lastSeen: ago(0) }],
      values: [{ state: 'Pending' }],
    },
  })

  test.each(cases.found)('finds by %j', (filter) => expect(matcher(filter)(key)).toBe(true))

  test.each(['shop-cd', 'west east', 'app=shopexample.com', '^shop', '.*'])('does not find by %j', (filter) =>
    expect(matcher(filter)(key)).toBe(false),
  )

  test('finds fewer keys the more words it has', () => {
    fc.assert(
      fc.property(keys, fc.string(), fc.string(), (all, one, other) => {
        const found = (filter: string) => all.filter(matcher(filter))
        expect(found(`${one} ${other}`)).toEqual(found(one).filter(matcher(other)))
      }),
    )
  })

  test.each<[string, Facts, boolean]>([
    ['owner:alice', { status: { owner: 'alice' } }, true],
    ['owner:alice', { status: { owner: 'alice2' } }, false],
    ['owner:alice', { spec: { description: 'owner:alice' }, status: { owner: 'bob' } }, false],
    ['owner:team:shop ci', { status: { owner: 'team:shop' } }, true],
    ['owner:"Alice B."', { status: { owner: 'Alice B.' } }, true],
    ['state:active', {}, true],
    ['state:active', { status: { phase: 'Disabled' } }, false],
    ['state:Active', {}, true],
    ['trust:shop', { metadata: { labels: { [TRUST_LABEL]: 'shop' } } }, false],
    ['trust:*', {}, false],
    ['expires:7d', { status: { expirationTimestamp: ahead(7 * DAY) } }, true],
    ['expires:7d', { status: { expirationTimestamp: ahead(7 * DAY + MINUTE) } }, false],
    ['expires:7d', { status: { expirationTimestamp: ago(0) } }, false],
    ['expires:7d', { status: { expirationTimestamp: undefined } }, false],
    ['expires:never', { status: { expirationTimestamp: undefined } }, true],
    ['expires:never', {}, false],
    ['expires:x', { status: { expirationTimestamp: undefined } }, false],
    ['needs:no-scope', { spec: { scope: undefined } }, true],
    ['needs:constructor', { spec: { scope: undefined } }, false],
    ['reaches:eu', { spec: { scope: undefined } }, true],
    ['reaches:eu', { spec: { scope: { clusters: [{ cluster: '*' }] } } }, true],
    ['reaches:eu', { spec: { scope: { clusters: [{ cluster: 'us' }] } } }, false],
    ['reaches:eu', { spec: { scope: undefined }, status: { phase: 'Disabled' } }, false],
    ['reaches:shop/dev', { spec: { scope: undefined } }, false],
    ['reaches:eu', { spec: { scope: undefined }, status: { target: 'eu' } }, false],
    ['constructor:x', { spec: { description: 'constructor:x' } }, true],
  ])('with the term %s and a key with %j', (filter, facts, isFound) =>
    expect(matcher(filter)(keyOf(facts))).toBe(isFound),
  )

  test('reads the terms that it writes, among words', () => {
    const term = fc.record({
      name: fc.constantFrom<TermName>('owner', 'maker', 'state', 'trust', 'reaches'),
      value: fc.string({ unit: 'grapheme' }),
    })
    fc.assert(
      fc.property(fc.array(term, { maxLength: 3 }), (terms) => {
        expect(partsOf(['ci', ...terms.map(termText), 'x'].join(' '))).toEqual({ words: ['ci', 'x'], terms })
      }),
    )
  })

  test('has one value of a term that is chosen, and keeps the rest', () => {
    expect(withTerm('ci owner:bob x', 'owner', 'Alice B.')).toBe('ci x owner:"Alice B."')
    expect(withTerm('ci owner:bob state:active', 'owner', undefined)).toBe('ci state:active')
  })

  test.each([
    ['onwer:alice', 'There is no onwer:. Known are state:, owner:, expires:, maker:, trust:, reaches:, needs:.'],
    ['state:actve', 'state: knows active, leaked, disabled, expired.'],
    ['expires:soon', 'expires: knows 7d, 30d, 90d, never.'],
    ['expires:5d', undefined],
    ['needs:no-scope owner:x ci', undefined],
  ])('says of %s what it knows', (filter, words) => expect(unknownWords(filter)).toBe(words))

  test('finds every key by its name', () => {
    fc.assert(
      fc.property(keys, (all) => {
        for (const one of all) expect(matcher(one.metadata.name)(one)).toBe(true)
      }),
    )
  })
})

describe('sorting', () => {
  const names = (all: readonly AccessKey[], sort: Sort) =>
    finished(sorted(all, sort)).map(({ metadata }) => metadata.name)
  const sort = fc.record({ column: fc.constantFrom(...columns.keys()), isDown: fc.boolean() })

  test('counts numbers in names', () =>
    expect(names([keyOf({ name: 'ci-10' }), keyOf({ name: 'ci-2' }), keyOf({ name: 'backup' })], DEFAULT_SORT)).toEqual(
      ['backup', 'ci-2', 'ci-10'],
    ))

  const times = [
    keyOf({ name: 'soon', status: { lastActivity: ago(HOUR), expirationTimestamp: ahead(HOUR) } }),
    keyOf({ name: 'late', status: { lastActivity: ago(DAY), expirationTimestamp: ahead(DAY) } }),
    keyOf({ name: 'never', status: { lastActivity: undefined, expirationTimestamp: undefined } }),
  ]
  test.each(cases.belonging as [Sort, string[]][])(
    'by %j puts keys without the time at the end where they belong',
    (by, expected) => expect(names(times, by)).toEqual(expected),
  )

  test('by state puts what works first, and open rotations before the others', () => {
    const all = [
      keyOf({ name: 'expired', status: { phase: 'Expired' } }),
      keyOf({ name: 'disabled', status: { phase: 'Disabled' } }),
      keyOf({ name: 'active' }),
      keyOf({ name: 'pending', status: { values: [{ state: 'Pending' }] } }),
    ]
    expect(names(all, { column: 'state', isDown: false })).toEqual(['pending', 'active', 'disabled', 'expired'])
  })

  test('loses and adds no key, and depends on no order of before', () => {
    fc.assert(
      fc.property(keys, sort, fc.infiniteStream(fc.nat()), (all, by, numbers) => {
        const shuffled = all.map((key) => ({ key, at: numbers.next().value ?? 0 })).sort((a, b) => a.at - b.at)
        const order = names(all, by)
        expect(
          names(
            shuffled.map(({ key }) => key),
            by,
          ),
        ).toEqual(order)
        expect(order.toSorted()).toEqual(all.map(({ metadata }) => metadata.name).toSorted())
      }),
    )
  })

  test('turns round when the column is chosen again', () => {
    for (const column of columns.keys()) {
      const first = chosen(column, { column: column === 'name' ? 'owner' : 'name', isDown: true })
      expect(chosen(column, first)).toEqual({ column, isDown: !first.isDown })
    }
    expect(chosen('used', DEFAULT_SORT)).toEqual({ column: 'used', isDown: true })
    expect(chosen('expires', DEFAULT_SORT)).toEqual({ column: 'expires', isDown: false })
  })
})

describe('the address of a view', () => {
  const view: fc.Arbitrary<View> = fc.record({
    // What may be a value is not in an address: see below.
    filter: fc.string({ unit: 'grapheme' }).filter((text) => !isLikeValue(text)),
    sort: fc.record({ column: fc.constantFrom(...columns.keys()), isDown: fc.boolean() }),
  })

  test('leads back to the view', () => {
    fc.assert(
      fc.property(view, (one) => {
        expect(viewOf(routeOf(hrefOfView(one)).query)).toEqual(one)
      }),
    )
  })

  test.each([
    'mpk_a',
    `ci mpk_${'a'.repeat(49)}`,
    'eyJhbGciOiJub25lIn0.e30.',
    madeByClient,
    `ci owner:${madeByClient}`,
  ])('has no filter with a secret: %s', (filter) => expect(hrefOfView({ ...FIRST_VIEW, filter })).toBe('#/keys'))

  test('is that of the page for what it shows at first', () => expect(hrefOfView(FIRST_VIEW)).toBe('#/keys'))

  test.each(['sort=constructor', 'sort=', 'sort=--name', 'x=y'])(
    'with %s shows what the page shows at first',
    (query) => expect(viewOf(new URLSearchParams(query))).toEqual(FIRST_VIEW),
  )

  test.each(['name', '-used'])('has the order as %s', (text) => expect(sortText(sortOf(text))).toBe(text))
})

describe('the words for a state', () => {
  test.each(cases.labels as [Facts['status'], string[]][])('of %j are %j', (status, words) =>
    expect(stateWords(keyOf({ ...(status && { status }) }))).toEqual(words),
  )

  test('of a key whose state cannot be read say so', () =>
    expect(stateWords(keyOf({ status: { phase: undefined } }))).toEqual(['Unknown']))
})

test('a list is read again every 15 seconds, and a long one less often', () =>
  expect([0, 150, 151, 1000, 2500].map(pollEvery)).toEqual([15_000, 15_000, 30_000, 105_000, 255_000]))

describe('where there are keys that were not read', () => {
  test('no words are about them', () => {
    expect([countWords(2, 5, false), countWords(5, 5, false), countWords(1, 1, false)]).toEqual([
      '2 of 5 keys',
      '5 keys',
      '1 key',
    ])
    expect([countText(0, true), countText(12, false)]).toEqual(['0+', '12'])
    expect(countWords(2500, 2500, true)).toBe('All 2500 keys that were read')
  })

  test.each([
    [' ci-2 ', 'ci-2'],
    ['ci-1', undefined],
    ['', undefined],
    ['team shop', undefined],
    ['Shop', undefined],
    [madeByClient, undefined],
  ])('the filter %j names the key %s among them', (filter, name) =>
    expect(unreadName(filter, [keyOf({ name: 'ci-1' })])).toBe(name),
  )
})
