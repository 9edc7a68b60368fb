/** Reads and writes the rows of a table. Writes belong into a commit (`groupcommit.ts`). */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { type IndexQuery, type Item, sizeOf } from '../items.ts'
import type { ItemKey } from '../keys.ts'
import { decode, encode } from './encoding.ts'

/** The sort keys from `low` on, below `high`, as bytes of UTF-8 or what sorts between them. */
export interface Range {
  low: Uint8Array
  high: Uint8Array
}

/** The encoded item, the size that counts for a page, its sort key, and its revision if it has one. A tuple, as SQLite returns it. */
export type Row = readonly [body: string, object: string | null, bytes: number, sk: string, rv: number | null]

export interface Rows {
  get(key: ItemKey): Item | undefined
  /** `bytes`: the size of the item, if the caller knows it. */
  put(item: Item, bytes?: number): void
  remove(key: ItemKey): void
  /** Returns rows by sort key. */
  range(pk: string, range: Range, limit: number): Row[]
  /** Returns rows by sort key as `range` does, without tombstones. */
  live(pk: string, range: Range, limit: number): Row[]
  /** Returns the tombstones with a revision above this one by sort key. */
  tombstones(pk: string, range: Range, above: number): Row[]
  /** Returns rows of the index `expiry` by number, then by key. */
  expiring(query: IndexQuery, limit: number): Row[]
  /** Removes items that have expired at this time in Unix seconds: at most `limit`, and as many tombstones. */
  removeExpired(seconds: number, limit: number): void
}

export function rowsOf(database: DatabaseSync): Rows {
  const at = 'WHERE pk = ? AND sk = ?'
  const within = 'WHERE pk = ? AND sk >= CAST(? AS TEXT) AND sk < CAST(? AS TEXT)'
  const row = 'SELECT body, object, bytes, sk, rv FROM'
  const tombstone = 'SELECT body, NULL, bytes, sk, rv FROM tombstones'
  const get = database.prepare(
    `SELECT body, object FROM items ${at} UNION ALL SELECT body, NULL FROM tombstones ${at} LIMIT 1`,
  )
  const put = database.prepare(`
    INSERT INTO items (pk, sk, body, object, bytes, expires, expiryIndex, expiry, rv) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET body = excluded.body, object = excluded.object, bytes = excluded.bytes,
      expires = excluded.expires, expiryIndex = excluded.expiryIndex, expiry = excluded.expiry, rv = excluded.rv`)
  const putTombstone = database.prepare(`
    INSERT INTO tombstones (pk, sk, body, bytes, expires, rv) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET body = excluded.body, bytes = excluded.bytes, expires = excluded.expires, rv = excluded.rv`)
  const remove = database.prepare(`DELETE FROM items ${at}`)
  const removeTombstone = database.prepare(`DELETE FROM tombstones ${at}`)
  const range = database.prepare(`${row} items ${within} UNION ALL ${tombstone} ${within} ORDER BY sk LIMIT ?`)
  const live = database.prepare(`${row} items ${within} ORDER BY sk LIMIT ?`)
  const newer = database.prepare(`${tombstone} INDEXED BY revisions ${within} AND rv > ? ORDER BY sk`)
  const expiring = database.prepare(`
    ${row} items WHERE expiryIndex = ? AND expiry >= ? AND expiry <= ? AND (expiry, pk, sk) > (?, ?, ?)
    ORDER BY expiry, pk, sk LIMIT ?`)
  const expired = (table: string) =>
    database.prepare(`DELETE FROM ${table} WHERE rowid IN (SELECT rowid FROM ${table} WHERE expires <= ? LIMIT ?)`)
  const removals = ['items', 'tombstones'].map(expired)
  for (const one of [get, range, live, newer, expiring]) one.setReturnArrays(true)

  const rows = (statement: typeof range, ...values: SQLInputValue[]): Row[] =>
    statement.all(...values) as unknown[] as Row[]

  return {
    get({ pk, sk }) {
      const found = get.get(pk, sk, pk, sk) as unknown as [body: string, object: string | null] | undefined
      return found && decode(...found)
    },
    put(item, bytes = sizeOf(item)) {
      const { pk, sk, expires, expiryIndex, expiry, gone } = item
      const seconds = typeof expires === 'number' ? Math.floor(expires) : null
      const rv = Number.isSafeInteger(item.rv) ? Number(item.rv) : null
      if (gone === true && rv !== null && expiryIndex === undefined && item.object === undefined) {
        remove.run(pk, sk)
        putTombstone.run(pk, sk, encode(item).body, bytes, seconds, rv)
        return
      }
      removeTombstone.run(pk, sk)
      const index = typeof expiryIndex === 'string' ? expiryIndex : null
      const { body, object } = encode(item)
      put.run(pk, sk, body, object, bytes, seconds, index, typeof expiry === 'number' ? expiry : null, rv)
    },
    remove({ pk, sk }) {
      remove.run(pk, sk)
      removeTombstone.run(pk, sk)
    },
    range: (pk, { low, high }, limit) => rows(range, pk, low, high, pk, low, high, limit),
    live: (pk, { low, high }, limit) => rows(live, pk, low, high, limit),
    tombstones: (pk, { low, high }, above) => rows(newer, pk, low, high, above),
    expiring({ partition, sort, after }, limit) {
      const from = sort.from ?? Number.NEGATIVE_INFINITY
      const start = after ?? { at: Number.NEGATIVE_INFINITY, pk: '', sk: '' }
      return rows(expiring, partition.value, from, sort.to, start.at, start.pk, start.sk, limit)
    },
    removeExpired(seconds, limit) {
      for (const one of removals) one.run(seconds, limit)
    },
  }
}
