/** Makes one attempt to write: sends the transaction of row, copies, slot and companions, and finds out its outcome. */
import type { Deadline } from '../../meta/errors/deadline.ts'
import type { JsonObject } from '../../meta/types.ts'
import { objectBytes, pack, writeInternal, writeObject } from '../body.ts'
import { StorageError } from '../errors.ts'
import type { Companion, Mutation, Table } from '../interface.ts'
import { type Item, ItemsFault, type ItemWrite, type Limits, sizeOf, type TransactOutcome } from '../items.ts'
import { activityOf, isPartition, marksOf, rowsOf, slotKey, sortKey } from '../keys.ts'
import { decodeState, has, isAbsent, isLive, isVacant, type State } from '../records.ts'
import { patience, reserveBytes, tombstoneSeconds, writerDeadline } from './constants.ts'
import { backoff, type Context, isFull } from './context.ts'
import { slotExpiry, voidSlot } from './log.ts'
import type { Revision } from './revision.ts'

export type ChangingMutation = Exclude<Mutation, { type: 'none' }>

/** A write: the row as it was read, and the change to make. */
export interface RowWrite {
  table: Table
  key: string
  /** The row that the change is based on; undefined if no row is live. */
  current: State | undefined
  change: ChangingMutation
  /** Identifies the write in its slot. */
  id: string
  /** Who makes the change. */
  by: JsonObject | undefined
}

/**
 * Returns the most bytes of a stored object: a log entry holds the new state, the previous state and their keys in one item.
 * Without this limit, an object could be created and then be too large to disable, or to delete if it has a finalizer.
 */
const placeBytes = ({ itemBytes }: Limits): number => itemBytes / 2 - 4 * 1024

/** A write as items, complete except for its revision. */
export interface Plan {
  write: RowWrite
  row: Record<string, Item[string]>
  slot: Record<string, Item[string]>
  partitions: readonly string[]
  left: readonly string[]
  names: string[]
}

/** Encodes a write before it takes a revision. Throws TooLarge and TooManyCompanions. */
export function planWrite(limits: Limits, write: RowWrite): Plan {
  const { table, current, change, id, key, by } = write
  const prev = current ? [current.object, current.internal] : []
  const next = change.type === 'put' ? [writeObject(change.object), writeInternal(change.internal)] : []
  const reserved = change.type === 'put' && change.reserve ? 0 : reserveBytes
  for (const text of next) {
    const bytes = Buffer.byteLength(text)
    if (bytes > objectBytes - reserved) throw new StorageError('TooLarge', `an object of ${bytes} bytes`)
  }
  const bodies = pack([...next, ...prev])
  const place = bodies.slice(0, next.length).reduce((sum, body) => sum + sizeOf(body), 0)
  if (place > placeBytes(limits) - reserved) {
    throw new StorageError('TooLarge', `an object of ${place} bytes as it is stored`)
  }
  const [object, internal] = bodies
  const [prevObject, prevInternal] = bodies.slice(next.length)
  const partitions = change.type === 'put' ? [...new Set(table.partitions(change))] : []
  const left = (current?.partitions ?? []).filter((one) => !partitions.includes(one))
  const names = namesOf(table, current, change)
  const now = object !== undefined && internal !== undefined && change.type === 'put' ? { object, internal } : {}
  const before =
    current && prevObject !== undefined && prevInternal !== undefined
      ? { prev: { rv: current.rv, object: prevObject, internal: prevInternal, partitions: [...current.partitions] } }
      : {}
  const slot = {
    id,
    type: change.type === 'delete' ? 'DELETED' : current ? 'MODIFIED' : 'ADDED',
    key,
    ...now,
    ...before,
    partitions,
    left,
    ...(names.length > 0 && { names }),
    ...(by && { by }),
  }
  const row = change.type === 'put' ? { ...now, partitions } : { gone: true }
  const planned = { write, row, slot, partitions, left, names }
  checkFits(limits, planned)
  return planned
}

