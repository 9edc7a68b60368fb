/** Reads, mutates, commits; again on a lost race. At most one of its revisions ever commits. */

import { StorageError } from '../errors.ts'
import type { GetOptions, Mutate, Stored, Table, WriteOptions, WriteResult } from '../interface.ts'
import type { Item } from '../items.ts'
import { activityOf, isStorable, rowsOf, slotKey, sortKey } from '../keys.ts'
import { withActivity } from './activity.ts'
import { type Change, commit, plan } from './commit.ts'
import { gapPoll, patience } from './constants.ts'
import { type Context, demandTimeLeft, tries } from './context.ts'
import { readSlot, rowState, type State, stored } from './records.ts'
import { allocate, demandReached, settle } from './revision.ts'

/** A live row: its state, and what of it a mutation sees. */
interface Live {
  state: State
  shown: Stored
}

/** One read of a live row, with its activity beside it. */
async function readRow({ items }: Context, table: Table, key: string): Promise<Live | undefined> {
  const sk = sortKey(key)
  const rowKey = { pk: rowsOf(table.resource), sk }
  let row: Item | undefined
  let activity: Item | undefined
  if (table.activity) {
    const found = await items.batchGet([rowKey, { pk: activityOf(table.resource), sk }])
    row = found.find(({ pk }) => pk === rowKey.pk)
    activity = found.find(({ pk }) => pk !== rowKey.pk)
  } else {
    row = await items.get(rowKey)
  }
  const state = rowState(row)
  return state && { state, shown: withActivity(stored(state), activity) }
}

/**
 * Reads a row that a client has seen at `notOlderThan`: a transaction may show its log entry a moment before its row,
 * so where the row seems older and the log knows the change, the row is read until it shows.
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
    const again = await context.items.get({ pk: rowsOf(table.resource), sk: sortKey(key) })
    if (again !== undefined && Number(again.rv) >= notOlderThan) break
  }
  return readRow(context, table, key)
}

/** `read`: whether the mutation sees the row from the start, or first assumes that there is none. */
export type Start = WriteOptions & ({ read: true; notOlderThan?: number | undefined } | { read: false })

/**
 * Throws what `mutate` throws, and TooLarge, TooManyCompanions, CompanionExists, CompanionChanged, TooLate, Busy, Unavailable; then nothing was
 * written. After Undecided it may have been.
 */
export async function write(
  context: Context,
  table: Table,
  key: string,
  mutate: Mutate,
  start: Start,
): Promise<WriteResult> {
  if (!isStorable(key)) throw new StorageError('TooLarge', 'a key of this length')
  const pause = tries(context)
  let live = start.read ? await readRowSince(context, table, key, start.notOlderThan) : undefined
  for (;;) {
    const before = live && { before: live.shown }
    const mutation = await mutate(live?.shown)
    if (mutation.type === 'none' || (mutation.type === 'delete' && live === undefined)) {
      return { ...before, ...(live && { after: live.shown }), rv: live?.state.rv ?? 0 }
    }
    const planned = plan({ table, key, current: live?.state, change: mutation, id: newId(context) })
    demandTimeLeft(start.deadline)
    const revision = await allocate(context, table.resource)
    const outcome = await commit(context, planned, revision, start.deadline)
    if (outcome.type === 'committed') {
      await settle(context, table.resource, revision).catch(() => undefined)
      return { ...before, ...after(key, mutation, revision.n, live?.shown), rv: revision.n }
    }
    if (outcome.companion !== undefined) throw refusal(mutation, outcome.companion)
    await pause(outcome.cause)
    live = await readRow(context, table, key)
  }
}

/** What it means that the condition of this companion failed. */
function refusal({ companions = [] }: Change, companion: number): StorageError {
  return companions[companion]?.op === 'unchanged'
    ? new StorageError('CompanionChanged', 'a companion has changed', { companion })
    : new StorageError('CompanionExists', 'a companion exists already', { companion })
}

/** Distinguishes writes that took part in one slot; a slot has one writer and its readers, so 100 random bits are plenty. */
const newId = ({ random }: Context): string =>
  [random(), random()].map((one) => Math.floor(one * 2 ** 52).toString(36)).join('-')

function after(key: string, change: Change, rv: number, before: Stored | undefined): { after?: Stored } {
  if (change.type === 'delete') return {}
  const { object, internal } = change
  const stamped = { ...object, metadata: { ...object.metadata, resourceVersion: String(rv) } }
  return {
    after: { ...(before?.activity !== undefined && { activity: before.activity }), key, rv, object: stamped, internal },
  }
}

/** What a `get` answers. */
export async function get(
  context: Context,
  table: Table,
  key: string,
  { notOlderThan, reached = 0 }: GetOptions = {},
): Promise<Stored | undefined> {
  const live = isStorable(key) ? await readRowSince(context, table, key, notOlderThan) : undefined
  if (reached > (live?.state.rv ?? 0)) await demandReached(context, table.resource, reached)
  return live?.shown
}
