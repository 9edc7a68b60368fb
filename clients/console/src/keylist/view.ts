/** What the page of the keys shows is part of its address, so that the way back, a reload and a colleague see the same. */
import { isLikeValue } from '../text/keyvalue.ts'
import { hrefOf } from '../text/routes.ts'
import { type CardName, isCardName } from './attention.ts'
import { DEFAULT_SORT, type Sort, sortOf, sortText } from './sorting.ts'

export interface View {
  filter: string
  card: CardName | undefined
  sort: Sort
  /** Whether keys of exchanges are shown. */
  exchanges: boolean
}

/** Reads a query. What it does not understand is left out. */
export function viewOf(query: URLSearchParams): View {
  const card = query.get('card') ?? ''
  return {
    filter: query.get('filter') ?? '',
    card: isCardName(card) ? card : undefined,
    sort: sortOf(query.get('sort')),
    exchanges: query.get('exchanges') === 'shown',
  }
}

/** Returns the address of the page with this view. Defaults are left out, and a filter that may be the value of a key. */
export const hrefOfView = ({ filter, card, sort, exchanges }: View): string =>
  hrefOf('keys', [], {
    ...(filter && !isLikeValue(filter) && { filter }),
    ...(card && { card }),
    ...(sortText(sort) !== sortText(DEFAULT_SORT) && { sort: sortText(sort) }),
    ...(exchanges && { exchanges: 'shown' }),
  })

/** What the page shows at first. */
export const FIRST_VIEW: View = viewOf(new URLSearchParams())

/** Reports whether the page shows every key but those of exchanges. */
export const isWhole = ({ filter, card, exchanges }: View): boolean =>
  filter.trim() === '' && card === undefined && !exchanges
