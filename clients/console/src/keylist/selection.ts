/** Decides which access keys the page shows, and what it says of the others. */

import { isExchanged } from '../../../core/src/keylives.ts'
import type { AccessKey } from '../../../core/src/objects.ts'
import { matcher, type Searched, searchText, valueIn } from './filter.ts'
import type { Search } from './serversearch.ts'
import { sorted } from './sorting.ts'
import type { View } from './view.ts'

export interface Row extends Searched {
  isExchanged: boolean
}

export interface Selection {
  /** What is shown, in order. */
  shown: Row[]
  /** How many keys no exchange made or, if the filter is about exchanges, how many they made. */
  total: number
  /** How many keys an exchange made. */
  exchanges: number
  /** How many of these are not shown although they match. */
  hidden: number
}

/** Returns the rows of keys. `search` is what the server was asked and has found. */
export function rowsOf(keys: readonly AccessKey[], { question, answer }: Search = {}): Row[] {
  const maker = question?.kind === 'facts' ? question.maker : undefined
  const made = new Set(maker === undefined ? [] : answer?.keys.map(({ metadata }) => metadata.uid))
  return keys.map((key) => ({
    key,
    searched: searchText(key),
    isExchanged: isExchanged(key),
    ...(maker !== undefined && made.has(key.metadata.uid) && { maker }),
  }))
}

export function select(rows: readonly Row[], { filter, sort }: View, now: Date): Selection {
  const found = rows.filter(matcher(filter, now))
  const isAboutExchanges = valueIn(filter, 'trust') !== undefined
  const shown = isAboutExchanges ? found : found.filter((row) => !row.isExchanged)
  const exchanges = rows.filter((row) => row.isExchanged).length
  return {
    shown: sorted(shown, sort),
    total: isAboutExchanges ? exchanges : rows.length - exchanges,
    exchanges,
    hidden: found.length - shown.length,
  }
}

/** Returns the keys that were read, and those that were found besides. */
export function merged(read: readonly AccessKey[], found: readonly AccessKey[]): readonly AccessKey[] {
  const uids = new Set(read.map(({ metadata }) => metadata.uid))
  const others = found.filter(({ metadata }) => !uids.has(metadata.uid))
  return others.length === 0 ? read : [...read, ...others]
}
