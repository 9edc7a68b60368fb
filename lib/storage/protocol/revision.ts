/** The revision item of a kind: which revision is next, and up to where everything is decided and visible. */

import { StorageError } from '../errors.ts'
import type { Item } from '../items.ts'
import { type ItemKey, revisionKey, rowsOf, sortKey } from '../keys.ts'
import { gapPoll, patience, settleAhead, settleBehind, settleEvery, stale } from './constants.ts'
import { type Context, tries } from './context.ts'
import { fill, readSlots } from './log.ts'
import { readSlot, rvOf, type Slot } from './records.ts'

export interface Revision {
  /** The newest revision handed out. */
  n: number
  /** Every slot up to here is filled and its row visible. */
  settled: number
  /** Nobody may ask for less. */
  floor: number
  /** Unix ms, when `settled` last reached the `n` of its moment. */
  at: number
  /** Unix ms by this clock, before all this was read. */
  asOf: number
}

/** The first write gets 2, so that an empty list says "1": clients take "0" for "any". */
const first = 1

function revisionOf(item: Item, asOf: number): Revision {
  const { n, settled, floor, at } = item
  if (typeof n !== 'number' || typeof settled !== 'number' || typeof floor !== 'number' || typeof at !== 'number') {
    throw new Error(`the revision item of ${item.pk} is not readable`)
  }
  return { n, settled, floor, at, asOf }
}

/** Takes the next revision. An answer that is lost leaves a slot that readers void. */
export async function allocate({ items, now }: Context, resource: string): Promise<Revision> {
  const asOf = now()
  return revisionOf(await items.allocate(revisionKey(resource), asOf), asOf)
}

async function read({ items, now }: Context, resource: string): Promise<Revision | undefined> {
  const asOf = now()
  const item = await items.get(revisionKey(resource))
  return item && revisionOf(item, asOf)
}

/**
 * Where the kind stands. Where nothing has settled for so long that slots above `settled` might have expired, settles
 * first: that raises the floor, and who asks for less is told so instead of missing changes.
 */
export async function state(context: Context, resource: string): Promise<Revision> {
  const pause = tries(context)
  for (;;) {
    const asOf = context.now()
    const revision = await read(context, resource)
    if (revision === undefined) return { n: first, settled: first, floor: first, at: asOf, asOf }
    if (asOf - revision.at <= stale) return revision
    await sweep(context, resource)
    await pause()
  }
}

/** What of a slot settling looks at. */
const outline = ['pk', 'sk', 'type', 'key', 'partitions', 'left'] as const

/** The rows that slots are about, with the newest revision of each and whether its absence would be right. */
interface Expected {
  key: ItemKey
  rev: number
  absent: boolean
}

/** Rows and copies that a slot wrote. */
function written(resource: string, { rev, type, key, partitions, left }: Slot): Expected[] {
  if (type === 'VOID') return []
  const sk = sortKey(key)
  const one = (absent: boolean) => (partition?: string) => ({
    key: { pk: rowsOf(resource, partition), sk },
    rev,
    absent,
  })
  return [one(type === 'DELETED')(), ...partitions.map(one(false)), ...left.map(one(true))]
}

/** Whether every row is visible at its newest revision or later. A transaction may be seen half: slot first, row later. */
async function areVisible({ items }: Context, expected: ReadonlyMap<string, Expected>): Promise<boolean> {
  const rows = new Map<string, Item>()
  const keys = [...expected.values()].map(({ key }) => key)
  for (const row of await items.batchGet(keys, ['pk', 'sk', 'rv'])) rows.set(idOf(row), row)
  return [...expected].every(([id, { rev, absent }]) => {
    const row = rows.get(id)
    return row === undefined ? absent : rvOf(row) >= rev
  })
}

const idOf = ({ pk, sk }: ItemKey): string => `${pk}\n${sk}`

/** Adds what a slot wrote to what is expected; later slots replace earlier ones. */
function expect(expected: Map<string, Expected>, resource: string, slot: Slot): void {
  for (const one of written(resource, slot)) expected.set(idOf(one.key), one)
}

/**
 * A writer's share of settling, after its commit; a failure is nobody's. Moves `settled` over the filled slots that
 * follow it without a gap, as far as one request can check their rows. `at` is left to `sweep`, which closes gaps.
 */
export async function settle(context: Context, resource: string, { n, settled }: Revision): Promise<void> {
  if (n % settleEvery !== 0 || n - settled < settleBehind) return
  const slots = await readSlots(context, resource, [settled, Math.min(settled + settleAhead, n)], outline)
  const expected = new Map<string, Expected>()
  let to = settled
  for (let item = slots.get(to + 1); item; item = slots.get(to + 1)) {
    const slot = readSlot(item)
    const rows = written(resource, slot)
    if (expected.size + rows.length > settleAhead) break
    expect(expected, resource, slot)
    to++
  }
  if (to > settled && (await areVisible(context, expected))) {
    await context.items.settle(revisionKey(resource), to)
  }
}

/**
 * Closes every gap and settles everything: run every minute, and by readers that find nobody did for hours. Any number
 * may run at once. Gives up silently where rows stay invisible; the next run continues. Writers may settle further
 * meanwhile: `at` moves by itself, since it only says that `settled` has passed the `n` of that moment.
 */
export async function sweep(context: Context, resource: string): Promise<void> {
  const revision = await read(context, resource)
  if (revision === undefined) return
  const { n, settled, at, asOf } = revision
  const { slots } = await fill(context, resource, { lo: settled, hi: n, must: n, asOf, attributes: outline })
  const expected = new Map<string, Expected>()
  for (let rev = settled + 1; rev <= n; rev++) {
    const item = slots.get(rev)
    if (item) expect(expected, resource, readSlot(item))
  }
  for (const since = context.elapsed(); !(await areVisible(context, expected)); ) {
    if (context.elapsed() - since > patience) return
    await context.sleep(gapPoll)
  }
  if (settled < n) await context.items.settle(revisionKey(resource), n)
  const isFloor = asOf - at > stale
  await context.items.confirm(revisionKey(resource), { n, was: at, at: asOf, isFloor })
}

/** Refuses what can never be answered. `TooNew`'s message is the revision that was asked for. */
export function demandReachable({ n, floor }: Revision, rv: number): void {
  if (rv > n) throw tooNew(rv, n)
  if (rv < floor) throw expired(floor)
}

/** The same for one that may be as old as it likes, with one read. */
export async function demandReached(context: Context, resource: string, rv: number): Promise<void> {
  const { n } = (await read(context, resource)) ?? { n: first }
  if (rv > n) throw tooNew(rv, n)
}

const tooNew = (rv: number, current: number): StorageError => new StorageError('TooNew', String(rv), { current })

/** What took hours is worth nothing: what it was told first has expired meanwhile. */
export function demandFresh({ now }: Context, { n, asOf }: Revision): void {
  if (now() - asOf > stale) throw expired(n)
}

/** The log no longer reaches back; `current` is a revision that it has lost or is about to lose. */
export const expired = (current: number): StorageError =>
  new StorageError('Expired', 'the log no longer reaches back to the revision', { current })
