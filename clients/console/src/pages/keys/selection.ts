/** Decides which access keys the page shows, and what it says of the others. */
import type { AccessKey } from '../../../../core/src/objects.ts'
import { isExchanged } from '../../api/keyfacts.ts'
import { needs } from './attention.ts'
import { matcher, searchText } from './filter.ts'
import { sorted } from './sorting.ts'
import type { View } from './view.ts'

export interface Row {
  key: AccessKey
  /** What the filter searches. */
  searched: string
  isExchanged: boolean
}

export interface Selection {
  /** What is shown, in order. */
  shown: Row[]
  /** How many are shown without a filter and a card. */
  total: number
  /** How many keys an exchange made. */
  exchanges: number
  /** How many of these are not shown although they match. */
  hidden: number
}

export const rowsOf = (keys: readonly AccessKey[]): Row[] =>
  keys.map((key) => ({ key, searched: searchText(key), isExchanged: isExchanged(key) }))

export function select(rows: readonly Row[], { filter, card, sort, exchanges }: View, now: Date): Selection {
  const matches = matcher(filter)
  const found = rows.filter(({ key, searched }) => matches(searched) && (!card || needs(card, key, now)))
  const shown = exchanges ? found : found.filter((row) => !row.isExchanged)
  const made = rows.filter((row) => row.isExchanged).length
  return {
    shown: sorted(shown, sort),
    total: exchanges ? rows.length : rows.length - made,
    exchanges: made,
    hidden: found.length - shown.length,
  }
}
