/** Finds the states of objects at an earlier revision, by following the log back from rows that have changed since. */

import { bucketSize } from '../keys.ts'
import { isExpired, readSlot, type Slot, type State } from '../records.ts'
import { gapPoll, rewindSlots } from './constants.ts'
import { type Context, createPause } from './context.ts'
import { fillGaps, missing, readSlots, type Slots } from './log.ts'
import { expiredError } from './revision.ts'

/** An object at an earlier revision. */
export interface Was {
  state: State
  /** The state in which it was deleted since, if it was. An object that has its name now is another one. */
  last: State | undefined
}

/**
 * Returns the objects at revision `at`, by key, without those that did not exist. `rows` are rows and tombstones that are newer.
 * Throws Expired.
 */
export async function rewind(
  context: Context,
  resource: string,
  { at, settled, asOf }: { at: number; settled: number; asOf: number },
  rows: readonly Pick<State, 'key' | 'rv'>[],
): Promise<Map<string, Was>> {
  const newest = Math.max(at, ...rows.map(({ rv }) => rv))
  if (newest - at > rewindSlots) throw expiredError(at)
  const keys = new Set(rows.map(({ key }) => key))
  const past: Past = { context, resource, at, settled, asOf, links: new Map(), ends: new Map(), keys }
  for (let rev = at; rev < newest; rev += stretch) {
    keep(past, await readSlots(context, resource, [rev, Math.min(newest, rev + stretch)], linking))
  }
  const found = new Map<string, Was>()
  for (const { key, rv } of rows) {
    const state = await stateAt(past, key, rv)
    if (state) found.set(key, { state, last: past.ends.get(key)?.state })
  }
  return found
}

/** The part of a slot that a rewind keeps: the previous revision, and its state only if that may be needed. */
interface Link extends Pick<Slot, 'type' | 'key' | 'expires'> {
  /** The revision of the previous state. */
  before: number | undefined
  /** The previous state, if it is the one at the requested revision. */
  prev: State | undefined
}

interface Past {
  context: Context
  resource: string
  at: number
  settled: number
  asOf: number
  links: Map<number, Link>
  /** The first deletion of each of these objects after `at`, and the last state before it. */
  ends: Map<string, { rev: number; state: State }>
  /** The keys of the objects to rewind. */
  keys: ReadonlySet<string>
}

/** The number of slots per read: with the largest objects, they take some 50 MB. */
const stretch = 4 * bucketSize
/** The attributes of a link: a rewind needs the previous state of a slot, not its own. */
const linking = ['sk', 'type', 'key', 'prev', 'expires']

function keep({ at, keys, links, ends }: Past, slots: Slots): void {
  for (const [rev, item] of slots) {
    const { type, key, prev, expires } = readSlot(item)
    const isWanted = prev !== undefined && prev.rv <= at && keys.has(key)
    links.set(rev, { type, key, expires, before: prev?.rv, prev: isWanted ? prev : undefined })
    const isFirst = rev > at && rev < (ends.get(key)?.rev ?? Number.POSITIVE_INFINITY)
    if (type === 'DELETED' && prev && isFirst && keys.has(key)) ends.set(key, { rev, state: prev })
  }
}

async function stateAt(past: Past, key: string, rv: number): Promise<State | undefined> {
  for (let rev = rv; ; ) {
    const { prev, before } = await linkOf(past, rev)
    if (prev) return prev
    const earlier = before ?? (await lastChangeBelow(past, key, rev))
    if (earlier === undefined) return undefined
    rev = earlier
  }
}

/** Returns the slot of a revision that a row has. It is committed, so it appears soon, unless it has expired: throws Expired. */
async function linkOf(past: Past, rev: number): Promise<Link> {
  const { context, resource, settled, links } = past
  const pause = createPause(context)
  for (;;) {
    const link = links.get(rev)
    if (link && !isExpired(link, context.now())) return link
    if (link || rev <= settled) throw expiredError(rev)
    await pause()
    await context.sleep(gapPoll)
    keep(past, await readSlots(context, resource, [rev - 1, rev], linking))
  }
}

/** Returns the newest change of a recreated name between `at` and its creation at `rev`. Closes all gaps in that range. */
async function lastChangeBelow(past: Past, key: string, rev: number): Promise<number | undefined> {
  const { context, resource, at, settled, asOf, links } = past
  const open = Math.max(at, settled)
  if (missing(links, open, rev - 1).length > 0) {
    const { slots } = await fillGaps(context, resource, {
      lo: open,
      hi: rev - 1,
      must: rev - 1,
      asOf,
      attributes: linking,
    })
    keep(past, slots)
  }
  for (let one = rev - 1; one > at; one--) {
    const link = await linkOf(past, one)
    if (link.type !== 'VOID' && link.key === key) return one
  }
  return undefined
}
