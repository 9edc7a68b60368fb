/** Reads, mutates and commits; repeats after a lost race. At most one revision of a write ever commits. */

import { StorageError } from '../errors.ts'
import type { GetOptions, Mutate, Stored, Table, UpdateOptions, WriteResult } from '../interface.ts'
import { activityOf, type ItemKey, isStorable, rowsOf, slotKey, sortKey } from '../keys.ts'
import { decodeState, readSlot, rowState, type State } from '../records.ts'
import { withActivity } from './activity.ts'
import { readRowOrTombstone } from './clear.ts'
import { type ChangingMutation, commitPlan, planWrite } from './commit.ts'
import { gapPoll, patience } from './constants.ts'
import { type Context, createPause, newId, refuseLateWrite } from './context.ts'
import { checkReached, settleAfterWrite, takeRevision } from './revision.ts'

/** A live row: its state, and the decoded object that a mutation sees. */
interface Live {
  state: State
  shown: Stored
}

/** Reads a live row and its activity in one call. */
async function readRow({ items }: Context, table: Table, name: string): Promise<Live | undefined> {
  const sk = sortKey(name)
  const key = { pk: rowsOf(table.resource), sk }
  const activityKey = { pk: activityOf(table.resource), sk }
  const found = table.activity ? await items.batchGet([key, activityKey]) : [await items.get(key)]
  const itemAt = ({ pk }: ItemKey) => found.find((one) => one?.pk === pk)
  const state = rowState(itemAt(key))
  return state && { state, shown: withActivity(decodeState(state), itemAt(activityKey)) }
}

/**
 * Reads a row that a client has seen at `notOlderThan`. A log entry may be visible shortly before its row. So if the row
 * is older and the log has the change, this reads again until the row is visible.
 */
async function readRowSince(
  context: Context,
  table: Table,
  key: string,
  notOlderThan: number | undefined,
): Promise<Live | undefined> {
  const live = await readRow(context, table, key)
  if (notOlderThan === undefined || !(notOlderThan > (live?.state.rv ?? 0))) return live
  const slot = await context.items.get(slotKey(table.resource, notOlderThan))
  if (slot === undefined || readSlot(slot).key !== key) return live
  for (const since = context.elapsed(); context.elapsed() - since < patience; await context.sleep(gapPoll)) {
    const again = await readRowOrTombstone(context, table.resource, key)
    if (again !== undefined && Number(again.rv) >= notOlderThan) break
  }
  return readRow(context, table, key)
}

/**
 * Writes an object. The mutation first sees the current row, or with `isNew` assumes that no row exists. Throws
 * what `mutate` throws, and TooLarge, TooManyCompanions, CompanionExists, CompanionChanged, TooLate, Full, Busy and Unavailable:
 * then nothing was written. After Undecided, the write may have taken effect.
 */
export async function writeStored(
  context: Context,
  table: Table,
  key: string,
  mutate: Mutate,
  { isNew, notOlderThan, deadline, by }: UpdateOptions,
): Promise<WriteResult> {
  const { limits } = context.items
  if (!isStorable(limits, key)) throw new StorageError('TooLarge', 'a key of this length')
  const pause = createPause(context)
  let live = isNew ? undefined : await readRowSince(context, table, key, notOlderThan)
  for (;;) {
    const before = live && { before: live.shown }
    const mutation = await mutate(live?.shown)
    if (mutation.type === 'none' || (mutation.type === 'delete' && live === undefined)) {
      return { ...before, ...(live && { after: live.shown }), rv: live?.state.rv ?? 0 }
    }
    const plan = { table, key, current: live?.state, change: mutation, id: newId(context), by }
    const planned = planWrite(limits, plan)
    refuseLateWrite(deadline)
    const revision = await takeRevision(context, table.resource)
    const outcome = await commitPlan(context, planned, revision, deadline)
    if (outcome.type === 'committed') {
      await settleAfterWrite(context, table.resource, revision).catch(() => undefined)
      return { ...before, ...after(key, mutation, revision.n, live?.shown), rv: revision.n }
    }
    if (outcome.companion !== undefined) throw companionError(mutation, outcome.companion)
    await pause(outcome.cause)
    live = await readRow(context, table, key)
  }
}

/** Returns the error for a companion whose condition failed. */
function companionError({ companions = [] }: ChangingMutation, companion: number): StorageError {
  return companions[companion]?.op === 'unchanged'
    ? new StorageError('CompanionChanged', 'a companion has changed')
    : new StorageError('CompanionExists', 'a companion exists already')
}

function after(key: string, change: ChangingMutation, rv: number, before: Stored | undefined): { after?: Stored } {
  if (change.type === 'delete') return {}
  const { object, internal } = change
  const stamped = { ...object, metadata: { ...object.metadata, resourceVersion: String(rv) } }
  return {
    after: {
      ...(before?.activity !== undefined && { activity: before.activity }),
      ...(before?.noted && { noted: before.noted }),
      key,
      rv,
      object: stamped,
      internal,
    },
  }
}

/** Reads one object. Throws TooNew if revision `reached` does not exist. */
export async function readStored(
  context: Context,
  table: Table,
  key: string,
  { notOlderThan, reached = 0 }: GetOptions = {},
): Promise<Stored | undefined> {
  const live = isStorable(context.items.limits, key) ? await readRowSince(context, table, key, notOlderThan) : undefined
  if (reached > (live?.state.rv ?? 0)) await checkReached(context, table.resource, reached)
  return live?.shown
}

/** Reads objects in one call, without their activity. */
export async function readMany(
  { items }: Context,
  wanted: readonly { table: Table; key: string }[],
): Promise<(Stored | undefined)[]> {
  const at = wanted.map(({ table, key }): ItemKey => ({ pk: rowsOf(table.resource), sk: sortKey(key) }))
  const found = await items.batchGet(at.filter((_, index) => isStorable(items.limits, wanted[index]?.key ?? '')))
  return at.map(({ pk, sk }) => {
    const state = rowState(found.find((one) => one.pk === pk && one.sk === sk))
    return state && decodeState(state)
  })
}
