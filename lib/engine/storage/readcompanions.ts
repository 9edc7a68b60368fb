/** Reads one side item, or all of a partition. */
import type { CompanionItem, CompanionQuery, Storage } from './interface.ts'
import type { ItemKey } from './keys.ts'

export const getCompanion = async (
  { getCompanions }: Pick<Storage, 'getCompanions'>,
  { pk, sk }: ItemKey,
): Promise<CompanionItem | undefined> => (await getCompanions([{ pk, sk }]))[0]

/**
 * Yields the side items of a partition in pages, sorted by sort key. Items that are added or removed in the meantime may or may
 * not appear; all others appear exactly once.
 */
export async function* companionPages(
  { queryCompanions }: Pick<Storage, 'queryCompanions'>,
  pk: string,
  query: Pick<CompanionQuery, 'limit'> = {},
): AsyncGenerator<CompanionItem[], void, void> {
  for (let page = await queryCompanions(pk, query); ; ) {
    yield page.items
    if (page.next === undefined) return
    page = await queryCompanions(pk, { ...query, after: page.next })
  }
}
