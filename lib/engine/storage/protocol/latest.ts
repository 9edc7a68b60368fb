/** Finds the current state of an object that a reader of the log has met. */

import type { Stored, Table } from '../interface.ts'
import { slotKey } from '../keys.ts'
import { decodeState, isExpired, readSlot, rowState, rvOf, type State } from '../records.ts'
import { readRowOrTombstone } from './clear.ts'
import type { Context } from './context.ts'
import { expiredError, readRevision } from './revision.ts'
import { rewind } from './rewind.ts'

/**
 * Returns the newest state of the object, or the state in which it was deleted. It takes one read, or up to three for a deleted
 * object. Only for a recreated name does it rewind the log to the deletion of the earlier object.
 */
export async function readLatest(
  context: Context,
  { resource }: Pick<Table, 'resource'>,
  seen: Stored,
): Promise<Stored> {
  const { key, rv } = seen
  const { uid } = seen.object.metadata
  const asSeen = (one: State | undefined): Stored | undefined => {
    const found = one && decodeState(one)
    return found?.object.metadata.uid === uid ? found : undefined
  }
  // Neither is there for an object that has just been created.
  const row = await readRowOrTombstone(context, resource, key)
  if (rvOf(row) <= rv) return seen
  const live = rowState(row)
  const found = asSeen(live ?? (await stateBeforeDelete(context, resource, rvOf(row))))
  if (found) return found
  const { settled, asOf } = await readRevision(context, resource)
  const past = await rewind(context, resource, { at: rv, settled, asOf }, [{ key, rv: rvOf(row) }])
  const last = asSeen(past.get(key)?.last)
  if (!last) throw expiredError(rv)
  return last
}

/** Returns the last state before the deletion at this revision; undefined if it is not visible yet. Throws Expired. */
async function stateBeforeDelete({ items, now }: Context, resource: string, rev: number): Promise<State | undefined> {
  const slot = await items.get(slotKey(resource, rev))
  if (slot && isExpired(slot, now())) throw expiredError(rev)
  return slot && readSlot(slot).prev
}
