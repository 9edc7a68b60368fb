/** Reads the keys that a part of the expiry index names. */
import { EXPIRY_INDEX } from '../authentication/expiryindex.ts'
import { OutOfTime } from '../registry/parallel.ts'
import { objectKey } from '../registry/store.ts'
import type { CompanionItem, IndexQuery, Stored } from '../storage/interface.ts'
import type { Lifecycle } from './lifecycle.ts'

/** Times after `after` and up to `to`, in unix seconds. */
export interface Window {
  after: number
  to: number
}

/** A key as it is now, and its entry in the index. */
interface Indexed {
  stored: Stored
  entry: CompanionItem
}

const PAGE = 100

/**
 * Reads the keys whose entry in this partition of the index is in the window, page by page, with their activity. Leaves out
 * entries of keys that are gone. Throws OutOfTime.
 */
export async function* indexedKeys(
  { store, storage, hasTime }: Pick<Lifecycle, 'store' | 'storage' | 'hasTime'>,
  partition: string,
  { after, to }: Window,
): AsyncGenerator<Indexed[]> {
  const query: IndexQuery = {
    index: EXPIRY_INDEX.name,
    partition: { attribute: EXPIRY_INDEX.partition, value: partition },
    sort: { attribute: EXPIRY_INDEX.sort, from: after + 1, to },
    limit: PAGE,
  }
  const find = async (entry: CompanionItem): Promise<Indexed[]> => {
    const stored = await storage.get(store.kind.table, objectKey('', String(entry.attributes.name)))
    return stored && stored.object.metadata.uid === entry.attributes.uid ? [{ stored, entry }] : []
  }
  for (let page = await storage.queryIndex(query); ; page = await storage.queryIndex({ ...query, after: page.next })) {
    yield (await Promise.all(page.items.map(find))).flat()
    if (!page.next) return
    if (!hasTime()) throw new OutOfTime()
  }
}
