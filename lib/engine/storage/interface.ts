/**
 * Declares the storage port: objects with revisions, and a total order of changes per kind. `protocol/storage.ts`
 * implements it over the items of any driver (`items.ts`). `README.md` explains the protocol.
 */
import type { Deadline } from '../meta/errors/deadline.ts'
import type { JsonObject, JsonValue, KubeObject } from '../meta/types.ts'
import type { ItemKey } from './keys.ts'

/**
 * A stored object. `object.metadata.resourceVersion` is `String(rv)`. `internal` is stored and versioned with the object
 * and never leaves the server: the creator, the hash of a credential.
 */
export interface Stored {
  /** `name`, or `namespace/name`. */
  key: string
  rv: number
  object: KubeObject
  internal: JsonObject
  /** When the object was last used, in unix ms, if the table records activity. Not part of the version. */
  activity?: number
  /** What was noted together with the last use (`Touch.noted`). Not part of the version. */
  noted?: JsonObject
}

/** The properties of a kind that storage needs. */
export interface Table {
  /** Plural resource name; the prefix of the partition keys. */
  resource: string
  /** Returns the index partitions of an object (`user:alice`), besides the main one. Lists can be restricted to them. */
  partitions(stored: Pick<Stored, 'object' | 'internal'>): readonly string[]
  /**
   * Returns the index partitions that have only the name of an object (`made:ci`), which must not change while it exists. A write of it
   * costs nothing there, and a list reads its row by key.
   */
  names?(stored: Pick<Stored, 'object' | 'internal'>): readonly string[]
  /** Whether the last activity of each object is recorded, and read with it. */
  activity: boolean
  /**
   * Reports whether an object counts in its index partitions (`NameRange`), which must not change while it exists. Absent if
   * nothing is counted.
   */
  counted?(stored: Pick<Stored, 'object' | 'internal'>): boolean
}

/** The item must exist, have these attributes, and have none of `lacks`. */
export interface CompanionCondition {
  attributes?: JsonObject
  lacks?: readonly string[]
}

/**
 * A side item that is committed in the transaction of the object: a credential, an owner index entry. If a condition `when`
 * fails, the write has lost a race: the mutation runs again and must read the facts again that it depends on.
 */
export type Companion = ItemKey &
  (
    | { op: 'delete'; when?: CompanionCondition }
    /** Replaces the whole item. With `ifAbsent`, here and below, the write fails with CompanionExists if the item exists. */
    | { op: 'put'; attributes: JsonObject; ifAbsent?: true; when?: CompanionCondition }
    /** Sets `attributes`, removes `remove`, keeps other attributes (the last activity of a credential). Creates a missing item. */
    | { op: 'set'; attributes: JsonObject; remove?: readonly string[]; ifAbsent?: true; when?: CompanionCondition }
    /** Writes nothing; the write fails with CompanionExists if the item exists. */
    | { op: 'absent' }
    /** Writes nothing; fails with CompanionChanged unless the item has these attributes and none of `lacks`. */
    | { op: 'unchanged'; attributes: JsonObject; lacks?: readonly string[] }
  )

/** The change that a mutation asks for. If the mutation throws, nothing is written and the error is passed on. */
export type Mutation =
  | { type: 'none' }
  /** With `reserve`, the object may use the reserved part of the size limits, so that deleting or disabling it always fits. */
  | { type: 'put'; object: KubeObject; internal: JsonObject; companions?: readonly Companion[]; reserve?: boolean }
  | { type: 'delete'; companions?: readonly Companion[] }

/**
 * Computes the change from the live row. It runs again after a lost race, so it must be repeatable, and it must not change
 * `current`. `current` is undefined if no object (or only a tombstone) is stored.
 */
export type Mutate = (current: Stored | undefined) => Mutation | Promise<Mutation>

export interface WriteResult {
  /** The previous state; undefined for a create. */
  before?: Stored
  /** The new state; undefined after a delete. */
  after?: Stored
  /** The revision of this write. For `none` the revision of the row, or 0 without one. */
  rv: number
}

