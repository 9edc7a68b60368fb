/** Opens an empty table in memory, for tests of what is built on the storage. */
import type { Items } from '../../lib/engine/storage/items.ts'
import { itemsOf } from '../../lib/engine/storage/sqlite/sqlite.ts'
import { openTable } from '../../lib/engine/storage/sqlite/table.ts'

/** Deadlines and expiry are judged by `now`, in unix ms. */
export const createMemoryItems = (now: () => number): Items => itemsOf(openTable(':memory:', now), now)
