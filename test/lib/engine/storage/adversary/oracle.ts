/** Checks what must hold after every schedule, by the log of all slots ever filled. */
import type { Change, Stored } from '../../../../../lib/engine/storage/interface.ts'
import type { Item } from '../../../../../lib/engine/storage/items.ts'
import { sortKey } from '../../../../../lib/engine/storage/keys.ts'
import { decodeState, readSlot, type Slot } from '../../../../../lib/engine/storage/records.ts'
import type { Recorded } from './table.ts'

export interface Written {
  key: string
  kind: 'create' | 'update' | 'delete' | 'maker'
  /** The generation of the maker that the write is conditional on. */
  made?: number
  /** The highest revision that was acknowledged before it began. */
  after: number
  outcome: { type: 'acknowledged'; rv: number } | { type: 'refused' } | { type: 'unknown' }
}

export interface Listed {
  partitions?: readonly string[]
  namespace?: string
  rv: number
  /** Whether a selector asks for the partitions, which all objects are read for. */
  isSelected: boolean
  after: number
  at: number
  items: Stored[]
  /** The last key of each page that says more follows. */
  nexts: string[]
}

export interface Watched {
  from: number
  after: number
  at: number
  rv: number
  changes: Change[]
  /** The revisions that it reached, and when. */
  seen: { rv: number; at: number }[]
}

interface Evidence {
  log: ReadonlyMap<number, Recorded>
  truth: ReadonlyMap<string, Item>
  written: readonly Written[]
  listed: readonly Listed[]
  watched: readonly Watched[]
}

export function judge(evidence: Evidence): string[] {
  const slots = [...evidence.log.values()].map(({ item }) => readSlot(item)).sort((one, other) => one.rev - other.rev)
  return [
    ...judgeWrites(evidence),
    ...judgeMakers(evidence),
    ...judgeCounts(slots, evidence.truth),
    ...judgeChains(slots),
    ...judgeRows(slots, evidence.truth),
    ...evidence.listed.flatMap((one) => judgeList(one, slots, evidence.log)),
    ...evidence.watched.flatMap((one) => judgeWatch(one, slots, evidence.log)),
  ]
}

/** An acknowledged write has one slot, above all acknowledged before. A refused write has none, others at most one. */
function judgeWrites({ log, written }: Evidence): string[] {
  const wrong: string[] = []
  const revisions = new Map<number, number[]>()
  for (const [rev, { write }] of log)
    if (write !== undefined) revisions.set(write, [...(revisions.get(write) ?? []), rev])
  for (const [number, { key, kind, after, outcome }] of written.entries()) {
    const found = revisions.get(number) ?? []
    const said = `write ${number} (${kind} ${key}, ${outcome.type})`
    if (found.length > 1) wrong.push(`${said} is in the log at ${found}`)
    if (outcome.type === 'refused' && found.length > 0) wrong.push(`${said} is in the log at ${found}`)
    if (outcome.type === 'acknowledged' && found[0] !== outcome.rv)
      wrong.push(`${said} at ${outcome.rv} is at ${found}`)
    if (found.some((rev) => rev <= after)) wrong.push(`${said} got ${found} after ${after} was acknowledged`)
  }
  return wrong
}

/** A write with a maker committed while the maker had the generation of its condition. */
function judgeMakers({ log, written }: Evidence): string[] {
  const wrong: string[] = []
  let generation = 0
  for (const { write, item } of log.values()) {
    const { kind, made, key } = (write === undefined ? undefined : written[write]) ?? {}
    if (kind === 'maker') generation++
    if (made !== undefined && made !== generation) {
      wrong.push(`${key} at ${readSlot(item).rev} was made by generation ${made}, after ${generation}`)
    }
  }
  return wrong
}

/** Every count was raised by exactly one write. */
function judgeCounts(slots: readonly Slot[], truth: ReadonlyMap<string, Item>): string[] {
  const counts = slots
    .flatMap(({ state }) => (state ? [decodeState(state).object.spec?.count] : []))
    .filter((count) => typeof count === 'number')
    .sort((one, other) => one - other)
  const last = Number(truth.get('counter\n#')?.count ?? 0)
  const expected = Array.from({ length: last }, (_, index) => index + 1)
  return same(counts, expected) ? [] : [`the writes counted ${counts}, up to ${last}`]
}

const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

