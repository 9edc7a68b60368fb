/** What the overview counts, and that each count is that of the list to which it leads. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { TRUST_LABEL } from '../../../clients/console/src/api/trusts.ts'
import { rowsOf, select } from '../../../clients/console/src/keylist/selection.ts'
import { viewOf } from '../../../clients/console/src/keylist/view.ts'
import { overviewOf } from '../../../clients/console/src/pages/keys/overview/counts.ts'
import { routeOf } from '../../../clients/console/src/text/routes.ts'
import { ahead, byExchange, type Facts, HOUR, keyOf, keys, NOW } from './keys.ts'

const listed = (href: string, all: Parameters<typeof rowsOf>[0]) =>
  select(rowsOf(all), viewOf(routeOf(href).query), NOW).shown.length

describe('the overview', () => {
  const owners = fc.array(fc.constantFrom('alice', 'team:shop', 'Alice B.', '"', 'owner:x', ''), { minLength: 12 })

  test('counts in each number as many keys as the list has to which it leads', () => {
    fc.assert(
      fc.property(keys, owners, (some, owned) => {
        const all = some.map((key, index) => ({ ...key, status: { ...key.status, owner: owned[index] ?? '' } }))
        const { all: total, attention, owners, exchanges } = overviewOf(all, NOW)
        for (const { href, count } of [total, ...attention, ...owners, ...exchanges]) {
          expect([href, listed(href, all)]).toEqual([href, count])
        }
      }),
    )
  })

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
