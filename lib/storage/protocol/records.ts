/** Rows and log slots as they are read: items with a meaning, decoded only where somebody looks inside. */

import { type Body, isBody, readInternal, readObject } from '../body.ts'
import type { Stored } from '../interface.ts'
import type { Item, ItemValue } from '../items.ts'
import { keyOf, revOf } from '../keys.ts'

/** One state of an object as it lies in rows, in slots and in the `prev` of slots. */
export interface State {
  key: string
  rv: number
  object: Body
  internal: Body
  /** The index partitions it lies in. */
  partitions: readonly string[]
}

export interface Slot {
  rev: number
  type: 'VOID' | 'ADDED' | 'MODIFIED' | 'DELETED'
  /** The write that filled it; empty for VOID. */
  id: string
  key: string
  /** What was stored; absent for VOID and DELETED. */
  state?: State
  /** What was there before; absent for VOID and ADDED. */
  prev?: State
  partitions: readonly string[]
  /** The index partitions that this change left: a tombstone lies there. */
  left: readonly string[]
}

/** Whether TTL may remove what expires then (unix seconds) any moment: it counts as removed. */
export const isOver = (expires: ItemValue | undefined, now: number): boolean =>
  typeof expires === 'number' && expires * 1000 <= now

export const isExpired = ({ expires }: Item, now: number): boolean => isOver(expires, now)

export const rvOf = (item: Item | undefined): number => (typeof item?.rv === 'number' ? item.rv : 0)

const isTombstone = (row: Item): boolean => row.gone === true

const strings = (value: ItemValue | undefined): string[] =>
  Array.isArray(value) ? value.flatMap((one) => (typeof one === 'string' ? [one] : [])) : []

const text = (value: ItemValue | undefined): string => (typeof value === 'string' ? value : '')

function stateOf(key: string, rv: ItemValue | undefined, from: Record<string, ItemValue>): State {
  const { object, internal, partitions } = from
  if (typeof rv !== 'number' || !isBody(object) || !isBody(internal)) throw new Error(`${key} has no readable state`)
  return { key, rv, object, internal, partitions: strings(partitions) }
}

/** The state of a row; undefined for a tombstone and where nothing is. */
export const rowState = (row: Item | undefined): State | undefined =>
  row === undefined || isTombstone(row) ? undefined : stateOf(keyOf(row.sk), row.rv, row)

export function readSlot(item: Item): Slot {
  const rev = revOf(item)
  const { type, prev } = item
  const key = text(item.key)
  const slot: Slot = {
    rev,
    type: type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED' ? type : 'VOID',
    id: text(item.id),
    key,
    partitions: strings(item.partitions),
    left: strings(item.left),
  }
  if (item.object !== undefined) slot.state = stateOf(key, rev, item)
  if (prev !== undefined && prev !== null && typeof prev === 'object' && 'rv' in prev) {
    slot.prev = stateOf(key, prev.rv, prev)
  }
  return slot
}

/** Decodes a state; `rv` where it is shown at another revision than its own. */
export function stored(state: State, rv = state.rv): Stored {
  return { key: state.key, rv, object: readObject(state.object, rv), internal: readInternal(state.internal) }
}