/** Returns the index partitions of names that a create enters, or a delete leaves. */
function namesOf(table: Table, current: State | undefined, change: ChangingMutation): string[] {
  if (!table.names) return []
  if (change.type === 'put') return current ? [] : [...new Set(table.names(change))]
  return current ? [...table.names(decodeState(current))] : []
}

function checkFits(limits: Limits, planned: Plan): void {
  if (
    ![...planned.partitions, ...planned.names].every((one) => isPartition(limits, planned.write.table.resource, one))
  ) {
    throw new StorageError('TooLarge', 'the name of an index partition')
  }
  const writes = itemWrites(planned, Number.MAX_SAFE_INTEGER, 0)
  if (writes.length > limits.transactionItems) {
    throw new StorageError('TooManyCompanions', `${writes.length} items in one transaction`)
  }
  let total = 0
  for (const write of writes) {
    const bytes = sizeOf(
      write.type === 'put' ? write.item : write.type === 'set' ? { ...write.key, ...write.attributes } : {},
    )
    if (bytes > limits.itemBytes) throw new StorageError('TooLarge', `an item of ${bytes} bytes`)
    total += bytes
  }
  if (total > limits.transactionBytes) throw new StorageError('TooLarge', `a transaction of ${total} bytes`)
}

/** The indexes of the row and of the first companion in the transaction. */
const rowIndex = 0
const companionIndex = 2

/** Returns the writes: row, slot, companions, copies, entries and marks in the index partitions, and the activity to delete. */
function itemWrites(planned: Plan, rev: number, now: number): ItemWrite[] {
  const { write, partitions, left, names } = planned
  const { table, key, current, change } = write
  const sk = sortKey(key)
  // Those of a deleted object leave with its tombstone (clear.ts).
  const entered = change.type === 'put' ? names : []
  const gone = { rv: rev, gone: true, expires: Math.floor(now / 1000) + tombstoneSeconds }
  const row = change.type === 'put' ? { rv: rev, ...planned.row } : gone
  return [
    {
      type: 'put',
      item: { pk: rowsOf(table.resource), sk, ...row },
      when: current ? isLive(current.rv) : isVacant(rev),
    },
    {
      type: 'put',
      item: { ...slotKey(table.resource, rev), ...planned.slot, expires: slotExpiry(now) },
      when: isAbsent,
    },
    ...(change.companions ?? []).map(companionWrite),
    ...partitions.map((one): ItemWrite => ({ type: 'put', item: { pk: rowsOf(table.resource, one), sk, ...row } })),
    ...left.map((one): ItemWrite => ({ type: 'put', item: { pk: rowsOf(table.resource, one), sk, ...gone } })),
    ...entered.map((one): ItemWrite => ({ type: 'put', item: { pk: rowsOf(table.resource, one), sk, rv: rev } })),
    ...marks(planned),
    ...(table.activity && change.type === 'delete'
      ? [{ type: 'delete', key: { pk: activityOf(table.resource), sk } } satisfies ItemWrite]
      : []),
  ]
}

/** Adds a mark in each index partition that the object enters, and deletes it in each one that the object leaves. */
function marks({ write: { table, key, current, change }, partitions, left }: Plan): ItemWrite[] {
  if (!table.counted) return []
  const stored = change.type === 'put' ? change : current && decodeState(current)
  if (stored === undefined || !table.counted(stored)) return []
  const sk = sortKey(key)
  const entered = partitions.filter((one) => !current?.partitions.includes(one))
  return [
    ...entered.map((one): ItemWrite => ({ type: 'put', item: { pk: marksOf(table.resource, one), sk } })),
    ...left.map((gone): ItemWrite => ({ type: 'delete', key: { pk: marksOf(table.resource, gone), sk } })),
  ]
}