export interface ListRequest {
  /** Returns only keys of this namespace. */
  namespace?: string
  /** Returns only objects whose names begin so: of this namespace, or of a kind without namespaces. */
  namePrefix?: string
  /** Returns only the object with this key. */
  key?: string
  /** Returns only objects in one of these index partitions: those with all objects that the client may see. Undefined: all objects. */
  partitions?: readonly string[]
  /** Reads only these index partitions, which have all objects that `matches` accepts. Never more than `partitions`. */
  within?: readonly string[]
  /**
   * Reads only the objects in this index partition of names, which has all that `matches` accepts, and those of the newest changes.
   * Ignored with `partitions`, `within`, `key` or `filter`.
   */
  named?: string
  /** The most matching objects to return. Undefined: as many as fit in a page. */
  limit?: number
  /** Continues after this key, at revision `at`. */
  after?: string
  /** Lists at exactly this revision. Undefined: at the newest. */
  at?: number
  /** Waits until this revision is visible, then lists at the newest. */
  notOlderThan?: number
  /**
   * Reports whether the client may see an object; the list reveals nothing about other objects. The filter must accept
   * both the state at the list's revision and the current state, or the last one before deletion. A client who lost
   * access therefore does not see the past.
   */
  filter?: (stored: Stored) => boolean
  /** Reports whether the client asked for an object that it may see (selectors). */
  matches?: (stored: Stored) => boolean
  /** A text that is in the JSON of every object that `matches` accepts. Most others are not decoded then. */
  text?: string | undefined
  /** The client never learns `next`. So it may name an object that `filter` rejects, and such objects end a page too. */
  keepsNext?: true
}

/** An index partition of names, or one whose objects are counted (`Table.counted`). */
export type NameRange = { named: string } | { counted: string }

export interface Name {
  key: string
  /** The revision of its create, in an index partition of names: it may be gone, or another object's by now. 0 where objects are counted. */
  rv: number
}

/** An object of a page in stored form, so that a page never holds many large objects decoded. */
export interface Listed {
  key: string
  rv: number
  /** Decodes the object, in most cases again on each call. */
  read(): Stored
  /** Decodes only its internal part. */
  readInternal(): JsonObject
}

/** A page of a list. It ends after `limit` objects, or earlier, after `pageBytes` of objects, matching or not. */
export interface ListPage {
  rv: number
  /** May be empty although objects follow, if no object that was read matches. */
  items: readonly Listed[]
  /**
   * Set if objects follow, matching or not: continue with `after: next, at: rv`. Names an object that `filter` accepts,
   * unless the request has `keepsNext`.
   */
  next?: string
  /** How many objects follow the page. Set only without `filter` and `matches`, and only if few follow. */
  remaining?: number
}

/** A change in stored form. Each access to `stored` or `previous` decodes the state again. */
export interface Change {
  type: 'ADDED' | 'MODIFIED' | 'DELETED'
  rv: number
  key: string
  /** The new state, or for DELETED the last one, with the change's own revision `rv`. */
  get stored(): Stored
  /** The state before a MODIFIED or DELETED. */
  get previous(): Stored | undefined
  /** When it was written, in unix seconds, by the clock of the writer. */
  at: number
  /** Who made the change (`CommitOptions.by`). Absent if the writer did not say. */
  by?: JsonObject
}

/** A write of an object. `before` and `after` are undefined if the object did not exist. */
export interface RowChange {
  resource: string
  key: string
  rv: number
  before: KubeObject | undefined
  after: KubeObject | undefined
}

/** A record of the stream of writes that a driver may have. */
export interface StreamedWrite {
  id: string
  /** Decodes a write of an object of these resources; undefined for all other records. */
  read(resources: readonly string[]): RowChange | undefined
}

export interface ChangeBatch {
  changes: Change[]
  /** All changes up to this revision have been delivered. */
  rv: number
  /** More changes are available: poll again at once. */
  more?: true
}

/** A side item; `attributes` excludes its keys. The store deletes it at some time after `expires` (unix seconds). */
export interface CompanionItem extends ItemKey {
  attributes: JsonObject
}

/**
 * A write of a side item that belongs to no object: the position of a controller, an open watch. Without `when`, the last write
 * wins. `null` removes the item.
 */
export type CompanionWrite = (CompanionItem & { when?: CompanionTest }) | (ItemKey & { attributes: null })

export type CompanionTest =
  /** Writes the item if there is none. After a lost answer, the item may be the one that this write has made. */
  | 'absent'
  /** Replaces the item if it is still as it was read, or absent. The attribute `swap` belongs to the store. */
  | { is: CompanionItem | undefined }

export interface CompanionQuery {
  limit?: number
  /** Returns only items above this sort key, or after this `next`. */
  after?: string
}

export interface CompanionPage {
  /** Sorted by sort key, or by the number of the index. Items of an index have the attributes that it projects. */
  items: CompanionItem[]
  /** Set when more may follow: continue with `after: next`. */
  next?: string
}

/** A part of a sparse index of side items, which contains those that have both attributes. */
export interface IndexRange {
  index: string
  /** Selects items whose attribute has this text. */
  partition: { attribute: string; value: string }
  /** Selects items whose attribute is a number from `from` (default: any) to `to`, both included, lowest first. */
  sort: { attribute: string; from?: number; to: number }
}

