/** Counts access keys for the overview. Each count has the address of the list of just these keys. */

import { isExchanged } from '../../../../../core/src/keylives.ts'
import type { AccessKey } from '../../../../../core/src/objects.ts'
import { isActive } from '../../../api/keyfacts.ts'
import { TRUST_LABEL } from '../../../api/trusts.ts'
import { type CardName, cards, countCards } from '../../../keylist/attention.ts'
import { termText } from '../../../keylist/filter.ts'
import { FIRST_VIEW, hrefOfView, type View } from '../../../keylist/view.ts'

export interface Count {
  /** May be a text of others. */
  title: string
  count: number
  /** The address of the list. */
  href: string
}

export interface Overview {
  /** All keys but those of exchanges. */
  all: Count
  attention: Count[]
  /** Those with the most keys. */
  owners: Count[]
  /** How many owners there are besides. */
  otherOwners: number
  /** The keys of exchanges that work, by trust. */
  exchanges: Count[]
}

/** So many owners and trusts are shown. */
const MOST = 10

const SHOWN: readonly CardName[] = ['leaked', 'expires-soon', 'no-scope', 'unused', 'never-expires']

const counted = (title: string, count: number, view: Partial<View>): Count => ({
  title,
  count,
  href: hrefOfView({ ...FIRST_VIEW, ...view }),
})

export function overviewOf(keys: readonly AccessKey[], now: Date): Overview {
  const lasting = keys.filter((key) => !isExchanged(key))
  const attention = countCards(lasting, now)
  const owners = ranked(tally(lasting, ({ status }) => status?.owner))
  const exchanged = keys.filter((key) => isExchanged(key) && isActive(key))
  const trusts = ranked(tally(exchanged, ({ metadata }) => metadata.labels?.[TRUST_LABEL] ?? ''))
  return {
    all: counted('Keys', lasting.length, {}),
    attention: SHOWN.map((card) => counted(cards.get(card)?.title ?? '', attention.get(card) ?? 0, { card })),
    owners: owners
      .slice(0, MOST)
      .map(([value, count]) => counted(value, count, { filter: termText({ name: 'owner', value }) })),
    otherOwners: Math.max(0, owners.length - MOST),
    exchanges: trusts.map(([value, count]) =>
      counted(value || 'without a label', count, {
        filter: `${termText({ name: 'trust', value })} ${termText({ name: 'state', value: 'active' })}`,
        exchanges: true,
      }),
    ),
  }
}

/** Returns how many keys have each value. */
function tally(keys: readonly AccessKey[], factOf: (key: AccessKey) => string | undefined): Map<string, number> {
  const counts = new Map<string, number>()
  for (const key of keys) {
    const value = factOf(key)
    if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + 1)
  }
  return counts
}

/** Returns the highest counts first. Equal ones are in the order of their names. */
const ranked = (counts: ReadonlyMap<string, number>): [string, number][] =>
  [...counts].sort(([a, one], [b, other]) => other - one || (a < b ? -1 : 1))
