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

/** The body of an item, and the size that counts for a page. */
export interface Row {
  body: string
  bytes: number
}

export interface Rows {
  get(key: ItemKey): Item | undefined
  /** `bytes`: the size of the item, if the caller knows it. */
  put(item: Item, bytes?: number): void
  remove(key: ItemKey): void
  /** Yields rows by sort key. Finish or leave the loop before the next write. */
  range(pk: string, range: Range, limit: number): Iterable<Row>
  /** Yields rows of the index `expiry` by number, then by key. */
  expiring(query: IndexQuery, limit: number): Iterable<Row>
  /** Removes items that have expired at this time in Unix seconds, at most `limit`. */
  removeExpired(seconds: number, limit: number): void
}

export function rowsOf(database: DatabaseSync): Rows {
  const get = database.prepare('SELECT body FROM items WHERE pk = ? AND sk = ?')
  const put = database.prepare(`
    INSERT INTO items (pk, sk, body, bytes, expires, expiryIndex, expiry) VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET body = excluded.body, bytes = excluded.bytes, expires = excluded.expires,
      expiryIndex = excluded.expiryIndex, expiry = excluded.expiry`)
  const remove = database.prepare('DELETE FROM items WHERE pk = ? AND sk = ?')
  const range = database.prepare(`
    SELECT body, bytes FROM items WHERE pk = ? AND sk >= CAST(? AS TEXT) AND sk < CAST(? AS TEXT) ORDER BY sk LIMIT ?`)
  const expiring = database.prepare(`
    SELECT body, bytes FROM items WHERE expiryIndex = ? AND expiry >= ? AND expiry <= ? AND (expiry, pk, sk) > (?, ?, ?)
    ORDER BY expiry, pk, sk LIMIT ?`)
  const removeExpired = database.prepare(
    'DELETE FROM items WHERE rowid IN (SELECT rowid FROM items WHERE expires <= ? LIMIT ?)',
  )
  for (const one of [get, range, expiring]) one.setReturnArrays(true)

  function* rows(statement: typeof range, ...values: SQLInputValue[]): Generator<Row> {
    for (const [body, bytes] of statement.iterate(...values) as Iterable<unknown> as Iterable<[string, number]>)
      yield { body, bytes }
  }

  return {
    get({ pk, sk }) {
      const [body] = (get.get(pk, sk) as unknown as [string] | undefined) ?? []
      return body === undefined ? undefined : decode(body)
    },
    put(item, bytes = sizeOf(item)) {
      const { pk, sk, expires, expiryIndex, expiry } = item
      const seconds = typeof expires === 'number' ? Math.floor(expires) : null
      const index = typeof expiryIndex === 'string' ? expiryIndex : null
      put.run(pk, sk, encode(item), bytes, seconds, index, typeof expiry === 'number' ? expiry : null)
    },
    remove: ({ pk, sk }) => void remove.run(pk, sk),
    range: (pk, { low, high }, limit) => rows(range, pk, low, high, limit),
    expiring({ partition, sort, after }, limit) {
      const from = sort.from ?? Number.NEGATIVE_INFINITY
      const start = after ?? { at: Number.NEGATIVE_INFINITY, pk: '', sk: '' }
      return rows(expiring, partition.value, from, sort.to, start.at, start.pk, start.sk, limit)
    },
    removeExpired: (seconds, limit) => void removeExpired.run(seconds, limit),
  }
}
