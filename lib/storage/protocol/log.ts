/**
 * The log: one write-once slot per revision. A slot is only ever put where there is none, so a commit and a void of the
 * same revision exclude each other whichever comes first, and who is in doubt voids the slot and so learns the truth.
 */

import { StorageError } from '../errors.ts'
import { Fault, type Item } from '../items.ts'
import { bucketEnd, revOf, slotKey } from '../keys.ts'
import { gapPoll, logSeconds, patience, stale } from './constants.ts'
import { type Context, tries } from './context.ts'

/** Slots by revision, as they were found. */
export type Slots = Map<number, Item>

/** Log partitions that are read at once. */
const parallel = 8

/** When a slot written now expires, in unix seconds. */
export const slotExpiry = (now: number): number => Math.floor(now / 1000) + logSeconds

/** The slots in (lo, hi] that are visible, expired ones too. */
export async function readSlots(
  { items }: Context,
  resource: string,
  [lo, hi]: readonly [lo: number, hi: number],
  attributes?: readonly string[],
): Promise<Slots> {
  const found: Slots = new Map()
  async function readBucket(from: number, to: number): Promise<void> {
    const { pk, sk } = slotKey(resource, from)
    const last = slotKey(resource, to).sk
    let page = await items.query({ pk, from: sk, to: last, ...(attributes && { attributes }) })
    for (;;) {
      for (const item of page.items) found.set(revOf(item), item)
      const end = page.items.at(-1)
      if (!page.more || end === undefined || revOf(end) >= to) return
      const next = slotKey(resource, revOf(end) + 1).sk
      page = await items.query({ pk, from: next, to: last, ...(attributes && { attributes }) })
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
 * Makes sure that the slot is filled, by VOID if by nobody else: undefined when it is VOID by this call, else what is
 * there. A transaction may hold the slot for a moment, and an unanswered put is put again. `asOf` is when the revision
 * was known to be undecided or unexpired (unix ms): after hours an empty slot proves nothing, and it is Unavailable.
 */
export async function voidSlot(
  context: Context,
  resource: string,
  rev: number,
  asOf: number,
): Promise<Item | undefined> {
  const { items, now } = context
  const deadline = asOf + stale
  for (const pause = tries(context); ; ) {
    if (now() > deadline) throw new StorageError('Unavailable', 'the slot may have expired')
    try {
      return await items.putIfAbsent(voidItem(resource, rev, now()), deadline)
    } catch (error) {
      if (!(error instanceof Fault)) throw error
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

/** The gaps remembered at most: of gaps that nobody came back to, the oldest are forgotten. */
const rememberedGaps = 1024

/** Whether this gap has been seen for longer than patience. The first sight is remembered. */
function isOverdue({ gaps, elapsed }: Context, resource: string, rev: number): boolean {
  const id = gapId(resource, rev)
  const first = gaps.get(id)
  if (first !== undefined) return elapsed() - first >= patience
  const oldest = gaps.size >= rememberedGaps ? gaps.keys().next().value : undefined
  if (oldest !== undefined) gaps.delete(oldest)
  gaps.set(id, elapsed())
  return false
}

/** Revisions in (lo, hi]; `asOf` is when `lo` was known to be settled, unix ms. */
export interface Stretch {
  lo: number
  hi: number
  /** Up to here no gap is left, whatever is filled above it. */
  must?: number
  asOf: number
  attributes?: readonly string[]
}

/**
 * Reads (lo, hi] and waits until there is no gap below its highest filled slot, nor up to `must`; gaps that last are
 * voided. `lo` is never below `settled`: what is missing there has expired and must not be taken for a gap. Gaps
 * above the highest filled slot concern nobody, since nothing above them has been acknowledged.
 */
export async function fill(
  context: Context,
  resource: string,
  { lo, hi, must = lo, asOf, attributes }: Stretch,
): Promise<{ slots: Slots; top: number }> {
  const slots = await readSlots(context, resource, [lo, hi], attributes)
  const top = Math.max(highest(slots, lo), must)
  for (;;) {
    await closeOverdue(context, resource, slots, { lo, hi: top, asOf })
    const [first] = missing(slots, lo, top)
    if (first === undefined) return { slots, top }
    await context.sleep(gapPoll)
    for (const [rev, item] of await readSlots(context, resource, [first - 1, top], attributes)) slots.set(rev, item)
  }
}

/** Voids the gaps that have been seen for longer than patience, and notes what is in them then. */
export async function closeOverdue(
  context: Context,
  resource: string,
  slots: Slots,
  { lo, hi, asOf }: Stretch,
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

/** The highest filled slot; `lo` where there is none. */
export const highest = (slots: Slots, lo: number): number =>
  slots.keys().reduce((one, other) => Math.max(one, other), lo)

function missing(slots: Slots, lo: number, hi: number): number[] {
  const gaps: number[] = []
  for (let rev = lo + 1; rev <= hi; rev++) if (!slots.has(rev)) gaps.push(rev)
  return gaps
}