/** Something that is recorded beside an object without a change of it: that it was used, through its credential, or else what `noted` says. */
export interface Touch {
  table: Table
  key: string
  uid: string
  /** Unix ms. */
  at: number
  /** The credential of a use, a companion with the attribute `lastActivity`. Without one, the object must exist. */
  credential?: ItemKey & {
    /** In the unit of the credential. */
    lastActivity: number
    /** Attributes to set together with it. */
    attributes: JsonObject
    /** The attributes as they were read. Nothing is written if one of them has changed. Undefined: absent. */
    same: Readonly<Record<string, JsonValue | undefined>>
    /** Attributes that the credential must not have. */
    lacks?: readonly string[]
  }
  /** Attributes to set on the activity item together with the time, if the table records activity. */
  noted?: JsonObject
  /** Side items to write in the same transaction. An item that exists keeps its other attributes. */
  also?: readonly CompanionItem[]
}

/**
 * `refused`: the credential has changed or its time is as new already, or the object is gone. `busy`: another transaction held the items. In both
 * cases nothing was written.
 */
export type TouchOutcome = 'done' | 'refused' | 'busy'

export interface ReadOptions {
  /** A revision at which the caller has seen the object. An older state is read again for a short time. */
  notOlderThan?: number
}

export interface CommitOptions {
  /** The deadline of the request or invocation. After it, no revision is taken and no transaction is sent: TooLate. */
  deadline: Deadline
  /** Who makes the change: stored in the log only, for `Change.by`. Keep it below 300 bytes: a slot is paid for by the KB. */
  by?: JsonObject
}

export interface UpdateOptions extends CommitOptions, ReadOptions {
  /** Starts with `mutate(undefined)` instead of a read. The commit fails if the object exists. */
  isNew?: boolean
}

export interface GetOptions extends ReadOptions {
  /** A revision that must exist; else TooNew. */
  reached?: number
}

export interface Notice extends Disposable {
  /** Resolves at a change that is committed in this process, if the driver tells of it. Otherwise it never does. */
  readonly change: Promise<void>
}

export interface Storage {
  /** Reads one object consistently, with its activity in the same round trip. Throws TooNew, even if no object exists. */
  get(table: Table, key: string, options?: GetOptions): Promise<Stored | undefined>
  /** Reads objects consistently and returns them in the same order, without their activity: one call for up to a hundred. */
  getMany(wanted: readonly { table: Table; key: string }[]): Promise<(Stored | undefined)[]>
  /** Reads, mutates and commits; repeats after a lost race. */
  update(table: Table, key: string, mutate: Mutate, options: UpdateOptions): Promise<WriteResult>
  list(table: Table, request: ListRequest): Promise<ListPage>
  /** Returns the names in an index partition, in their order, up to `most`. */
  names(table: Table, of: NameRange, most?: number): Promise<Name[]>
  /**
   * Returns the changes after `since`, in order, without waiting. It may lack the newest ones, but none up to `reached`, a revision that
   * the caller has seen. Throws Expired if the log no longer reaches back.
   */
  changes(table: Table, since: number, reached?: number): Promise<ChangeBatch>
  /** Notices changes after `since` from now on. Call it before `changes`, so that no change falls between both. */
  notice(table: Table, since: number): Notice
  /**
   * Returns the newest state of an object that had state `seen` at revision `seen.rv`, or the state in which it was
   * deleted. Returns `seen` if nothing is newer. Throws Expired if the log no longer reaches back.
   */
  latest(table: Table, seen: Stored): Promise<Stored>
  /** Returns the newest revision from which a watch can start without repeating acknowledged changes. */
  revision(table: Table): Promise<number>
  /** Reads side items by key and returns them in the same order: one consistent call for up to a hundred. */
  getCompanions(keys: readonly ItemKey[]): Promise<(CompanionItem | undefined)[]>
  /**
   * Reads the side items of one partition consistently, at most one page of 1 MB. Or reads an index, which may be stale: read an item
   * again before you act on it.
   */
  queryCompanions(from: string | IndexRange, query?: CompanionQuery): Promise<CompanionPage>
  /**
   * Writes a side item by itself. Returns it as it is written; undefined if its condition failed, or after a removal. With `is`, throws
   * Undecided if the write may have taken effect, now or later.
   */
  writeCompanion(item: CompanionWrite, options: CommitOptions): Promise<CompanionItem | undefined>
  /**
   * Advances the last activity of an object and of its credential, never back, in one transaction. If only the activity of
   * the object is as new already, it writes the rest of a use. Throws Full, which wrote nothing, and if the store does not answer: then it may
   * take effect, now or later.
   */
  touchActivity(touch: Touch): Promise<TouchOutcome>
  /** Closes all gaps and settles all revisions up to now. Run it every minute; concurrent runs are safe. */
  sweep(table: Table): Promise<void>
}
