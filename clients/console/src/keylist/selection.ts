/** Decides which access keys the page shows, and what it says of the others. */
import { isExchanged } from '../../../core/src/keylives.ts'
import type { AccessKey } from '../../../core/src/objects.ts'
import { type Known, matcher, valueIn } from './filter.ts'
import type { Search } from './serversearch.ts'
import { each, type Steps } from './slices.ts'

export interface Selection {
  /** What is shown, in order. */
  shown: AccessKey[]
  /** How many keys no exchange made or, if the filter is about exchanges, how many they made. */
  total: number
  /** How many keys an exchange made. */
  exchanges: number
  /** How many of these are not shown although they match. */
  hidden: number
}

/** Selects keys, in the order in which they are. */
export function* select(keys: readonly AccessKey[], filter: string, known: Known): Steps<Selection> {
  const isAboutExchanges = valueIn(filter, 'trust') !== undefined
  const matches = matcher(filter, known)
  const shown: AccessKey[] = []
  let [exchanges, hidden] = [0, 0]
  yield* each(keys, (key) => {
    const isOfExchange = isExchanged(key)
    if (isOfExchange) exchanges += 1
    if (!matches(key)) return
    if (isOfExchange && !isAboutExchanges) hidden += 1
    else shown.push(key)
  })
  return { shown, total: isAboutExchanges ? exchanges : keys.length - exchanges, exchanges, hidden }
}

/** Returns the keys of which only the server knows who made them. */
export function madeBy({ question, answer }: Search = {}): Known['made'] {
  const maker = question?.kind === 'facts' ? question.maker : undefined
  return maker === undefined ? undefined : { maker, uids: new Set(answer?.keys.map(({ metadata }) => metadata.uid)) }
}
