/**
 * Moves tombstones out of the rows, so that lists do not read the objects of the past. Once every slot up to a revision is filled,
 * no create below it can commit, so its tombstone is no longer needed for that. Pages that began before have ended (`clearAfter`).
 * Lists at earlier revisions find deletions in the log (`removedSince`), and `latest` in the partition of deleted objects.
 */
import { StorageError } from '../errors.ts'
import type { Item } from '../items.ts'
import { bucketSize, deletedOf, type ItemKey, rowsOf, sortKey } from '../keys.ts'
import { isExpired, isTombstone, isVacant, readSlot } from '../records.ts'
import { clearTime, tombstoneSeconds } from './constants.ts'
import { type Context, persist } from './context.ts'
import { missing, readSlots } from './log.ts'
import { type ExpectedRow, expectRows, expiredError, outline, type Revision } from './revision.ts'

/** The number of slots that are read at a time, and of tombstones that are written at a time. */
const stretch = 4 * bucketSize
const parallel = 16

/**
 * Clears the tombstones in (cleared, marked]. Returns the revision up to which none are left. Stops early, without an error, after
 * `clearTime` or when the store fails.
 */
export async function clearTombstones(
  context: Context,
  resource: string,
  { cleared, marked }: Pick<Revision, 'cleared' | 'marked'>,
): Promise<number> {
  const began = context.elapsed()
  let done = cleared
  try {
    while (done < marked && context.elapsed() - began < clearTime) {
      const to = Math.min(marked, done + stretch)
      const rows = new Map<string, ExpectedRow>()
      const removals: (() => Promise<unknown>)[] = []
      const slots = await readSlots(context, resource, [done, to], outline)
      for (const rev of [...slots.keys()].sort((one, other) => one - other)) {
        const item = slots.get(rev)
        if (!item) continue
        const slot = readSlot(item)
        expectRows(rows, resource, slot)
        for (const one of slot.type === 'DELETED' ? slot.names : [])
          removals.push(() => clearEntry(context, { pk: rowsOf(resource, one), sk: sortKey(slot.key) }, rev))
      }
      for (const one of rows.values()) if (one.absent) removals.push(() => clear(context, resource, one))
      for (let index = 0; index < removals.length; index += parallel)
        await Promise.all(removals.slice(index, index + parallel).map((remove) => remove()))
      done = to
    }
  } catch (error) {
    if (!(error instanceof StorageError)) throw error
  }
  return done
}

/** Clears one tombstone, if it is still there. The object was deleted, or it has left an index partition. */
async function clear(context: Context, resource: string, { key, rev }: ExpectedRow): Promise<void> {
  const expires = Math.floor(context.now() / 1000) + tombstoneSeconds
  if (key.pk === rowsOf(resource)) {
    const item = { pk: deletedOf(resource), sk: key.sk, rv: rev, gone: true, expires }
    await persist(context, { type: 'put', item, when: isVacant(rev) })
  }
  await persist(context, { type: 'delete', key, when: isTombstone(rev) })
}

/** Removes the name of a deleted object from an index partition, unless a newer object has it. */
const clearEntry = (context: Context, key: ItemKey, rev: number): Promise<unknown> =>
  persist(context, { type: 'delete', key, when: { rv: { below: rev } } })

/** Returns the row of an object, or its tombstone, wherever that is. */
export const readRowOrTombstone = async (
  { items }: Pick<Context, 'items'>,
  resource: string,
  key: string,
): Promise<Item | undefined> => {
  const sk = sortKey(key)
  return (await items.get({ pk: rowsOf(resource), sk })) ?? items.get({ pk: deletedOf(resource), sk })
}

/**
 * Returns, by sort key, the last revision in (at, marked] at which an object was deleted or has left an index partition. Throws
 * Expired if the log no longer reaches back.
 */
export async function removedSince(
  context: Context,
  resource: string,
  at: number,
  { marked }: Pick<Revision, 'marked'>,
): Promise<Map<string, number>> {
  const removed = new Map<string, number>()
  if (marked <= at) return removed
  for (let from = at; from < marked; from += stretch) {
    const to = Math.min(marked, from + stretch)
    const slots = await readSlots(context, resource, [from, to], outline)
    if (missing(slots, from, to).length > 0) throw expiredError(at)
    for (const [rev, item] of slots) {
      const { type, key, left, expires } = readSlot(item)
      if (isExpired({ expires }, context.now())) throw expiredError(at)
      const sk = sortKey(key)
      if (type === 'DELETED' || left.length > 0) removed.set(sk, Math.max(rev, removed.get(sk) ?? 0))
    }
  }
  return removed
}
