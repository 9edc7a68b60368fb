/**
 * Declares the item operations that the protocol uses. A driver implements them (`driver.ts`). All reads except those of
 * an index and `getRecent` are strongly consistent. An operation with an unclear outcome throws an ItemsFault.
 */
import type { JsonObject, JsonValue } from '../meta/types.ts'
import type { IndexRange } from './interface.ts'
import type { ItemKey, KeyLimits } from './keys.ts'

export type ItemValue = JsonValue | Uint8Array | ItemValue[] | { [member: string]: ItemValue }

export interface Item extends ItemKey {
  /** After this time, in unix seconds, the driver deletes the item at some time. Until then, reads return it. */
  expires?: number
  [attribute: string]: ItemValue
}

/** What a driver accepts. Sizes are in bytes, those of items and their values as `sizeOf` counts them. */
export interface Limits extends KeyLimits {
  itemBytes: number
  transactionItems: number
  transactionBytes: number
  /** A page of a query ends with the item that reaches this size. */
  queryBytes: number
  /** The most items in a page of a query without a limit of its own. */
  queryItems: number
}

/** Returns the size of an attribute value with its names, rounded up. */
export function sizeOf(value: ItemValue): number {
  if (typeof value === 'string') return Buffer.byteLength(value)
  if (typeof value === 'number' || typeof value === 'bigint') return 21
  if (value instanceof Uint8Array) return value.byteLength
  if (Array.isArray(value)) return value.reduce((sum: number, one) => sum + sizeOf(one) + 1, 3)
  if (value !== null && typeof value === 'object') {
    return Object.entries(value).reduce((sum, [name, one]) => sum + Buffer.byteLength(name) + sizeOf(one) + 1, 3)
  }
  return 1
}

/** Why the outcome of an operation is unclear. The driver has already retried. */
export type FaultKind =
  /** A transaction holds the item; nothing was written. */
  | 'conflict'
  /** The request was throttled and wrote nothing. */
  | 'throttled'
  /** The store has no room for the write: nothing was written, and nothing will be. */
  | 'full'
  /** No answer arrived: the operation may take effect, now or later. */
  | 'unanswered'

/** An operation with an unclear outcome. The cause is the exception of the client. */
export class ItemsFault extends Error {
  readonly kind: FaultKind

  /** The process that runs bundled functions may have their driver, with another copy of this class. */
  static override [Symbol.hasInstance](error: unknown): error is ItemsFault {
    return error instanceof Error && error.name === 'ItemsFault'
  }

  constructor(kind: FaultKind, cause: unknown) {
    super(`the outcome of the write is unknown: ${kind}`, { cause })
    this.name = 'ItemsFault'
    this.kind = kind
  }
}

export type Condition =
  /** The item does not exist. */
  | { type: 'absent' }
  /** The row is live and still at this revision. */
  | { type: 'unchanged'; rv: number }
  /** No row exists, or a tombstone older than this revision. */
  | { type: 'vacant'; rev: number }
  /** The tombstone of this revision is there. */
  | { type: 'tombstone'; rv: number }
  /** The item has these attributes and none of `lacks`. */
  | { type: 'has'; attributes: Record<string, ItemValue>; lacks: readonly string[] }

export type ItemWrite =
  | { type: 'put'; item: Item; when?: Condition }
  /** Sets attributes and keeps the others; creates a missing item. */
  | {
      type: 'set'
      key: ItemKey
      attributes: Record<string, ItemValue>
      remove?: readonly string[] | undefined
      when?: Condition
    }
  | { type: 'advance'; key: ItemKey; change: Advance }
  | { type: 'delete'; key: ItemKey; when?: Condition }
  /** Checks a condition and writes nothing. */
  | { type: 'check'; key: ItemKey; when: Condition }

/** A write that needs no transaction. */
export type SingleWrite = Extract<ItemWrite, { type: 'put' | 'delete' }>

