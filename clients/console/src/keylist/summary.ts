/** Counts what needs attention, and collects what a person can choose to see. */
import { isExchanged } from '../../../core/src/keylives.ts'
import type { AccessKey } from '../../../core/src/objects.ts'
import { TRUST_LABEL } from '../api/trusts.ts'
import { type CardName, cards, needs } from './attention.ts'
import { type TermName, VALUES } from './filter.ts'
import { each, type Steps, sorting } from './slices.ts'

/** A list to choose from has so many values. The filter takes any other. */
const MOST_VALUES = 200

/** The terms whose values are facts of keys. */
const FACTS: readonly [term: TermName, factOf: (key: AccessKey) => string | undefined][] = [
  ['owner', ({ status }) => status?.owner],
  ['maker', ({ status }) => status?.madeWith?.name],
  ['trust', (key) => (isExchanged(key) ? key.metadata.labels?.[TRUST_LABEL] : undefined)],
]

export interface Summary {
  /** How many keys belong to each card. */
  counts: ReadonlyMap<CardName, number>
  /** The values of each term that a person can choose. */
  values: ReadonlyMap<string, readonly string[]>
}

export function* summaryOf(keys: readonly AccessKey[], now: Date): Steps<Summary> {
  const counts = new Map<CardName, number>()
  const facts = FACTS.map(([term, factOf]) => ({ term, factOf, found: new Set<string>() }))
  yield* each(keys, (key) => {
    for (const name of cards.keys()) if (needs(name, key, now)) counts.set(name, (counts.get(name) ?? 0) + 1)
    for (const { factOf, found } of facts) found.add(factOf(key) ?? '')
  })
  const values = new Map<string, readonly string[]>(Object.entries(VALUES))
  for (const { term, found } of facts) {
    found.delete('')
    const order = yield* sorting([...found], (a, b) => (a < b ? -1 : 1))
    values.set(term, order.slice(0, MOST_VALUES))
  }
  return { counts, values }
}
