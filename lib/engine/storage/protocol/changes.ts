/** Answers one poll of a watch: the changes after a revision. */
import type { Change, ChangeBatch, Notice, Table } from '../interface.ts'
import { type Items, sizeOf } from '../items.ts'
import { bucketEnd, slotKey } from '../keys.ts'
import { decodeState, isExpired, readSlot, type Slot } from '../records.ts'
import { logSeconds, pageBytes, pollSlots } from './constants.ts'
import type { Context } from './context.ts'
import { closeOverdue, highestRevision, readSlots, type Slots } from './log.ts'
import { checkFresh, checkReachable, expiredError, readRecentRevision } from './revision.ts'

/**
 * Returns filled slots in order and stops at the first gap that a commit may still fill. Voids a gap below a filled slot
 * once this poll or an earlier one has waited for it longer than `patience`.
 */
export async function readChanges(
  context: Context,
  table: Table,
  since: number,
  reached = since,
): Promise<ChangeBatch> {
  const { resource } = table
  const revision = await readRecentRevision(context, resource, reached)
  checkReachable(revision, since)
  const { slots, to } = await readOn(context, resource, [since, Math.min(revision.n, since + pollSlots)])
  checkFresh(context, revision)
  // Treat the revisions above the window as filled: a window that has only gaps must not stop a watch forever.
  const filled = to < revision.n ? to : highestRevision(slots, since)
  await closeOverdue(context, resource, slots, {
    lo: Math.max(since, revision.settled),
    hi: filled,
    asOf: revision.asOf,
  })
  const batch: ChangeBatch = { changes: [], rv: since }
  while (batch.rv < to) {
    const rev = batch.rv + 1
    const item = slots.get(rev)
    if (rev <= revision.settled && (item === undefined || isExpired(item, context.now()))) throw expiredError(rev)
    if (item === undefined) return batch
    const slot = readSlot(item)
    if (slot.type !== 'VOID') batch.changes.push(decodeChange(slot))
    batch.rv = rev
  }
  return to < revision.n ? { ...batch, more: true } : batch
}

/** Reads the slots in (lo, hi], bucket by bucket, until they reach `pageBytes`. The slots end at `to`. */
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

/** Decodes a change. A DELETED change has the last state with the revision of the deletion, from which clients resume. */
function decodeChange({ type, rev, key, state: next, prev, expires, by }: Slot): Change {
  const shown = next ?? prev
  if (type === 'VOID' || shown === undefined) throw new Error(`revision ${rev} has no state of ${key}`)
  return {
    type,
    rv: rev,
    key,
    get stored() {
      return decodeState(shown, rev)
    },
    get previous() {
      return prev && decodeState(prev)
    },
    at: expires - logSeconds,
    ...(by && { by }),
  }
}

/** Notices changes after a revision, from now on. */
export function noticeChanges({ onWrite }: Pick<Items, 'onWrite'>, table: Table, since: number): Notice {
  const { promise: change, resolve } = Promise.withResolvers<void>()
  const next = since + 1
  // Writers may be a bucket ahead, but an earlier change in the bucket of `next` is committed before a reader can continue.
  const revisions = onWrite ? [next, bucketEnd(next) + 1] : []
  const ends = revisions.map((rev) => onWrite?.(slotKey(table.resource, rev).pk, resolve))
  return {
    change,
    [Symbol.dispose]() {
      for (const end of ends) end?.()
    },
  }
}