/**
 * `refused` lists the indexes of the writes whose condition failed, `conflicts` those whose item another transaction held.
 * Both may be empty if the driver knows no reason.
 */
export type TransactOutcome = { done: true } | { done: false; refused: readonly number[]; conflicts: readonly number[] }

export interface ItemQuery {
  pk: string
  /** Selects sort keys from `from` to `to`, both included. */
  from?: string
  to?: string
  /** Selects sort keys with this prefix. Not allowed together with `from` and `to`. */
  prefix?: string
  /** Selects sort keys above this one. */
  after?: string
  limit?: number
  /** Reads only these attributes. */
  attributes?: readonly string[]
}

/** A query of a part of an index. */
export interface IndexQuery extends IndexRange {
  limit?: number
  after?: IndexPosition
}

/** The position of an item in an index. */
export interface IndexPosition extends ItemKey {
  /** The number that the index sorts by. */
  at: number
}

/** A page of a query. `more`: the page ended at `limit` or at its size, before the range did. Such a page is never empty. */
export interface ItemPage {
  items: Item[]
  more: boolean
}

export interface Items {
  readonly limits: Limits
  get(key: ItemKey): Promise<Item | undefined>
  /** Reads the item as it is or was, eventually consistent: mostly at most a second ago, for half the price of `get`. */
  getRecent(key: ItemKey): Promise<Item | undefined>
  /** Returns the items that exist, in any order. Accepts any number of keys and reads a hundred per request. */
  batchGet(keys: readonly ItemKey[], attributes?: readonly string[]): Promise<Item[]>
  query(query: ItemQuery): Promise<ItemPage>
  queryIndex(query: IndexQuery): Promise<ItemPage>
  /** Puts the item and returns undefined, or returns the item that exists. Never sent after `deadline`, as below. */
  putIfAbsent(item: Item, deadline: number): Promise<Item | undefined>
  /** Replaces the item by itself, for half the price of a transaction. Never sent after `deadline`, as below. */
  put(item: Item, deadline: number): Promise<void>
  /** Does one write by itself, at the same price, and returns whether its condition held. Never sent after `deadline`, as below. */
  write(one: SingleWrite, deadline: number): Promise<boolean>
  /** Increments `n` of a revision item and returns the item. A missing item is created at n = settled = floor = 1 first. */
  allocate(key: ItemKey, now: number): Promise<Item>
  /** Raises `settled`; does nothing if it is already as high. */
  settle(key: ItemKey, to: number): Promise<void>
  /** Records that `settled` has reached `found.n`; does nothing if it has not, or if another sweep has recorded one. */
  confirm(key: ItemKey, found: Confirmation): Promise<void>
  /** Writes all items or none. Never sent after `deadline` (unix ms), not even by the retries of the driver. */
  transact(writes: readonly ItemWrite[], deadline: number): Promise<TransactOutcome>
  /**
   * Calls back after each put or transaction in this process that has written to a partition, until the returned function is called.
   * Only drivers whose writers are all in this process have it.
   */
  onWrite?(pk: string, call: () => void): () => void
}

/** A sweep that has settled everything up to the revision that was newest when it began. */
export interface Confirmation {
  n: number
  /** The previous `at`. */
  was: number
  /** When the sweep began, in unix ms: the new `at`. */
  at: number
  /** Whether the same write raises `floor` to `n`. */
  isFloor: boolean
  /** Attributes of the revision item to set together with `at`. */
  also: Readonly<Partial<Record<'cleared' | 'marked' | 'markedAt', number>>>
}

/** Advances the number `attribute` to `value`. Refused if it is already as high. */
export interface Advance {
  attribute: string
  value: number
  /** Refuses the write if the item does not exist. */
  exists?: true
  /** Refuses the write if one of these attributes differs. Undefined: absent. */
  same?: Readonly<Record<string, ItemValue | undefined>>
  /** The owner of the number. If the item has another owner, the number starts again. */
  owner?: { attribute: string; value: string }
  /** Attributes to set together with it. */
  also?: JsonObject
}