function companionWrite(companion: Companion): ItemWrite {
  const { pk, sk } = companion
  if (companion.op === 'absent') return { type: 'check', key: { pk, sk }, when: isAbsent }
  if (companion.op === 'unchanged') {
    const { attributes, lacks } = companion
    return { type: 'check', key: { pk, sk }, when: has(attributes, lacks) }
  }
  const race = companion.when && has(companion.when.attributes ?? {}, companion.when.lacks)
  if (companion.op === 'delete') return { type: 'delete', key: { pk, sk }, when: race }
  const { attributes, ifAbsent } = companion
  const when = ifAbsent ? isAbsent : race
  return companion.op === 'put'
    ? { type: 'put', item: { ...attributes, pk, sk }, when }
    : { type: 'set', key: { pk, sk }, attributes, remove: companion.remove, when }
}

export type CommitOutcome =
  | { type: 'committed' }
  /** Nothing was written, and never will be under this revision. `cause` is the ItemsFault, if any. */
  | { type: 'lost'; companion?: number; cause?: unknown }

/**
 * Sends the transaction under a revision just taken, and not after the deadline. Sends it again under the same revision if
 * other transactions held only companions that it checks, as long as readers wait for the gap. After any answer except
 * success, the slot decides: either it can be voided, and the write never commits, or it has the id of this write.
 */
export async function commitPlan(
  context: Context,
  planned: Plan,
  { n: rev, asOf: taken }: Revision,
  left: Deadline,
): Promise<CommitOutcome> {
  const { items, now, elapsed } = context
  const { resource } = planned.write.table
  const nothing = { done: false, refused: [], conflicts: [] } as const
  let outcome: TransactOutcome = nothing
  let cause: unknown
  const began = elapsed()
  for (let count = 0; ; count++) {
    try {
      const deadline = Math.min(taken + writerDeadline, now() + left())
      outcome = now() > deadline ? nothing : await items.transact(itemWrites(planned, rev, now()), deadline)
    } catch (error) {
      outcome = nothing
      cause = error
    }
    if (outcome.done || !isHeldUp(planned, outcome) || elapsed() - began >= patience) break
    await context.sleep(backoff(count, context.random))
  }
  if (outcome.done) return { type: 'committed' }
  const there = await voidSlot(context, resource, rev, taken).catch((error: unknown) => {
    // There may be no room for the void either. A reader that meets the gap makes it.
    if (isFull(cause)) return undefined
    throw new StorageError('Undecided', 'the outcome of the write is unknown', { cause: error })
  })
  if (there?.id === planned.write.id) return { type: 'committed' }
  if (cause !== undefined && !(cause instanceof ItemsFault)) throw cause
  const companion = outcome.refused.includes(rowIndex) ? undefined : refusedCompanion(planned, outcome.refused)
  return { type: 'lost', ...(companion !== undefined && { companion }), ...(cause !== undefined && { cause }) }
}

/**
 * Reports whether the transaction was cancelled only because others held companions that it does not write. Those need not
 * have changed: DynamoDB may cancel both of two transactions that check the same item.
 */
function isHeldUp({ write }: Plan, { refused, conflicts }: Extract<TransactOutcome, { done: false }>): boolean {
  const isLookedAt = (index: number) => write.change.companions?.[index - companionIndex]?.op === 'unchanged'
  return refused.length === 0 && conflicts.length > 0 && conflicts.every(isLookedAt)
}

/**
 * Returns the index of a companion that refuses the write permanently; undefined if the write has lost a race. A failed `when`
 * is a race, whatever else has failed: the mutation has judged facts that are no longer true.
 */
function refusedCompanion({ write }: Plan, refused: readonly number[]): number | undefined {
  const { companions = [] } = write.change
  const found = refused.map((index) => index - companionIndex).filter((index) => companions[index] !== undefined)
  return found.some((index) => hasRaceCondition(companions[index])) ? undefined : found[0]
}

const hasRaceCondition = (companion: Companion | undefined): boolean =>
  companion !== undefined && 'when' in companion && companion.when !== undefined
