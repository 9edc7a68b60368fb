/** Keeps what is recorded about the use of keys in step: removes it with the key, and says since when it is recorded. */

import { unixSeconds } from '../../engine/meta/encoding/time.ts'
import { forEach } from '../../engine/registry/parallel.ts'
import type { Change } from '../../engine/storage/interface.ts'
import { companionPages, getCompanion } from '../../engine/storage/readcompanions.ts'
import { usagePartition } from '../credential/keptitems.ts'
import { recordingKey } from '../usage/items.ts'
import type { Lifecycle } from './lifecycle.ts'

/** Removes the side items of the keys that these changes deleted. Repeating it is safe. */
export async function forgetDeleted(
  { storage, hasTime, deadline }: Pick<Lifecycle, 'storage' | 'hasTime' | 'deadline'>,
  changes: readonly Change[],
): Promise<void> {
  for (const change of changes) {
    const { uid } = change.type === 'DELETED' ? change.stored.object.metadata : {}
    if (!uid) continue
    for await (const items of companionPages(storage, usagePartition(uid)))
      await forEach(items, hasTime, (item) => storage.writeCompanion({ ...item, attributes: null }, { deadline }))
  }
}

/**
 * Marks since when usage is recorded, and marks it again if the clock was ahead then. Without the recording the mark goes, because a time
 * in which nothing was recorded is not one in which nothing happened.
 */
export async function markRecording(
  { storage, now, deadline }: Pick<Lifecycle, 'storage' | 'now' | 'deadline'>,
  isRecording: boolean,
): Promise<void> {
  const mark = await getCompanion(storage, recordingKey)
  const item = { ...recordingKey, attributes: { since: unixSeconds(now()) } }
  if (isRecording && !mark) await storage.writeCompanion({ ...item, when: 'absent' }, { deadline })
  else if (isRecording && Number(mark?.attributes.since) > item.attributes.since)
    await storage.writeCompanion(item, { deadline })
  if (!isRecording && mark) await storage.writeCompanion({ ...recordingKey, attributes: null }, { deadline })
}
