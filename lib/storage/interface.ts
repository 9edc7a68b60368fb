/**
 * The storage port: objects of one table at revisions, a total order of changes per table, no kinds and no HTTP.
 * `storage.ts` implements it, `dynamodb.ts` gives it a table; the protocol and the reasons of its rules are in `README.md`.
 */
import type { Deadline } from '../meta/errors/deadline.ts'
import type { JsonObject, JsonValue, KubeObject } from '../meta/types.ts'

/**
 * One object as it is stored. `object.metadata.resourceVersion` is `String(rv)`. `internal` lies beside the object, is
 * versioned with it and never leaves the server (who made it, the scope chain it carries, the hash of its credential).
 */
export interface Stored {
  /** `name`, or `namespace/name`. */
  key: string
  rv: number
  object: KubeObject
  internal: JsonObject
  /** When it was last used, unix ms; only where the table keeps activity. Not part of the version. */
  activity?: number
}

/** What storage needs to know of a kind. */
export interface Table {
  /** Plural resource name; the prefix of the partition keys. */
  resource: string
  /** The index partitions that an object lies in besides the main one (`user:alice`); lists can be confined to them. */
  partitions(stored: Pick<Stored, 'object' | 'internal'>): readonly string[]
  /** Whether a last activity is kept per object, and read beside it. */
  activity: boolean
  /** Whether the objects of an index partition can be counted (`count`). */
  counted?: true
}

/** A side item committed in the same transaction as the object: a credential, an owner index entry. */
export type Companion =
  /** The whole item. `ifAbsent`, here and below: refuses (CompanionExists) where one is. */
  | { op: 'put'; pk: string; sk: string; attributes: JsonObject; ifAbsent?: true }
  /** Sets `attributes`, removes `remove`, leaves other attributes (the last activity of a credential) alone. Creates when absent. */
  | { op: 'set'; pk: string; sk: string; attributes: JsonObject; remove?: readonly string[]; ifAbsent?: true }
  | { op: 'delete'; pk: string; sk: string }
  /** Writes nothing: refuses when it exists, as `ifAbsent` does. */
  | { op: 'absent'; pk: string; sk: string }
  /** Writes nothing: refuses (CompanionChanged) unless it exists with these attributes, and without those of `lacks`. */
  | { op: 'unchanged'; pk: string; sk: string; attributes: JsonObject; lacks?: readonly string[] }

/** What a mutation wants to happen to the row. Throwing leaves everything as it is and passes the error on. */
export type Mutation =
  | { type: 'none' }
  /** `reserve`: the object may grow into what others leave free of its place, so that its end is never refused for its size. */
  | { type: 'put'; object: KubeObject; internal: JsonObject; companions?: readonly Companion[]; reserve?: boolean }
  | { type: 'delete'; companions?: readonly Companion[] }

/**
 * Runs on the live row, possibly several times (after a lost race), so it must be repeatable. `current` is undefined
 * where nothing (or only a tombstone) is stored. It must not change `current`.
 */
export type Mutate = (current: Stored | undefined) => Mutation | Promise<Mutation>

export interface WriteResult {
  /** What was stored before, undefined for a creation. */
  before?: Stored
  /** What is stored now; undefined after a delete. */
  after?: Stored
  /** The revision of this write; for `none` the row's own, 0 where there is none. */
  rv: number
}

export interface ListRequest {
  /** Only keys below this namespace. */
  namespace?: string
  /** Only the object with this key. */
  key?: string
  /** Only objects in one of these index partitions; undefined = the main partition with everything. */
  partitions?: readonly string[]
  /** At most this many objects that match; undefined = as many as a page holds. */
  limit?: number
  /** Continue after this key, at `at`. */
  after?: string
  /** List at exactly this revision; undefined = at the newest. */
  at?: number
  /** Wait until at least this revision can be seen, then list at the newest. */
  notOlderThan?: number
  /**
   * What there is for the one who asks; nothing tells of other objects. It has to let through both the object as it is at
   * the list's revision and as it is now, or was when it was deleted: who may no longer see it does not see its past.
   */
  filter?: (stored: Stored) => boolean
  /** What of that is wanted. */
  matches?: (stored: Stored) => boolean
}

/** One object of a page, as it lies in the table: a page of large ones must not hold them all decoded. */
export interface Listed {
  key: string
  rv: number
  /** Decodes it, as a rule each time anew. */
  read(): Stored
}

/** Ends after `limit` objects, or sooner: when `pageBytes` of objects have been looked at, whether they match or not. */
export interface ListPage {
  rv: number
  /** May be empty although objects follow, where none of those that were looked at matches. */
  items: readonly Listed[]
  /** Set when objects follow the page, which need not match: continue with `after: next, at: rv`. Names an object that passes `filter`. */
  next?: string
  /** How many objects follow the page; only where neither `filter` nor `matches` is given, and few follow. */
  remaining?: number
}

