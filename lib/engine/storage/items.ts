/**
 * Declares the item operations that the protocol uses. A driver implements them (`driver.ts`). All reads except those of
 * an index and recent ones are strongly consistent. An operation with an unclear outcome throws an ItemsFault.
 */
import type { JsonValue } from '../meta/types.ts'
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

/** What an attribute must be. An item that does not exist has no attributes. */
export type Test =
  | 'absent'
  | 'present'
  | { is: ItemValue }
  /** Another value, or none. */
  | { not: ItemValue }
  /** A lower number, or none. */
  | { below: number }
  /** This number or a higher one. */
  | { from: number }

/** Tests by attribute, which must all hold. */
export type Condition = Readonly<Record<string, Test>>

/** A write, if its condition holds, or one of its conditions. */
export type ItemWrite = { when?: Condition | readonly Condition[] | undefined } & (
  | { type: 'put'; item: Item }
  /** Sets attributes and keeps the others; creates a missing item. */
  | { type: 'set'; key: ItemKey; attributes: Record<string, ItemValue>; remove?: readonly string[] | undefined }
  | { type: 'delete'; key: ItemKey }
  /** Writes nothing. */
  | { type: 'check'; key: ItemKey; when: Condition }
)

export const keyOf = (write: ItemWrite): ItemKey => (write.type === 'put' ? write.item : write.key)

/** A write that needs no transaction. */
export type SingleWrite = Exclude<ItemWrite, { type: 'check' }>

/** `there`: the item that did not meet the condition. */
export type WriteOutcome = { done: true } | { done: false; there: Item | undefined }

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
  /** What the reader does not need. A driver may ignore it. */
  unneeded?: Unneeded
}

/**
 * Among the items with an `rv` of at most `upTo`, a driver may leave out tombstones and, with `text`, answer outlines of those whose
 * `object` is a text without that text. Neither counts towards the limit of the query.
 */
export interface Unneeded {
  upTo: number
  text?: string | undefined
}

/** A live item that the driver has not decoded. `outlined` is the size of the whole item in bytes, as `sizeOf` counts it. */
export interface Outline extends Item {
  rv: number
  outlined: number
}

export const isOutline = (item: Item | undefined): item is Outline => item !== undefined && 'outlined' in item

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
  /** Reads have no price: a list reads on to count the objects that remain. */
  readonly isUnmetered?: true
  /** With `isRecent`, reads the item as it is or was: mostly at most a second ago, for half the price. */
  get(key: ItemKey, isRecent?: boolean): Promise<Item | undefined>
  /** Returns the items that exist, in any order. Accepts any number of keys and reads a hundred per request. */
  batchGet(keys: readonly ItemKey[], attributes?: readonly string[]): Promise<Item[]>
  query(query: ItemQuery | IndexQuery): Promise<ItemPage>
  /** Makes one write by itself, for half the price of a transaction. Never sent after `deadline`, as below. */
  write(one: SingleWrite, deadline: number): Promise<WriteOutcome>
  /** Increments `n` of a revision item and returns the item. A missing item is created at n = settled = floor = 1 first. */
  allocate(key: ItemKey, now: number): Promise<Item>
  /** Writes all items or none. Never sent after `deadline` (unix ms), not even by the retries of the driver. */
  transact(writes: readonly ItemWrite[], deadline: number): Promise<TransactOutcome>
  /**
   * Calls back after each write in this process that has written to a partition, until the returned function is called.
   * Only drivers whose writers are all in this process have it.
   */
  onWrite?(pk: string, call: () => void): () => void
}
