/** What happened after a revision: one poll of a watch. */
import { sizeOf } from '../body.ts'
import type { Change, ChangeBatch, Table } from '../interface.ts'
import { bucketEnd } from '../keys.ts'
import { pageBytes, pollSlots } from './constants.ts'
import type { Context } from './context.ts'
import { closeOverdue, highest, readSlots, type Slots } from './log.ts'
import { isExpired, readSlot, type Slot, stored } from './records.ts'
import { demandFresh, demandReachable, expired, state } from './revision.ts'

/**
 * Delivers decided slots in order and stops at the first gap that a commit may still fill; a gap below something
 * that is filled is voided once it has been seen for longer than patience, here or by an earlier poll.
 */
export async function changes(context: Context, table: Table, since: number): Promise<ChangeBatch> {
  const { resource } = table
  const revision = await state(context, resource)
  demandReachable(revision, since)
  const { slots, to } = await readOn(context, resource, [since, Math.min(revision.n, since + pollSlots)])
  demandFresh(context, revision)
  // What lies above the window is taken for filled: a window of gaps alone must not stop a watch for good.
  const filled = to < revision.n ? to : highest(slots, since)
  await closeOverdue(context, resource, slots, {
    lo: Math.max(since, revision.settled),
    hi: filled,
    asOf: revision.asOf,
  })
  const batch: ChangeBatch = { changes: [], rv: since }
  while (batch.rv < to) {
    const rev = batch.rv + 1
    const item = slots.get(rev)
    if (rev <= revision.settled && (item === undefined || isExpired(item, context.now()))) throw expired(rev)
    if (item === undefined) return batch
    const slot = readSlot(item)
    if (slot.type !== 'VOID') batch.changes.push(changeOf(slot))
    batch.rv = rev
  }
  return to < revision.n ? { ...batch, more: true } : batch
}

/** The slots in (lo, hi], bucket after bucket, up to the one with which they weigh what a page of a list may: they end at `to`. */
async function readOn(
  context: Context,
  resource: string,
  [lo, hi]: readonly [lo: number, hi: number],
): Promise<{ slots: Slots; to: number }> {
  const slots: Slots = new Map()
  let bytes = 0
  for (let to = lo; ; ) {
    const from = to
    to = Math.min(hi, bucketEnd(from + 1))
    for (const [rev, item] of await readSlots(context, resource, [from, to])) {
      slots.set(rev, item)
      bytes += sizeOf(item)
    }
    if (to === hi || bytes >= pageBytes) return { slots, to }
  }
}

/** The state that a deletion ended is shown at the deletion's revision, from which clients resume. */
function changeOf({ type, rev, key, state: next, prev }: Slot): Change {
  const shown = next ?? prev
  if (type === 'VOID' || shown === undefined) throw new Error(`revision ${rev} says nothing of ${key}`)
  return {
    type,
    rv: rev,
    key,
    get stored() {
      return stored(shown, rev)
    },
    get previous() {
      return prev && stored(prev)
    },
  }
}
