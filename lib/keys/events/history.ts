/** Keeps what happened to keys as side items that go with them. Repeats write the same items. */

import { forEach } from '../../engine/registry/parallel.ts'
import type { Change } from '../../engine/storage/interface.ts'
import { historyItem, historyPartition } from '../history/items.ts'
import type { KeyOccurrence } from './event.ts'
import type { Lifecycle } from './lifecycle.ts'

type Keeper = Pick<Lifecycle, 'storage' | 'hasTime' | 'deadline'>

/** The most items of a history that are removed with its key. The store deletes the others when they expire. */
const MOST_REMOVED = 1000

/** Keeps what happened to keys that still exist. */
export const keepHistory = (
  { storage, hasTime, deadline, recordSources }: Keeper & Pick<Lifecycle, 'recordSources'>,
  all: readonly KeyOccurrence[],
): Promise<void> =>
  forEach(
    all.filter(({ gone }) => !gone),
    hasTime,
    ({ kind, uid, at, unique, data }) => {
      const { ip: _, userAgent: __, ...rest } = data
      const item = historyItem(uid, { kind, at, detail: recordSources ? data : rest }, unique)
      return storage.writeCompanion(item, { deadline })
    },
  )

/** Forgets the histories of keys that these changes deleted. Repeating it is safe. */
export async function forgetHistories(
  { storage, hasTime, deadline }: Keeper,
  changes: readonly Change[],
): Promise<void> {
  for (const { type, stored } of changes) {
    if (type !== 'DELETED') continue
    const { uid = '' } = stored.object.metadata
    const { items } = await storage.queryCompanions(historyPartition(uid), { limit: MOST_REMOVED })
    await forEach(items, hasTime, (item) => storage.writeCompanion({ ...item, attributes: null }, { deadline }))
  }
}
