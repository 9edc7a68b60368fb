/**
 * The few operations on items that the protocol is made of. `dynamodb.ts` implements them; every read but that of an
 * index is strongly consistent. Whatever does not answer plainly throws a Fault.
 */
import type { JsonObject, JsonValue } from '../meta/types.ts'
import type { IndexQuery } from './interface.ts'
import type { ItemKey } from './keys.ts'

export type ItemValue = JsonValue | Uint8Array | ItemValue[] | { [member: string]: ItemValue }

export interface Item extends ItemKey {
  [attribute: string]: ItemValue
}

/** Why an operation has no plain answer. The driver has already tried again. */
export type FaultKind =
  /** A transaction holds the item; nothing was written. */
  | 'conflict'
  /** Too much at once; nothing was written by this request. */
  | 'throttled'
  /** No answer: it may or may not have been done, now or later. */
  | 'unanswered'

/** An operation without a plain answer. The cause is the client's own exception. */
export class Fault extends Error {
  readonly kind: FaultKind

  constructor(kind: FaultKind, cause: unknown) {
    super(`the table did not answer plainly: ${kind}`, { cause })
    this.name = 'Fault'
    this.kind = kind
  }
}

export type Condition =
  /** No such item. */
  | { type: 'absent' }
  /** A live row, still at this revision. */
  | { type: 'unchanged'; rv: number }
  /** No row, or a tombstone older than this revision. */
  | { type: 'vacant'; rev: number }
  /** An item with these attributes, and without those of `lacks`. */
  | { type: 'has'; attributes: Record<string, ItemValue>; lacks: readonly string[] }

export type ItemWrite =
  | { type: 'put'; item: Item; when?: Condition }
  /** Creates the item when absent; attributes that are not named stay. */
  | {
      type: 'set'
      key: ItemKey
      attributes: Record<string, ItemValue>
      remove?: readonly string[] | undefined
      when?: Condition
    }
  | { type: 'advance'; key: ItemKey; change: Advance }
  | { type: 'delete'; key: ItemKey }
  /** Only a condition. */
  | { type: 'check'; key: ItemKey; when: Condition }

/**
 * `refused` lists the writes (by index) whose condition failed, `conflicts` those whose item another transaction held; both
 * may be empty where only the cancellation is known.
 */
export type TransactOutcome = { done: true } | { done: false; refused: readonly number[]; conflicts: readonly number[] }

export interface ItemQuery {
  pk: string
  /** Sort keys from here on, up to `to`; both included. */
  from?: string
  to?: string
  /** Sort keys that begin so. Not together with `from` and `to`. */
  prefix?: string
  /** Sort keys above this one. */
  after?: string
  limit?: number
  /** Only these attributes. */
  attributes?: readonly string[]
}

/** `more`: the answer ended before the range did, because of `limit` or its size. A page with more is never empty. */
export interface ItemPage {
  items: Item[]
  more: boolean
}

export interface Items {
  get(key: ItemKey): Promise<Item | undefined>
  /** The items that exist, in any order; any number of keys, a hundred per request. */
  batchGet(keys: readonly ItemKey[], attributes?: readonly string[]): Promise<Item[]>
  query(query: ItemQuery): Promise<ItemPage>
  queryIndex(query: IndexQuery): Promise<ItemPage>
  /** Puts the item unless there is one: undefined when it was put, else what is there. Never sent after `deadline`, as below. */
  putIfAbsent(item: Item, deadline: number): Promise<Item | undefined>
  /** Takes the next revision of a revision item, creating it at n = settled = floor = 1 first; the item after that. */
  allocate(key: ItemKey, now: number): Promise<Item>
  /** Raises `settled`; does nothing where it is as high already. */
  settle(key: ItemKey, to: number): Promise<void>
  /** Notes that `settled` has reached the `n` of a moment; does nothing where it has not, or where another one has noted so. */
  confirm(key: ItemKey, found: Confirmation): Promise<void>
  /** All or nothing. Never sent after `deadline` (unix ms), not even by the driver's own retries. */
  transact(writes: readonly ItemWrite[], deadline: number): Promise<TransactOutcome>
}

/** The newest revision at a moment. */
export interface Confirmation {
  n: number
  /** `at` as it was read at that moment. */
  was: number
  /** The moment, unix ms: the new `at`. */
  at: number
  /** Whether `floor` rises to `n` in the same write. */
  isFloor: boolean
}

/** Moves the number `attribute` forward to `value`: refused where it is as high already. */
export interface Advance {
  attribute: string
  value: number
  /** Refused where the item does not exist. */
  exists?: true
  /** Refused where one of these attributes is another one by now; undefined = absent. */
  same?: Readonly<Record<string, ItemValue | undefined>>
  /** Of whom the number speaks: where another owner stands, the number starts again. */
  owner?: { attribute: string; value: string }
  /** Set together with it. */
  also?: JsonObject
}
