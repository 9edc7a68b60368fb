/**
 * Lists at exactly one revision. Reads the current rows in parallel with the log. Then overlays log entries that the rows
 * may not show yet, and rewinds rows that have changed since the revision.
 */

import { byBytes } from '../../meta/value/byteorder.ts'
import { defined } from '../../meta/value/defined.ts'
import { readInternal, readObject } from '../body.ts'
import type { Listed, ListPage, ListRequest, Stored, Table } from '../interface.ts'
import { type Item, type ItemQuery, isOutline, type Limits, type Outline } from '../items.ts'
import { isPartition, isStorable, namespacePrefix, parseSortKey, rowsOf, slotKey, sortKey } from '../keys.ts'
import { decodeState, isExpired, readSlot, rowBytes, rowState, rvOf, type Slot, type State } from '../records.ts'
import { activityOfPage } from './activity.ts'
import { removedSince } from './clear.ts'
import { countedRows, keptBytes, pageBytes, rewindSlots } from './constants.ts'
import type { Context } from './context.ts'
import { readLatest } from './latest.ts'
import { fillGaps, type Slots } from './log.ts'
import { checkFresh, checkReachable, checkScanned, expiredError, type Revision, readRevision } from './revision.ts'
import { rewind } from './rewind.ts'
import { type Horizon, isWithin, type Step, scan, scanNamed } from './scan.ts'

/** The revision of a list, and the log entries that rows may not show yet: the newest one of each key, by sort key. */
interface Snapshot {
  rv: number
  settled: number
  asOf: number
  overlay: ReadonlyMap<string, Slot>
  /** The revisions, by sort key, of objects whose tombstones may have left the rows. */
  removed: ReadonlyMap<string, number>
}

/** The range of a list: keys with a prefix after `start`, or one key, in these partitions (undefined: the rows). */
interface Range {
  resource: string
  start: string
  /** That of the namespace, then of the names. */
  prefix: string
  only: string | undefined
  /** The index partition of names that has all that are asked for. */
  named: string | undefined
  partitions: readonly (string | undefined)[]
  /** Whether a filter may accept objects of other partitions too. */
  isPart: boolean
}

/** The fewest rows per read once a page needs more rows than its limit. */
const smallestStep = 50

/**
 * Returns how many rows to read next, of which `read` have been read and `found` have been objects of the page: as many as the missing
 * ones need at this rate, and as many again as long as nothing is found.
 */
function nextStep({ wanted, found, read, most }: Record<'wanted' | 'found' | 'read' | 'most', number>): number {
  const expected = found === 0 ? read : Math.ceil(((wanted - found) * read) / found)
  return Math.min(Math.max(expected, smallestStep), most)
}

