/** Manages the revision item of a kind: takes revisions, settles the log and sweeps it. */

import { StorageError } from '../errors.ts'
import type { Condition, Item } from '../items.ts'
import { type ItemKey, revisionKey, rowsOf, sortKey } from '../keys.ts'
import { readSlot, rvOf, type Slot } from '../records.ts'
import { clearAfter, gapPoll, patience, scanTime, settleAhead, settleBehind, settleEvery, stale } from './constants.ts'
import { type Context, createPause, endless, untilAnswered } from './context.ts'
import { fillGaps, readSlots } from './log.ts'

export interface Revision {
  /** The newest revision taken. */
  n: number
  /** Every slot up to this revision is filled, and its row is visible. */
  settled: number
  /** The oldest revision that a reader may request. */
  floor: number
  /** The start of the last sweep whose `n` `settled` has reached, in unix ms. */
  at: number
  /** The rows have no tombstones up to this revision. */
  cleared: number
  /** The next sweep clears those up to this one, which was settled at `markedAt` (unix ms). */
  marked: number
  markedAt: number
  /** The local time just before the item was read, in unix ms. */
  asOf: number
}

/** The first write gets 2, so that an empty list has "1": for clients, "0" means any revision. */
const firstRevision = 1

function revisionOf(item: Item, asOf: number): Revision {
  const { n, settled, floor, at, cleared = firstRevision, marked = firstRevision, markedAt = 0 } = item
  if (typeof n !== 'number' || typeof settled !== 'number' || typeof floor !== 'number' || typeof at !== 'number') {
    throw new Error(`the revision item of ${item.pk} is not readable`)
  }
  return { n, settled, floor, at, cleared: Number(cleared), marked: Number(marked), markedAt: Number(markedAt), asOf }
}

/** Returns the revision of a kind without objects. */
const unwritten = (asOf: number): Revision => ({
  ...{ n: firstRevision, settled: firstRevision, floor: firstRevision, at: asOf },
  ...{ cleared: firstRevision, marked: firstRevision, markedAt: asOf, asOf },
})

/** Takes the next revision. If the answer is lost, readers void the slot. */
export async function takeRevision({ items, now }: Context, resource: string): Promise<Revision> {
  const asOf = now()
  return revisionOf(await items.allocate(revisionKey(resource), asOf), asOf)
}

async function read({ items, now }: Context, resource: string, isRecent = false): Promise<Revision | undefined> {
  const asOf = now()
  const item = await items.get(revisionKey(resource), isRecent)
  return item && revisionOf(item, asOf)
}

/**
 * Returns the revision item of a kind. Sweeps first if slots above `settled` might have expired: that raises the floor, so
 * that a reader who requests an older revision gets Expired instead of missing changes.
 */
export async function readRevision(context: Context, resource: string): Promise<Revision> {
  const pause = createPause(context)
  for (;;) {
    const asOf = context.now()
    const revision = await read(context, resource)
    if (revision === undefined) return unwritten(asOf)
    if (asOf - revision.at <= stale) return revision
    await sweepLog(context, resource)
    await pause()
  }
}

/**
 * Returns the revision item for a poll after revision `since`, possibly as it was earlier, for half the price. An earlier item
 * misleads nobody: slots above its `settled` are as young as those above a later one. It may only lack the newest revisions,
 * and the next poll finds them. If it lacks `since` itself, the item is read again, because `since` may be a future revision.
 */
export async function readRecentRevision(context: Context, resource: string, since: number): Promise<Revision> {
  const recent = await read(context, resource, true)
  const isUsable = recent !== undefined && recent.n >= since && recent.asOf - recent.at <= stale
  return isUsable ? recent : readRevision(context, resource)
}

/** The attributes of a slot that settling reads. */
export const outline = ['pk', 'sk', 'type', 'key', 'partitions', 'left', 'names', 'expires'] as const

/** A row that slots have written, its newest revision, and whether it may be absent. */
export interface ExpectedRow {
  key: ItemKey
  rev: number
  absent: boolean
}

/** Returns the rows, copies and entries that a slot wrote. */
function writtenRows(resource: string, { rev, type, key, partitions, left, names }: Slot): ExpectedRow[] {
  if (type === 'VOID') return []
  const sk = sortKey(key)
  const one = (absent: boolean) => (partition?: string) => ({
    key: { pk: rowsOf(resource, partition), sk },
    rev,
    absent,
  })
  const entered = type === 'ADDED' ? names : []
  const rows = [one(type === 'DELETED')(), ...partitions.map(one(false)), ...left.map(one(true))]
  return [...rows, ...entered.map(one(false))]
}

/** Reports whether every row is visible at its newest revision or later. A slot may be visible before its row. */
async function areVisible({ items }: Context, expected: ReadonlyMap<string, ExpectedRow>): Promise<boolean> {
  const rows = new Map<string, Item>()
  const keys = [...expected.values()].map(({ key }) => key)
  for (const row of await items.batchGet(keys, ['pk', 'sk', 'rv'])) rows.set(itemId(row), row)
  return [...expected].every(([id, { rev, absent }]) => {
    const row = rows.get(id)
    return row === undefined ? absent : rvOf(row) >= rev
  })
}

