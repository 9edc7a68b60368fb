/** Decodes rows and log slots. Objects inside them are decoded on demand. */

import type { JsonObject } from '../meta/types.ts'
import { type Body, isBody, readInternal, readObject } from './body.ts'
import type { Stored } from './interface.ts'
import { type Condition, type Item, type ItemValue, sizeOf } from './items.ts'
import { type ItemKey, parseSortKey, revOf } from './keys.ts'

/** A state of an object as stored in rows, in slots and in the `prev` of slots. */
export interface State {
  key: string
  rv: number
  object: Body
  internal: Body
  /** The index partitions that it is in. */
  partitions: readonly string[]
}

export interface Slot {
  rev: number
  type: 'VOID' | 'ADDED' | 'MODIFIED' | 'DELETED'
  /** The id of the write that filled the slot; empty for VOID. */
  id: string
  key: string
  /** The new state; absent for VOID and DELETED. */
  state?: State
  /** The previous state; absent for VOID and ADDED. */
  prev?: State
  partitions: readonly string[]
  /** The index partitions that the object left with this change; each holds a tombstone. */
  left: readonly string[]
  /** The index partitions of names that the object entered with its create, or left with its delete. */
  names: readonly string[]
  /** When it expires, in unix seconds. */
  expires: number
  /** Who made the change; absent if the writer did not say. */
  by?: JsonObject
}

/** Reports whether an item has expired. TTL may not have removed it yet. */
export const isExpired = ({ expires }: Pick<Item, 'expires'>, now: number): boolean =>
  typeof expires === 'number' && expires * 1000 <= now

export const rvOf = (item: Item | undefined): number => (typeof item?.rv === 'number' ? item.rv : 0)

const strings = (value: ItemValue | undefined): string[] =>
  Array.isArray(value) ? value.flatMap((one) => (typeof one === 'string' ? [one] : [])) : []

const isRecord = (value: ItemValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array)

const text = (value: ItemValue | undefined): string => (typeof value === 'string' ? value : '')

function stateOf(key: string, rv: ItemValue | undefined, from: Record<string, ItemValue>): State {
  const { object, internal, partitions } = from
  if (typeof rv !== 'number' || !isBody(object) || !isBody(internal)) throw new Error(`${key} has no readable state`)
  return { key, rv, object, internal, partitions: strings(partitions) }
}

/** Returns the state of a row; undefined for a tombstone and without a row. */
export const rowState = (row: Item | undefined): State | undefined =>
  row === undefined || row.gone === true ? undefined : stateOf(parseSortKey(row.sk), row.rv, row)

/** The size of a row that has no bytes in its keys, its object, its internal part and its partitions. */
const emptyRow = sizeOf({ pk: '', sk: '', rv: 0, object: '', internal: '', partitions: '' })

/** Returns the size in bytes of a row with a state, as `sizeOf` counts it. That would cost more, and lists ask for each object. */
export const rowBytes = ({ pk, sk }: ItemKey, { object, internal, partitions }: State): number =>
  emptyRow + [pk, sk, object, internal].reduce((sum, one) => sum + Buffer.byteLength(one), 0) + sizeOf([...partitions])

export function readSlot(item: Item): Slot {
  const rev = revOf(item)
  const { type, prev, expires, by } = item
  const key = text(item.key)
  const slot: Slot = {
    rev,
    type: type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED' ? type : 'VOID',
    id: text(item.id),
    key,
    partitions: strings(item.partitions),
    left: strings(item.left),
    names: strings(item.names),
    expires: Number(expires),
  }
  if (item.object !== undefined) slot.state = stateOf(key, rev, item)
  if (isRecord(prev) && 'rv' in prev) slot.prev = stateOf(key, prev.rv, prev)
  if (isRecord(by)) slot.by = by
  return slot
}

/** Decodes a state. `rv` replaces the revision of the state. */
export function decodeState(state: State, rv = state.rv): Stored {
  return { key: state.key, rv, object: readObject(state.object, rv), internal: readInternal(state.internal) }
}

export const isAbsent: Condition = { pk: 'absent' }

/** The item exists, and has these attributes, of which an undefined one must be absent. */
export const has = (
  attributes: Readonly<Record<string, ItemValue | undefined>>,
  lacks: readonly string[] = [],
): Condition => ({
  pk: 'present',
  ...Object.fromEntries(
    Object.entries(attributes).map(([name, is]) => [name, is === undefined ? 'absent' : { is }] as const),
  ),
  ...Object.fromEntries(lacks.map((name) => [name, 'absent'] as const)),
})

/** The row is live and still at this revision. */
export const isLive = (rv: number): Condition => ({ rv: { is: rv }, gone: 'absent' })

/** No row exists, or a tombstone older than this revision. */
export const isVacant = (rev: number): Condition[] => [isAbsent, { gone: 'present', rv: { below: rev } }]

/** The tombstone of this revision is there. */
export const isTombstone = (rv: number): Condition => ({ rv: { is: rv }, gone: 'present' })