/** One change, as it lies in the log: its states are decoded whenever they are asked for, each time anew. */
export interface Change {
  type: 'ADDED' | 'MODIFIED' | 'DELETED'
  rv: number
  key: string
  /** The new state, for DELETED the last one; both stamped with the change's own revision `rv`. */
  get stored(): Stored
  /** The state before a MODIFIED or DELETED. */
  get previous(): Stored | undefined
}

export interface ChangeBatch {
  changes: Change[]
  /** Everything up to here has been delivered. */
  rv: number
  /** More is known already: ask again at once. */
  more?: true
}

/** A side item as it is read; `attributes` without its keys. */
export interface CompanionItem {
  pk: string
  sk: string
  attributes: JsonObject
}

export interface CompanionQuery {
  limit?: number
  /** Only sort keys above this one. */
  after?: string
}

export interface CompanionPage {
  /** In the order of their sort keys. */
  items: CompanionItem[]
  /** Set when more may follow: continue with `after: next`. */
  next?: string
}

/** A sparse index of side items: it holds those that have both attributes. */
export interface IndexQuery {
  index: string
  /** Items that have this text in the attribute. */
  partition: { attribute: string; value: string }
  /** Items whose number in the attribute is at most `to`, the lowest first. */
  sort: { attribute: string; to: number }
  limit?: number
  after?: IndexPosition
}

/** Where an item is in an index. */
export interface IndexPosition {
  pk: string
  sk: string
  /** The number that it is sorted by. */
  at: number
}

export interface IndexPage {
  /** With those attributes that the index has. */
  items: CompanionItem[]
  /** Set when more may follow: continue with `after: next`. */
  next?: IndexPosition
}

/** A use of an object, by its credential: a companion with the attribute `lastActivity`. */
export interface Touch {
  table: Table
  key: string
  uid: string
  /** Unix ms. */
  at: number
  credential: {
    pk: string
    sk: string
    /** In the credential's own unit. */
    lastActivity: number
    /** Set together with it. */
    attributes: JsonObject
    /** What the attributes were made from, as it was read: nothing is written where it is another by now. Undefined = absent. */
    same: Readonly<Record<string, JsonValue | undefined>>
  }
}

export interface ReadOptions {
  /** A revision at which the caller has seen the object: an older state is read again for a moment. */
  notOlderThan?: number
}

export interface WriteOptions {
  /** Of the request or the invocation that writes. Once it is over, no revision is taken and no transaction sent: TooLate. */
  deadline: Deadline
}

export interface GetOptions extends ReadOptions {
  /** A revision that there must have been. */
  reached?: number
}

export interface Storage {
  /** One consistent read (with the activity in the same round trip). Throws TooNew, also where nothing is. */
  get(table: Table, key: string, options?: GetOptions): Promise<Stored | undefined>
  /** Reads, mutates, commits; again on a lost race. */
  update(table: Table, key: string, mutate: Mutate, options: WriteOptions & ReadOptions): Promise<WriteResult>
  /** Like `update`, but begins with `mutate(undefined)` without a read: what is there shows in the commit. */
  create(table: Table, key: string, mutate: Mutate, options: WriteOptions): Promise<WriteResult>
  list(table: Table, request: ListRequest): Promise<ListPage>
  /** How many objects lie in an index partition, looked at up to `most` of them; of a table that is `counted`. */
  count(table: Table, partition: string, most: number): Promise<number>
  /** What happened after `since`, in order; returns at once, possibly with nothing. Throws Expired when the log no longer reaches back. */
  changes(table: Table, since: number): Promise<ChangeBatch>
  /**
   * What has become of an object that was like this at revision `seen.rv`: its newest state, or the one in which it was
   * deleted. `seen` itself where nothing is newer. Throws Expired when the log no longer reaches back.
   */
  latest(table: Table, seen: Stored): Promise<Stored>
  /** The newest revision that a watch may start from so that nothing acknowledged before is repeated. */
  revision(table: Table): Promise<number>
  /** Side items by their keys, in the order asked for: one consistent call for up to a hundred. */
  getCompanions(keys: readonly { pk: string; sk: string }[]): Promise<(CompanionItem | undefined)[]>
  getCompanion(pk: string, sk: string): Promise<CompanionItem | undefined>
  /** Puts a side item that belongs to no object, over what is there: where a controller is, an open watch. The last one wins. */
  keepCompanion(item: CompanionItem, options: WriteOptions): Promise<void>
  /** Removes such an item, if there is one. */
  dropCompanion(key: { pk: string; sk: string }, options: WriteOptions): Promise<void>
  /** Side items of one partition, consistent, at most one page of 1 MB. */
  queryCompanions(pk: string, query?: CompanionQuery): Promise<CompanionPage>
  /** Side items as they were a moment ago, or long ago: nothing may rest on it that is not read again. */
  queryIndex(query: IndexQuery): Promise<IndexPage>
  /** Moves the activity of an object and of its credential forward, never back. Fails freely; callers may ignore it. */
  touchActivity(touch: Touch): Promise<void>
  /** Decides and settles everything up to now. To be run every minute; any number at once. */
  sweep(table: Table): Promise<void>
}
