/** Objects as they were at a revision, followed back through the log from rows that have changed since. */
import { holePoll, rewindSlots } from './constants.ts'
import { type Context, tries } from './context.ts'
import { fill, readSlots, type Slots } from './log.ts'
import { isExpired, readSlot, type Slot, type State } from './records.ts'
import { expired } from './revision.ts'

/** A row (or tombstone) that is newer than the revision asked for. */
export interface Newer {
  key: string
  rv: number
}

/** The states at revision `at`, by key; absent where the object did not exist. Throws Expired. */
export async function rewind(
  context: Context,
  resource: string,
  { at, settled, asOf }: { at: number; settled: number; asOf: number },
  rows: readonly Newer[],
): Promise<Map<string, State>> {
  const newest = Math.max(at, ...rows.map(({ rv }) => rv))
  if (newest - at > rewindSlots) throw expired(at)
  const slots = newest > at ? await readSlots(context, resource, [at, newest]) : new Map()
  const past = { context, resource, at, settled, asOf, slots }
  const states = new Map<string, State>()
  for (const { key, rv } of rows) {
    const state = await stateAt(past, key, rv)
    if (state) states.set(key, state)
  }
  return states
}

interface Past {
  context: Context
  resource: string
  at: number
  settled: number
  asOf: number
  slots: Slots
}

async function stateAt(past: Past, key: string, rv: number): Promise<State | undefined> {
  for (let rev = rv; ; ) {
    const { prev } = await slotOf(past, rev)
    if (prev && prev.rv <= past.at) return prev
    const earlier = prev ? prev.rv : await lastChangeBelow(past, key, rev)
    if (earlier === undefined) return undefined
    rev = earlier
  }
}

/** The slot of a revision that some row shows: it is committed, so it shows up soon, unless it has expired. */
async function slotOf({ context, resource, settled, slots }: Past, rev: number): Promise<Slot> {
  const pause = tries(context)
  for (;;) {
    const item = slots.get(rev)
    if (item && !isExpired(item, context.now())) return readSlot(item)
    if (item || rev <= settled) throw expired(rev)
    await pause()
    await context.sleep(holePoll)
    for (const [found, again] of await readSlots(context, resource, [rev - 1, rev])) slots.set(found, again)
  }
}

/** Of a name that was created anew: its newest change between `at` and this creation, for which nothing may be missing. */
async function lastChangeBelow(past: Past, key: string, rev: number): Promise<number | undefined> {
  const { context, resource, at, settled, asOf, slots } = past
  const open = Math.max(at, settled)
  if (open < rev - 1 && hasHole(slots, open, rev - 1)) {
    const filled = await fill(context, resource, { lo: open, hi: rev - 1, must: rev - 1, asOf })
    for (const [one, item] of filled.slots) slots.set(one, item)
  }
  for (let one = rev - 1; one > at; one--) {
    const slot = await slotOf(past, one)
    if (slot.type !== 'VOID' && slot.key === key) return one
  }
  return undefined
}

function hasHole(slots: Slots, lo: number, hi: number): boolean {
  for (let rev = lo + 1; rev <= hi; rev++) if (!slots.has(rev)) return true
  return false
}
