/** What the page of the keys shows is part of its address, so that the way back, a reload and a colleague see the same. */
import { isLikeValue } from '../text/keyvalue.ts'
import { hrefOf } from '../text/routes.ts'
import { DEFAULT_SORT, type Sort, sortOf, sortText } from './sorting.ts'

export interface View {
  filter: string
  sort: Sort
}

/** Reads a query. What it does not understand is left out. */
export const viewOf = (query: URLSearchParams): View => ({
  filter: query.get('filter') ?? '',
  sort: sortOf(query.get('sort')),
})

/** Returns the address of the page with this view. Defaults are left out, and a filter that may be the value of a key. */
export const hrefOfView = ({ filter, sort = DEFAULT_SORT }: { filter: string; sort?: Sort }): string =>
  hrefOf('keys', [], {
    ...(filter && !isLikeValue(filter) && { filter }),
    ...(sortText(sort) !== sortText(DEFAULT_SORT) && { sort: sortText(sort) }),
  })
