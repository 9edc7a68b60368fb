/** Reads the keys that a part of the expiry index names. */

import { type HasTime, OutOfTime } from '../engine/registry/parallel.ts'
import { objectKey, type Store } from '../engine/registry/store.ts'
import type { CompanionItem, IndexRange, Storage, Stored } from '../engine/storage/interface.ts'
import { EXPIRY_INDEX } from './credential/expiryindex.ts'

/** Times after `after` and up to `to`, in unix seconds. */
export interface Window {
  after: number
  to: number
}

/** All times. */
export const EVER: Window = { after: 0, to: Number.MAX_SAFE_INTEGER }

/** A key as it is now, and its entry in the index. */
interface Indexed {
  stored: Stored
  entry: CompanionItem
}

const PAGE = 100

/** What reading the index needs. */
interface Source {
  store: Store
  storage: Storage
  hasTime: HasTime
}

/** Reads the entries in this partition of the index whose time is in the window, page by page. Throws OutOfTime. */
export async function* indexEntries(
  { storage, hasTime }: Omit<Source, 'store'>,
  partition: string,
  { after, to }: Window,
): AsyncGenerator<CompanionItem[]> {
  const range: IndexRange = {
    index: EXPIRY_INDEX.name,
    partition: { attribute: EXPIRY_INDEX.partition, value: partition },
    sort: { attribute: EXPIRY_INDEX.sort, from: after + 1, to },
  }
  for (let next: string | undefined; ; ) {
    const page = await storage.queryCompanions(range, { limit: PAGE, ...(next !== undefined && { after: next }) })
    yield page.items
    next = page.next
    if (next === undefined) return
    if (!hasTime()) throw new OutOfTime()
  }
}

/** Returns the key that an entry names, as it is now, with its activity. Returns undefined if the key is gone. */
export async function keyOfEntry(
  { store, storage }: Omit<Source, 'hasTime'>,
  { attributes: { name, uid } }: CompanionItem,
): Promise<Stored | undefined> {
  const stored = await storage.get(store.kind.table, objectKey('', String(name)))
  return stored?.object.metadata.uid === uid ? stored : undefined
}

/** Reads the keys whose entries are in the window, page by page. Leaves out entries of keys that are gone. Throws OutOfTime. */
export async function* indexedKeys(source: Source, partition: string, window: Window): AsyncGenerator<Indexed[]> {
  const find = async (entry: CompanionItem): Promise<Indexed[]> => {
    const stored = await keyOfEntry(source, entry)
    return stored ? [{ stored, entry }] : []
  }
  for await (const entries of indexEntries(source, partition, window)) {
    yield (await Promise.all(entries.map(find))).flat()
  }
}