export async function listAt(context: Context, table: Table, request: ListRequest): Promise<ListPage> {
  const { resource } = table
  const { limit, at, notOlderThan, filter, matches, keepsNext = false } = request
  // A filter needs every object.
  const text = filter ? undefined : request.text
  const revision = await readRevision(context, resource)
  checkReachable(revision, at ?? Math.max(notOlderThan ?? 0, revision.floor))
  if (at !== undefined && revision.n - at > rewindSlots) throw expiredError(at)
  const range = rangeOf(context.items.limits, resource, request)
  const { named } = range
  const isMember = named === undefined ? undefined : (one: Stored) => table.names?.(one).includes(named) === true
  const covered = coveredBy(range)
  // Rows that are settled and not newer than the list: neither the overlay nor the rewind looks at them.
  const unneeded = { upTo: Math.min(at ?? revision.settled, revision.settled), text }
  const queries = range.partitions.map((one) => ({ pk: rowsOf(resource, one), ...covered, unneeded }))
  const rows =
    named === undefined
      ? scan(context, queries)
      : scanNamed(context, rowsOf(resource), { pk: rowsOf(resource, named), ...covered, attributes: ['sk'] })
  // The keys of an empty range may be too long for the table.
  const isScattered =
    named !== undefined ||
    (!range.partitions.includes(undefined) && (range.partitions.length === 0 || range.only === undefined))
  const activity = activityOfPage(context, table, { covered, isScattered })
  const wanted = limit === undefined ? undefined : limit + 1
  const isCounted = limit !== undefined && !filter && !matches && !isMember
  const [snapshot, first] = await Promise.all([
    takeSnapshot(context, resource, revision, at, notOlderThan),
    rows.next(wanted && isCounted ? wanted + countedRows : wanted),
    activity.prefetch(wanted),
  ])
  /** Returns how many objects follow, of which `count` were read with this step; undefined if they are more than a page reads. */
  async function remainingAfter(count: number, { horizon, done }: Step): Promise<number | undefined> {
    if (count > countedRows) return undefined
    if (done) return count
    if (!context.items.isUnmetered) return undefined
    const more = await rows.next(countedRows + 1)
    const { length } = await objectsAt(context, range, snapshot, { ...more, from: horizon })
    return remainingAfter(count + length, more)
  }
  const items: Listed[] = []
  /** The sort key of the last object read that may be `next`, and the stored bytes of all such objects. */
  let next: string | undefined
  let bytes = 0
  let from: Horizon = range.start
  let read = 0
  for (let step = first; ; ) {
    read += step.rows.reduce((sum, one) => sum + one.length, 0)
    const found = await objectsAt(context, range, snapshot, { ...step, from })
    checkScanned(context, revision)
    for (const [index, { sk, size, state, newest, moved }] of found.entries()) {
      const isOut = state === undefined || (text !== undefined && !mayContain(state, text))
      const seen = state && (filter || isMember || (matches && !isOut)) ? decodeState(state) : undefined
      if (isMember && seen && !isMember(seen)) continue
      const isHidden =
        filter && seen && state && !(filter(seen) && (moved ? filter(moved) : acceptsNewest(filter, state, newest)))
      if (isHidden && !keepsNext) continue
      if (next !== undefined && (items.length === limit || bytes >= pageBytes)) {
        const remaining = isCounted ? await remainingAfter(found.length - index, step) : undefined
        return activity.attach({ rv: snapshot.rv, items, next: parseSortKey(next), ...defined({ remaining }) })
      }
      next = sk
      bytes += size
      if (isHidden || isOut || (matches && seen && !matches(seen))) continue
      items.push(toListed(state, seen))
    }
    if (step.done) return activity.attach({ rv: snapshot.rv, items })
    from = step.horizon
    const most = context.items.limits.queryItems
    step = await rows.next(wanted && nextStep({ wanted, found: items.length, read, most }))
  }
}

/** Returns the range of a request. Omits keys and partitions that cannot exist, because the driver rejects them. */
function rangeOf(limits: Limits, resource: string, request: ListRequest): Range {
  const { namespace, namePrefix = '', key, after, partitions, within, filter } = request
  const prefix = `${namespace === undefined ? '' : namespacePrefix(namespace)}${sortKey(namePrefix)}`
  const only = key === undefined ? undefined : sortKey(key)
  const start = after === undefined ? '' : sortKey(after)
  const isPast = start !== '' && !start.startsWith(prefix) && byBytes(start, prefix) > 0
  const isStrange =
    only !== undefined && (!isStorable(limits, key ?? '') || !only.startsWith(prefix) || byBytes(only, start) <= 0)
  const isEmpty = isPast || isStrange || ![namespace, after, prefix].every((one) => !one || isStorable(limits, one))
  const asked = partitions && within ? partitions.filter((one) => within.includes(one)) : (partitions ?? within)
  const possible = asked ? asked.filter((one) => isPartition(limits, resource, one)) : [undefined]
  const isNamed = !asked && !filter && only === undefined && !isEmpty
  return {
    resource,
    prefix,
    start: start.startsWith(prefix) ? start : '',
    only,
    named: isNamed && request.named && isPartition(limits, resource, request.named) ? request.named : undefined,
    partitions: isEmpty ? [] : [...new Set(possible)],
    isPart: filter !== undefined && asked !== undefined && asked.length !== partitions?.length,
  }
}

/** Returns the query of each partition of the range. */
function coveredBy({ start, prefix, only }: Range): Omit<ItemQuery, 'pk'> {
  if (only !== undefined) return { from: only, to: only }
  return { ...(prefix && { prefix }), ...(start && { after: start }) }
}