const itemId = ({ pk, sk }: ItemKey): string => `${pk}\n${sk}`

/** Adds the rows of a slot to the expected ones; later slots replace earlier ones. */
export function expectRows(expected: Map<string, ExpectedRow>, resource: string, slot: Slot): void {
  for (const one of writtenRows(resource, slot)) expected.set(itemId(one.key), one)
}

/** Sets attributes of the revision item, whenever the request arrives: the condition fails if the item has gone further. */
const advance = (
  context: Context,
  resource: string,
  attributes: Record<string, number>,
  when: Condition,
): Promise<boolean> =>
  untilAnswered(context, endless, async () => {
    const { done } = await context.items.write(
      { type: 'set', key: revisionKey(resource), attributes, when },
      Number.POSITIVE_INFINITY,
    )
    return done
  })

const settle = (context: Context, resource: string, to: number): Promise<boolean> =>
  advance(context, resource, { settled: to }, { pk: 'present', settled: { below: to } })

/**
 * Settles after a commit; the writer ignores failures. Advances `settled` over the filled slots that follow it without a
 * gap, as far as one request can check their rows. Only `sweepLog` advances `at`, because only it closes gaps.
 */
export async function settleAfterWrite(context: Context, resource: string, { n, settled }: Revision): Promise<void> {
  if (n % settleEvery !== 0 || n - settled < settleBehind) return
  const slots = await readSlots(context, resource, [settled, Math.min(settled + settleAhead, n)], outline)
  const expected = new Map<string, ExpectedRow>()
  let to = settled
  for (let item = slots.get(to + 1); item; item = slots.get(to + 1)) {
    const slot = readSlot(item)
    const rows = writtenRows(resource, slot)
    if (expected.size + rows.length > settleAhead) break
    expectRows(expected, resource, slot)
    to++
  }
  if (to > settled && (await areVisible(context, expected))) {
    await settle(context, resource, to)
  }
}

/**
 * Closes every gap and settles everything. Runs every minute, and in a reader that finds that no sweep has run for hours. `clear` may
 * clear the tombstones that an earlier sweep has marked, and returns how far it came. Concurrent sweeps are safe. Gives up silently if rows stay invisible; the next sweep continues. Writers may settle
 * further in the meantime: `at` only records that `settled` has reached the `n` of this sweep.
 */
export async function sweepLog(
  context: Context,
  resource: string,
  clear?: (revision: Revision) => Promise<number>,
): Promise<void> {
  const revision = await read(context, resource)
  if (revision === undefined) return
  const { n, settled, at, asOf } = revision
  const { slots } = await fillGaps(context, resource, { lo: settled, hi: n, must: n, asOf, attributes: outline })
  const expected = new Map<string, ExpectedRow>()
  for (let rev = settled + 1; rev <= n; rev++) {
    const item = slots.get(rev)
    if (item) expectRows(expected, resource, readSlot(item))
  }
  for (const since = context.elapsed(); !(await areVisible(context, expected)); ) {
    if (context.elapsed() - since > patience) return
    await context.sleep(gapPoll)
  }
  if (settled < n) await settle(context, resource, n)
  const isFloor = asOf - at > stale
  const also = clear && asOf - revision.markedAt >= clearAfter ? await clearMarked(revision, clear) : {}
  const attributes = { at: asOf, ...(isFloor && { floor: n }), ...also }
  await advance(context, resource, attributes, { settled: { from: n }, at: { is: at } })
}

/** Clears what is marked. If nothing is left of it, marks what this sweep has settled. */
async function clearMarked(revision: Revision, clear: (revision: Revision) => Promise<number>) {
  const { n, asOf, marked } = revision
  const cleared = await clear(revision)
  return { cleared, ...(cleared >= marked && { marked: n, markedAt: asOf }) }
}

/** Throws TooNew or Expired if the revision cannot be read. The message of TooNew is the requested revision. */
export function checkReachable({ n, floor }: Revision, rv: number): void {
  if (rv > n) throw tooNew(rv, n)
  if (rv < floor) throw expiredError(floor)
}

/** Throws TooNew if the revision does not exist; allows any age. Takes one read. */
export async function checkReached(context: Context, resource: string, rv: number): Promise<void> {
  const { n } = (await read(context, resource)) ?? { n: firstRevision }
  if (rv > n) throw tooNew(rv, n)
}

const tooNew = (rv: number, current: number): StorageError => new StorageError('TooNew', String(rv), { current })

/** Throws Unavailable if a page has read for so long that tombstones may have left the rows since it began. */
export function checkScanned({ now }: Context, { asOf }: Revision): void {
  if (now() - asOf > scanTime) throw new StorageError('Unavailable', 'a page of a list has taken too long')
}

/** Throws Expired if the operation has taken hours: what it read first may have expired. */
export function checkFresh({ now }: Context, { n, asOf }: Revision): void {
  if (now() - asOf > stale) throw expiredError(n)
}

/** Returns the error that the log no longer reaches back. `current` is a revision that has expired or is about to. */
export const expiredError = (current: number): StorageError =>
  new StorageError('Expired', 'the log no longer reaches back to the revision', { current })
