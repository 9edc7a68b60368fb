/** What the overview shows, and that each group is the list to which it leads. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { TRUST_LABEL } from '../../../clients/console/src/api/trusts.ts'
import { select } from '../../../clients/console/src/keylist/selection.ts'
import { finished } from '../../../clients/console/src/keylist/slices.ts'
import { viewOf } from '../../../clients/console/src/keylist/view.ts'
import { overviewOf } from '../../../clients/console/src/pages/keys/overview/overview.ts'
import { routeOf } from '../../../clients/console/src/text/routes.ts'
import type { AccessKey } from '../../../clients/core/src/objects.ts'
import { ago, ahead, byExchange, type Facts, HOUR, keyOf, keys, NOW } from './keys.ts'

const listed = (href: string, all: readonly AccessKey[]) =>
  finished(select(all, viewOf(routeOf(href).query).filter, { now: NOW })).shown.length

describe('the overview', () => {
  test('has in each group as many keys as the list to which it leads', () => {
    fc.assert(
      fc.property(keys, (all) => {
        const { attention, exchanges } = overviewOf(all, NOW)
        for (const { href, keys: found } of [...attention, ...exchanges]) {
          expect([href, listed(href, all)]).toEqual([href, found.length])
        }
      }),
    )
  })

  test('has what happened last, as far as the keys say it', () => {
    const all = [
      keyOf({ name: 'new' }),
      keyOf({
        name: 'found',
        metadata: { creationTimestamp: ago(9 * HOUR) },
        status: { leak: { reported: ago(HOUR) } },
      }),
      keyOf({ name: 'over', metadata: { creationTimestamp: 'x' }, status: { expirationTimestamp: ago(3 * HOUR) } }),
      keyOf({ name: 'job', metadata: { ownerReferences: byExchange }, status: { expirationTimestamp: ahead(HOUR) } }),
    ]
    expect(overviewOf(all, NOW).events.map(({ name, words }) => `${name} ${words}`)).toEqual([
      'found reported as leaked',
      'new created',
      'over expired',
      'found created',
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
    expect(exchanges.map(({ title, keys: found, href }) => [title, found.length, listed(href, all)])).toEqual([
      ['shop', 2, 2],
      ['shop-deploy', 1, 1],
    ])
  })
})
