/** Implements the item operations in a table of SQLite. A write takes effect at once, so that transactions never conflict. */
import {
  type IndexQuery,
  type Item,
  type ItemPage,
  type ItemQuery,
  type Items,
  ItemsFault,
  type ItemWrite,
  keyOf,
  type TransactOutcome,
  type Unneeded,
  type WriteOutcome,
} from '../items.ts'
import { limits } from '../limits.ts'
import { allows, applyWrite } from './effects.ts'
import { decode } from './encoding.ts'
import { faultOf } from './faults.ts'
import { checkBatch, checkItem, checkKey, checkQuery, checkTransaction, checkWrite } from './refusals.ts'
import type { Range, Row, Rows } from './rows.ts'
import type { Table } from './table.ts'

/** The attributes of the index `expiry`, as in infra/stack/data.ts. */
const indexed = ['pk', 'sk', 'expiryIndex', 'expiry', 'name', 'uid']

/** Returns the items of a table. `now` (unix ms) judges deadlines. `called` is called for each operation. */
export function itemsOf({ rows, commit, listeners }: Table, now: () => number, called: () => void = () => {}): Items {
  async function read<T>(operation: () => T): Promise<T> {
    called()
    try {
      return operation()
    } catch (error) {
      throw faultOf(error)
    }
  }

  async function write<T>(operation: () => T, deadline = Number.POSITIVE_INFINITY): Promise<T> {
    called()
    try {
      return await commit(() => {
        if (now() > deadline) throw new ItemsFault('unanswered', new Error('too late to be sent'))
        return operation()
      })
    } catch (error) {
      throw faultOf(error)
    }
  }

  function put(item: Item): void {
    rows.put(item, checkItem(item))
  }

  function apply(one: ItemWrite, before: Item | undefined): void {
    if (one.type === 'check') return
    const item = applyWrite(one, before)
    if (item) put(item)
    else rows.remove(keyOf(one))
  }

  function transact(writes: readonly ItemWrite[]): TransactOutcome {
    checkTransaction(writes)
    const found = writes.map((one) => rows.get(keyOf(one)))
    const refused = writes.flatMap((one, index) => (allows(found[index], one) ? [] : [index]))
    if (refused.length > 0) return { done: false, refused, conflicts: [] }
    for (const [index, one] of writes.entries()) apply(one, found[index])
    return { done: true }
  }

  return {
    limits,
    isUnmetered: true,
    get: (key) =>
      read(() => {
        checkKey(key)
        return rows.get(key)
      }),
    batchGet: (keys, attributes) =>
      read(() => {
        checkBatch(keys)
        return keys.flatMap((key) => {
          const item = rows.get(key)
          return item ? [project(item, attributes)] : []
        })
      }),
    query: (query) =>
      read(() => {
        const { limit = limits.queryItems } = query
        if ('index' in query) return indexPage(rows, query, limit)
        checkQuery(query)
        const { pk, attributes, unneeded } = query
        return unneeded
          ? neededPage(rows, query, unneeded, limit)
          : pageOf((part, count) => rows.range(pk, part, count), rangeOf(query), limit, attributes)
      }),
    async write(one, deadline) {
      const outcome = await write((): WriteOutcome => {
        checkWrite(one)
        const there = one.type === 'set' || one.when ? rows.get(keyOf(one)) : undefined
        if (!allows(there, one)) return { done: false, there }
        apply(one, there)
        return { done: true }
      }, deadline)
      if (outcome.done) listeners.tell([keyOf(one).pk])
      return outcome
    },
    allocate: (key, at) =>
      write(() => {
        const { n, ...others } = { ...NEW_REVISION, at, ...rows.get(key) }
        const item = { ...others, ...key, n: Number(n) + 1 }
        put(item)
        return item
      }),
    async transact(writes, deadline) {
      const outcome = await write(() => transact(writes), deadline)
      if (outcome.done) listeners.tell(writes.map((one) => keyOf(one).pk))
      return outcome
    },
    onWrite: listeners.on,
  }
}