const isCovered = ({ prefix, only }: Range, sk: string): boolean =>
  only === undefined ? sk.startsWith(prefix) : sk === only

/** The attributes of log entries that a list reads: all except the previous state. */
const overlaid = ['sk', 'type', 'key', 'object', 'internal', 'partitions']

/**
 * Chooses the revision: the requested one, else the highest filled slot, so that the list contains every write that was
 * acknowledged before it began. Throws Expired if the log no longer reaches back to the requested one.
 */
async function takeSnapshot(
  context: Context,
  resource: string,
  revision: Revision,
  at: number | undefined,
  notOlderThan?: number,
): Promise<Snapshot> {
  const { n, settled, asOf } = revision
  const hi = at ?? n
  const [{ slots, top }, removed] = await Promise.all([
    settled >= hi
      ? { slots: new Map(), top: hi }
      : fillGaps(context, resource, {
          lo: settled,
          hi,
          must: at ?? notOlderThan ?? settled,
          asOf,
          attributes: overlaid,
        }),
    at === undefined ? new Map<string, number>() : removedSince(context, resource, at, revision),
    at !== undefined && at < settled ? checkLogged(context, resource, at + 1) : undefined,
  ])
  checkFresh(context, revision)
  return { rv: top, settled, asOf, overlay: newestEntries(slots, top), removed }
}

/** Throws Expired if the slot has expired. While it lives, so does the log of all deletions since. */
async function checkLogged({ items, now }: Context, resource: string, rev: number): Promise<void> {
  const slot = await items.get(slotKey(resource, rev))
  if (slot === undefined || isExpired(slot, now())) throw expiredError(rev)
}

function newestEntries(slots: Slots, top: number): Map<string, Slot> {
  const newest = new Map<string, Slot>()
  for (const rev of [...slots.keys()].sort((one, other) => one - other)) {
    const item = slots.get(rev)
    const slot = item && rev <= top ? readSlot(item) : undefined
    if (slot && slot.type !== 'VOID') newest.set(sortKey(slot.key), slot)
  }
  return newest
}

/** Rows with keys in (from, horizon]: one list per partition of the range. */
interface Stretch extends Pick<Step, 'rows' | 'horizon'> {
  from: Horizon
}

/** An object of the snapshot. */
interface Found {
  sk: string
  /** The stored bytes of its row. */
  size: number
  /** Its state in the snapshot. Undefined if the driver has not decoded it, because it lacks the text. */
  state: State | undefined
  /** Its newest state, or the last one of a deleted object. Undefined if it has left the partitions of the range. */
  newest: State | undefined
  /** The newest state of an object that has left them, and may still be visible. */
  moved?: Stored
}

/** Returns the objects of the snapshot with keys in this stretch, in key order. */
async function objectsAt(context: Context, range: Range, snapshot: Snapshot, stretch: Stretch): Promise<Found[]> {
  const { resource, partitions } = range
  const { rows: read, from, horizon } = stretch
  const unchanged = unchangedObjects(range, snapshot, read)
  if (unchanged) return unchanged
  const rows = new Map<string, (Item | undefined)[]>()
  for (const sk of [...snapshot.overlay.keys(), ...snapshot.removed.keys()]) {
    if (isCovered(range, sk) && !isWithin(sk, from) && isWithin(sk, horizon)) rows.set(sk, [])
  }
  for (const [index, items] of read.entries()) {
    for (const item of items) {
      const copies = rows.get(item.sk) ?? []
      copies[index] = item
      rows.set(item.sk, copies)
    }
  }
  const newer = read.flat().filter((row) => rvOf(row) > snapshot.rv)
  const changed = new Map(newer.map((row) => [row.sk, rvOf(row)]))
  for (const sk of rows.keys()) {
    const rev = snapshot.removed.get(sk)
    if (rev !== undefined && !changed.has(sk)) changed.set(sk, rev)
  }
  const past = await rewind(
    context,
    resource,
    { at: snapshot.rv, settled: snapshot.settled, asOf: snapshot.asOf },
    [...changed].map(([sk, rv]) => ({ key: parseSortKey(sk), rv })),
  )
  const objects: Found[] = []
  for (const sk of [...rows.keys()].sort(byBytes)) {
    const copies = rows.get(sk) ?? []
    const entry = snapshot.overlay.get(sk)
    const isChanged = changed.has(sk)
    const was = isChanged ? past.get(parseSortKey(sk)) : undefined
    for (const [index, partition] of partitions.entries()) {
      const row = copies[index]
      if (!isChanged && isOutline(row) && !isNewer(entry, row)) {
        objects.push(outlineOf(row))
        break
      }
      const state = isChanged ? was?.state : stateOf(row, entry)
      if (!state || (partition !== undefined && !state.partitions.includes(partition))) continue
      const size = rowBytes({ pk: rowsOf(resource, partition), sk }, state)
      const newest = isChanged ? newestOf(copies, snapshot.rv, was?.last) : state
      objects.push({ sk, size, state, newest })
      break
    }
  }
  if (range.isPart) await followMoved(context, resource, objects)
  return objects
}

