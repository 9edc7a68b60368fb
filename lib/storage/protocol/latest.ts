/** What has become of an object that a reader of the log has met. */

import type { Stored, Table } from '../interface.ts'
import { rowsOf, slotKey, sortKey } from '../keys.ts'
import type { Context } from './context.ts'
import { isExpired, readSlot, rowState, rvOf, type State, stored } from './records.ts'
import { expired, state } from './revision.ts'
import { rewind } from './rewind.ts'

/**
 * Returns the newest state of the object, or the one in which it was deleted: one read, and one more of a deleted object. Only of a
 * name that was created anew the log is gone through for the end of the object before.
 */
export async function latest(context: Context, { resource }: Table, seen: Stored): Promise<Stored> {
  const { key, rv } = seen
  const { uid } = seen.object.metadata
  const asSeen = (one: State | undefined): Stored | undefined => {
    const found = one && stored(one)
    return found?.object.metadata.uid === uid ? found : undefined
  }
  const row = await context.items.get({ pk: rowsOf(resource), sk: sortKey(key) })
  if (rvOf(row) <= rv) return seen
  const live = rowState(row)
  const found = asSeen(live ?? (await endedBy(context, resource, rvOf(row))))
  if (found) return found
  const { settled, asOf } = await state(context, resource)
  const past = await rewind(context, resource, { at: rv, settled, asOf }, [{ key, rv: rvOf(row) }])
  const last = asSeen(past.get(key)?.last)
  if (!last) throw expired(rv)
  return last
}

/** The state that the deletion of this revision ended; undefined while it is not visible yet. Throws Expired. */
async function endedBy({ items, now }: Context, resource: string, rev: number): Promise<State | undefined> {
  const slot = await items.get(slotKey(resource, rev))
  if (slot && isExpired(slot, now())) throw expired(rev)
  return slot && readSlot(slot).prev
}