/** The revision item of a kind without objects, besides its `at`. */
const NEW_REVISION = { n: 1, settled: 1, floor: 1, cleared: 1, marked: 1, markedAt: 0 }

/** The row after a page shows that more follow. SQLite takes no infinite limit. */
const oneMore = (limit: number): number => Math.min(limit + 1, 2 ** 31)

/** Returns the sort keys of a query. A zero byte makes the least text above another one; no text has the byte 255. */
function rangeOf({ from = '', to, prefix = '', after }: ItemQuery): Range {
  const low = [from, prefix].sort(byBytes).at(-1) ?? ''
  return {
    low: Buffer.from(after === undefined ? low : ([low, `${after}\0`].sort(byBytes).at(-1) ?? '')),
    high: to === undefined ? Buffer.concat([Buffer.from(prefix), Buffer.of(255)]) : Buffer.from(`${to}\0`),
  }
}

const byBytes = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other))

/** The most rows that are read at a time: many cost less than one after the other, and each may have 400 KB. */
const rowsAtOnce = 64

type ReadRows = (range: Range, limit: number) => Row[]

/**
 * Calls `visit` with up to `most` rows, and stops when they have `queryBytes`, or when it has returned true. Returns whether more rows
 * follow.
 */
function visitRows(read: ReadRows, range: Range, most: number, visit: (row: Row) => boolean): boolean {
  let isFull = false
  for (let [{ low }, count, bytes] = [range, 0, 0]; ; ) {
    const asked = Math.min(oneMore(most - count), rowsAtOnce)
    const found = read({ ...range, low }, asked)
    for (const row of found) {
      if (isFull || count === most || bytes >= limits.queryBytes) return true
      const [, , size] = row
      count++
      bytes += size
      isFull = visit(row)
    }
    const [, , , last] = found.at(-1) ?? []
    if (found.length < asked || last === undefined) return false
    low = Buffer.from(`${last}\0`)
  }
}

function pageOf(read: ReadRows, range: Range, limit: number, attributes: readonly string[] | undefined): ItemPage {
  const items: Item[] = []
  const more = visitRows(read, range, limit, ([body, object]) => {
    items.push(project(decode(body, object), attributes))
    return false
  })
  return { items, more }
}

function indexPage(rows: Rows, query: IndexQuery, limit: number): ItemPage {
  const found = rows.expiring(query, oneMore(limit))
  const items = found.slice(0, limit).map(([body, object]) => project(decode(body, object), indexed))
  return { items, more: found.length > limit }
}

/** Returns a page of what the reader needs: whole items up to the limit, outlines among them, and newer tombstones. */
function neededPage(rows: Rows, query: ItemQuery, { upTo, text }: Unneeded, limit: number): ItemPage {
  const { pk, attributes } = query
  const range = rangeOf(query)
  const read: ReadRows = (part, count) => rows.live(pk, part, count)
  const items: Item[] = []
  let whole = 0
  const more = visitRows(read, range, Math.max(limit, limits.queryItems), ([body, object, size, sk, rv]) => {
    const lacksText = text !== undefined && object !== null && !object.includes(text)
    if (lacksText && rv !== null && rv <= upTo) {
      items.push({ pk, sk, rv, outlined: size })
      return false
    }
    items.push(project(decode(body, object), attributes))
    return ++whole === limit
  })
  const last = items.at(-1)
  const visited = more && last ? { ...range, high: Buffer.from(`${last.sk}\0`) } : range
  const gone = rows.tombstones(pk, visited, upTo).map(([body]) => project(decode(body, null), attributes))
  const all = gone.length === 0 ? items : [...items, ...gone].sort((one, other) => byBytes(one.sk, other.sk))
  return { items: all, more }
}

function project(item: Item, attributes: readonly string[] | undefined): Item {
  if (!attributes) return item
  return Object.fromEntries(attributes.flatMap((name) => (name in item ? [[name, item[name]]] : []))) as Item
}