const outlineOf = ({ sk, outlined }: Outline): Found => ({ sk, size: outlined, state: undefined, newest: undefined })

/** Returns the objects of one partition if the log adds nothing to its rows, as between writes; else undefined. */
function unchangedObjects(
  { partitions }: Range,
  { rv, overlay, removed }: Snapshot,
  read: Item[][],
): Found[] | undefined {
  const [rows] = read
  if (!rows || partitions.length > 1 || overlay.size > 0 || removed.size > 0) return undefined
  if (rows.some((row) => rvOf(row) > rv)) return undefined
  return rows.flatMap((row): Found | [] => {
    if (isOutline(row)) return outlineOf(row)
    const state = rowState(row)
    return state ? { sk: row.sk, size: rowBytes(row, state), state, newest: state } : []
  })
}

/** Reads the newest states of the objects that have left the partitions of the range since the snapshot. */
async function followMoved(context: Context, resource: string, objects: readonly Found[]): Promise<void> {
  await Promise.all(
    objects.map(async (one) => {
      if (one.state && !one.newest) one.moved = await readLatest(context, { resource }, decodeState(one.state))
    }),
  )
}

/** Returns the newest state of an object that has changed since revision `rv`. Its copies are as new as its row, or tombstones. */
function newestOf(copies: readonly (Item | undefined)[], rv: number, last: State | undefined): State | undefined {
  const newer = copies.filter((one) => rvOf(one) > rv)
  return last ?? newer.map(rowState).find((one) => one !== undefined)
}

/** Reports whether the filter also accepts the newest state of the object. */
const acceptsNewest = (filter: (one: Stored) => boolean, state: State, newest: State | undefined): boolean =>
  newest === state || (newest !== undefined && filter(decodeState(newest)))

const isNewer = (entry: Slot | undefined, row: Item | undefined): entry is Slot =>
  entry !== undefined && entry.rev > rvOf(row)

/** Returns the state of an object whose row is not newer than the list, given the newest log entry. */
const stateOf = (row: Item | undefined, entry: Slot | undefined): State | undefined =>
  isNewer(entry, row) ? entry.state : rowState(row)

/** Reports whether an object may contain a text. That of a deflated one is not known. */
const mayContain = ({ object }: State, text: string): boolean => typeof object !== 'string' || object.includes(text)

/** Reports whether a decoded state is small enough to keep. A deflated one is large. */
const isSmall = ({ object, internal }: State): boolean =>
  typeof object === 'string' && object.length + internal.length <= keptBytes

/** Returns an object of a page. Keeps its internal part once it is read, and `seen`, its decoded form, only if it is small. */
function toListed(state: State, seen?: Stored): Listed {
  const { key, rv } = state
  const kept = seen && isSmall(state) ? seen : undefined
  let internal = kept?.internal
  const readOnce = () => {
    internal ??= readInternal(state.internal)
    return internal
  }
  return {
    key,
    rv,
    read: () => kept ?? { key, rv, object: readObject(state.object, rv), internal: readOnce() },
    readInternal: readOnce,
  }
}

/** Returns the newest revision from which a watch misses no write that is acknowledged after this call. */
export async function newestRevision(context: Context, { resource }: Table): Promise<number> {
  return (await takeSnapshot(context, resource, await readRevision(context, resource), undefined)).rv
}
