/** What the overview counts, and that each count is that of the list to which it leads. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { TRUST_LABEL } from '../../../clients/console/src/api/trusts.ts'
import { windowOf } from '../../../clients/console/src/keylist/expirywindows.ts'
import { rowsOf, select } from '../../../clients/console/src/keylist/selection.ts'
import { viewOf } from '../../../clients/console/src/keylist/view.ts'
import { overviewOf } from '../../../clients/console/src/pages/keys/overview/counts.ts'
import { routeOf } from '../../../clients/console/src/text/routes.ts'
import { ago, ahead, byExchange, DAY, type Facts, HOUR, keyOf, keys, MINUTE, NOW } from './keys.ts'

const listed = (href: string, all: Parameters<typeof rowsOf>[0]) =>
  select(rowsOf(all), viewOf(routeOf(href).query), NOW).shown.length

describe('the overview', () => {
  const owners = fc.array(fc.constantFrom('alice', 'team:shop', 'Alice B.', '"', 'owner:x', ''), { minLength: 12 })

  test('counts in each number as many keys as the list has to which it leads', () => {
    fc.assert(
      fc.property(keys, owners, (some, owned) => {
        const all = some.map((key, index) => ({ ...key, status: { ...key.status, owner: owned[index] ?? '' } }))
        const { all: total, attention, expiries, owners, exchanges } = overviewOf(all, NOW)
        for (const { href, count } of [total, ...attention, ...expiries, ...owners, ...exchanges]) {
          expect([href, listed(href, all)]).toEqual([href, count])
        }
      }),
    )
  })

  test('counts each key whose expiry can be read in one window', () => {
    fc.assert(
      fc.property(keys, (all) => {
        const { all: total, expiries } = overviewOf(all, NOW)
        expect(expiries.reduce((sum, { count }) => sum + count, 0)).toBe(total.count)
      }),
    )
  })

  const ending = (at: string | undefined): Facts => ({ status: { expirationTimestamp: at } })
  test.each<[string | undefined, Facts]>([
    ['expired', { status: { phase: 'Expired', expirationTimestamp: ahead(DAY) } }],
    ['expired', ending(ago(0))],
    ['7d', ending(ahead(MINUTE))],
    ['7d', ending(ahead(7 * DAY))],
    ['14d', ending(ahead(7 * DAY + MINUTE))],
    ['30d', ending(ahead(30 * DAY))],
    ['90d', ending(ahead(90 * DAY))],
    ['later', ending('9999-12-31T23:59:59Z')],
    ['never', ending(undefined)],
    [undefined, ending('x')],
  ])('has in the window %s a key with %j', (name, facts) => expect(windowOf(keyOf(facts), NOW)).toBe(name))

  test('has the ten owners with the most keys, and says how many others there are', () => {
    const all = Array.from({ length: 12 }, (_, owner) =>
      Array.from({ length: owner + 1 }, (_, key) =>
        keyOf({ name: `k${owner}-${key}`, status: { owner: `o${owner}` } }),
      ),
    ).flat()
    const { owners, otherOwners } = overviewOf(all, NOW)
    expect([owners.length, otherOwners, owners[0]]).toEqual([
      10,
      2,
      { title: 'o11', count: 12, href: '#/keys?filter=owner%3Ao11' },
    ])
  })

  test('has the keys of exchanges that work, by their trust', () => {
    const exchanged = (name: string, trust: string, facts: Facts = {}) =>
      keyOf({
        name,
        metadata: { ownerReferences: byExchange, labels: { [TRUST_LABEL]: trust } },
        status: { expirationTimestamp: ahead(HOUR), ...facts.status },
      })
    const all = [
      exchanged('a', 'shop'),
      exchanged('b', 'shop'),
      exchanged('c', 'shop-deploy'),
      exchanged('d', 'shop', { status: { phase: 'Expired' } }),
      keyOf({ name: 'e', metadata: { labels: { [TRUST_LABEL]: 'shop' } } }),
    ]
    const { exchanges } = overviewOf(all, NOW)
    expect(exchanges.map(({ title, count, href }) => [title, count, listed(href, all)])).toEqual([
      ['shop', 2, 2],
      ['shop-deploy', 1, 1],
    ])
  })
})