/** Each change of a name follows the one before it. */
function judgeChains(slots: readonly Slot[]): string[] {
  const wrong: string[] = []
  const states = new Map<string, Slot['state']>()
  for (const { rev, type, key, state, prev } of slots) {
    if (type === 'VOID') continue
    const before = states.get(key)
    if (!same(before, prev)) wrong.push(`${type} of ${key} at ${rev} follows ${before?.rv}, says ${prev?.rv}`)
    states.set(key, state)
  }
  return wrong
}

/** Every row and every copy matches the last log entry of its key. */
function judgeRows(slots: readonly Slot[], truth: ReadonlyMap<string, Item>): string[] {
  const wrong: string[] = []
  const last = new Map<string, { rev: number; isThere: boolean }>()
  for (const { rev, type, key, partitions, left } of slots) {
    if (type === 'VOID') continue
    const sk = sortKey(key)
    last.set(`widgets#o\n${sk}`, { rev, isThere: type !== 'DELETED' })
    for (const one of partitions) last.set(`widgets#o#${one}\n${sk}`, { rev, isThere: true })
    for (const one of left) last.set(`widgets#o#${one}\n${sk}`, { rev, isThere: false })
  }
  for (const [id, { rev, isThere }] of last) {
    const row = truth.get(id)
    const right = isThere
      ? row?.rv === rev && row.gone === undefined
      : row === undefined || (row.rv === rev && row.gone === true)
    if (!right) wrong.push(`${id} is at ${row?.rv}, the log at ${rev}`)
  }
  return wrong
}

/** Whenever a reader learned that all slots up to a revision were filled, they were. */
function openSlots(log: ReadonlyMap<number, Recorded>, from: number, rv: number, at: number): number[] {
  const open: number[] = []
  for (let rev = from + 1; rev <= rv; rev++) if (!((log.get(rev)?.at ?? Number.POSITIVE_INFINITY) <= at)) open.push(rev)
  return open
}

function judgeList(
  { rv, after, at, items, partitions, namespace, isSelected, nexts }: Listed,
  slots: readonly Slot[],
  log: Evidence['log'],
): string[] {
  const wrong: string[] = []
  const open = openSlots(log, 1, rv, at)
  if (open.length > 0) wrong.push(`a list at ${rv} was answered while ${open} were open`)
  if (rv < after) wrong.push(`a list at ${rv} began after ${after} was acknowledged`)
  const states = new Map<string, NonNullable<Slot['state']>>()
  for (const { rev, type, key, state } of slots) {
    if (rev > rv || type === 'VOID') continue
    if (state) states.set(key, state)
    else states.delete(key)
  }
  const placed = [...states.values()].filter(({ key }) => namespace === undefined || key.startsWith(`${namespace}/`))
  const listed = placed.filter(
    (one) => !partitions || partitions.some((partition) => one.partitions.includes(partition)),
  )
  const inside = listed.map((one) => `${sortKey(one.key)}@${one.rv}`).sort()
  // A selector selects among all objects, and partitions are what is read.
  const read = (isSelected ? placed : listed).map(({ key }) => sortKey(key))
  for (const next of nexts.map(sortKey))
    if (!read.some((key) => key > next)) wrong.push(`nothing follows ${next} at ${rv}, where a page ends`)
  const found = items.map((one) => `${sortKey(one.key)}@${one.rv}`)
  if (!same(inside, found)) wrong.push(`a list of ${partitions ?? 'all'} at ${rv} has ${found}, the log ${inside}`)
  return wrong
}

function judgeWatch(
  { from, after, at, rv, changes, seen }: Watched,
  slots: readonly Slot[],
  log: Evidence['log'],
): string[] {
  const wrong: string[] = []
  if (from < after) wrong.push(`a watch from ${from} began after ${after} was acknowledged`)
  const open = from === 1 ? [] : openSlots(log, 1, from, at)
  if (open.length > 0) wrong.push(`a watch from ${from} began while ${open} were open`)
  for (const one of seen) {
    const early = openSlots(log, from, one.rv, one.at)
    if (early.length > 0) wrong.push(`a watch passed ${early} while they were open`)
  }
  const happened = slots.filter(({ rev, type }) => type !== 'VOID' && rev > from && rev <= rv)
  const expected = happened.map(({ rev, type, key }) => `${type} ${key}@${rev}`)
  const delivered = changes.map((one) => `${one.type} ${one.key}@${one.rv}`)
  if (!same(expected, delivered)) wrong.push(`a watch from ${from} to ${rv} saw ${delivered}, the log has ${expected}`)
  return wrong
}
