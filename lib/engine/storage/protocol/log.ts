/**
 * Reads and fills the log, which has one write-once slot per revision. A slot is put only if it does not exist, so a commit
 * and a void of the same revision exclude each other. A writer in doubt voids its slot and so learns the outcome.
 */

import { setBounded } from '../../meta/value/bounded.ts'
import { StorageError } from '../errors.ts'
import { type Item, ItemsFault } from '../items.ts'
import { bucketEnd, revOf, slotKey } from '../keys.ts'
import { isAbsent } from '../records.ts'
import { gapPoll, logSeconds, patience, stale } from './constants.ts'
import { type Context, createPause } from './context.ts'

/** Slots by revision. */
export type Slots = Map<number, Item>

/** The number of log partitions that are read in parallel. */
const parallel = 8

/** Returns when a slot that is written now expires, in unix seconds. */
export const slotExpiry = (now: number): number => Math.floor(now / 1000) + logSeconds

/** Reads the visible slots in (lo, hi], including expired ones. */
export async function readSlots(
  { items }: Context,
  resource: string,
  [lo, hi]: readonly [lo: number, hi: number],
  attributes?: readonly string[],
): Promise<Slots> {
  const found: Slots = new Map()
  async function readBucket(from: number, to: number): Promise<void> {
    const last = slotKey(resource, to).sk
    for (let rev = from; rev <= to; ) {
      const { pk, sk } = slotKey(resource, rev)
      const page = await items.query({ pk, from: sk, to: last, ...(attributes && { attributes }) })
      for (const item of page.items) found.set(revOf(item), item)
      const end = page.items.at(-1)
      if (!page.more || end === undefined) return
      rev = revOf(end) + 1
    }
  }
  const ranges: [number, number][] = []
  for (let from = lo + 1; from <= hi; from = bucketEnd(from) + 1) ranges.push([from, Math.min(hi, bucketEnd(from))])
  for (let index = 0; index < ranges.length; index += parallel) {
    await Promise.all(ranges.slice(index, index + parallel).map(([from, to]) => readBucket(from, to)))
  }
  return found
}

/**
 * Voids the slot if it is empty. Returns undefined if this call has voided it, else the item in the slot. Retries while a
 * transaction holds the slot, and after an unanswered put. `asOf` (unix ms) is a time at which the slot cannot have expired
 * yet. Hours later an empty slot proves nothing, and the call throws Unavailable.
 */
export async function voidSlot(
  context: Context,
  resource: string,
  rev: number,
  asOf: number,
): Promise<Item | undefined> {
  const { items, now } = context
  const deadline = asOf + stale
  for (const pause = createPause(context); ; ) {
    if (now() > deadline) throw new StorageError('Unavailable', 'the slot may have expired')
    try {
      const put = { type: 'put', item: voidItem(resource, rev, now()), when: isAbsent } as const
      const outcome = await items.write(put, deadline)
      return outcome.done ? undefined : outcome.there
    } catch (error) {
      if (!(error instanceof ItemsFault)) throw error
      await pause(error)
    }
  }
}

const voidItem = (resource: string, rev: number, now: number): Item => ({
  ...slotKey(resource, rev),
  type: 'VOID',
  expires: slotExpiry(now),
})

const gapId = (resource: string, rev: number): string => `${resource}#${rev}`

/** The most gaps to remember; the oldest ones are forgotten first. */
const rememberedGaps = 1024

/** Reports whether this gap was first seen longer than `patience` ago. Records the first sight. */
function isOverdue({ gaps, elapsed }: Context, resource: string, rev: number): boolean {
  const id = gapId(resource, rev)
  const first = gaps.get(id)
  if (first !== undefined) return elapsed() - first >= patience
  setBounded(gaps, id, elapsed(), rememberedGaps)
  return false
}

/** Revisions in (lo, hi]. At `asOf` (unix ms), `lo` was settled. */
export interface LogRange {
  lo: number
  hi: number
  /** The revision up to which every gap is closed, even if no slot above it is filled. */
  must?: number
  asOf: number
  attributes?: readonly string[]
}

/**
 * Reads (lo, hi] and waits until no gap remains below the highest filled slot or up to `must`. Voids gaps that outlast
 * `patience`. `lo` is never below `settled`: a slot missing there has expired and is not a gap. Gaps above the highest
 * filled slot do not matter, because no write there has been acknowledged.
 */
export async function fillGaps(
  context: Context,
  resource: string,
  { lo, hi, must = lo, asOf, attributes }: LogRange,
): Promise<{ slots: Slots; top: number }> {
  const slots = await readSlots(context, resource, [lo, hi], attributes)
  const top = Math.max(highestRevision(slots, lo), must)
  for (;;) {
    await closeOverdue(context, resource, slots, { lo, hi: top, asOf })
    const gaps = missing(slots, lo, top).map((rev) => slotKey(resource, rev))
    if (gaps.length === 0) return { slots, top }
    await context.sleep(gapPoll)
    for (const item of await context.items.batchGet(gaps, attributes)) slots.set(revOf(item), item)
  }
}

/** Voids the gaps that were first seen longer than `patience` ago, and adds the resulting items to `slots`. */
export async function closeOverdue(
  context: Context,
  resource: string,
  slots: Slots,
  { lo, hi, asOf }: LogRange,
): Promise<void> {
  const overdue = missing(slots, lo, hi).filter((rev) => isOverdue(context, resource, rev))
  await Promise.all(
    overdue.map(async (rev) => {
      const there = await voidSlot(context, resource, rev, asOf)
      slots.set(rev, there ?? voidItem(resource, rev, context.now()))
      context.gaps.delete(gapId(resource, rev))
    }),
  )
}

/** Returns the highest filled slot, or `lo` without one. */
export const highestRevision = (slots: Slots, lo: number): number =>
  slots.keys().reduce((one, other) => Math.max(one, other), lo)

/** Returns the revisions in (lo, hi] that the map does not have. */
export function missing(slots: Pick<Slots, 'has'>, lo: number, hi: number): number[] {
  const gaps: number[] = []
  for (let rev = lo + 1; rev <= hi; rev++) if (!slots.has(rev)) gaps.push(rev)
  return gaps
}
