/** Reads sorted partitions side by side, and returns rows in key order as far as every partition has been read. */
import { byBytes } from '../../meta/value/byteorder.ts'
import type { Item, ItemQuery } from '../items.ts'
import type { Context } from './context.ts'

/** Above every sort key. */
const end: unique symbol = Symbol('end')
/** How far the rows are complete: up to this sort key, or to the end. */
export type Horizon = string | typeof end

/** The rows of one step: one list per partition, each complete from the previous horizon to this one. */
export interface Step {
  rows: Item[][]
  horizon: Horizon
  done: boolean
}

export const isWithin = (sk: string, horizon: Horizon): boolean => horizon === end || byBytes(sk, horizon) <= 0

interface Cursor {
  query: ItemQuery
  /** Rows that were read and not yet returned. */
  rows: Item[]
  /** The sort key up to which the partition has been read. */
  read: Horizon
}

export interface Scan {
  /** Reads the next step: at most `limit` rows of each partition at a time. */
  next(limit?: number): Promise<Step>
}

export function scan({ items }: Pick<Context, 'items'>, queries: readonly ItemQuery[]): Scan {
  const cursors = queries.map((query): Cursor => ({ query, rows: [], read: query.after ?? '' }))
  return {
    async next(limit) {
      await Promise.all(
        cursors
          .filter(({ rows, read }) => rows.length === 0 && read !== end)
          .map((cursor) => advance(items, cursor, limit)),
      )
      const horizon = cursors.map(({ read }) => read).reduce(lower, end)
      const rows = cursors.map((cursor) => take(cursor, horizon))
      return { rows, horizon, done: horizon === end }
    },
  }
}

/** The most rows that `scanNamed` reads at a time: each may have 400 KB. */
const keysAtOnce = 100

/** Reads the rows of the partition `pk` whose names are in an index partition. */
export function scanNamed({ items }: Pick<Context, 'items'>, pk: string, names: ItemQuery): Scan {
  const entries = scan({ items }, [names])
  return {
    async next(limit = keysAtOnce) {
      const { rows, ...step } = await entries.next(Math.min(limit, keysAtOnce))
      return { ...step, rows: [await items.batchGet(rows.flat().map(({ sk }) => ({ pk, sk })))] }
    },
  }
}

async function advance(items: Context['items'], cursor: Cursor, limit: number | undefined): Promise<void> {
  const after = cursor.read === end || cursor.read === '' ? {} : { after: cursor.read }
  const page = await items.query({ ...cursor.query, ...after, ...(limit !== undefined && { limit }) })
  const last = page.items.at(-1)
  cursor.rows = page.items
  cursor.read = page.more && last ? last.sk : end
}

function take(cursor: Cursor, horizon: Horizon): Item[] {
  const isAll = cursor.read === horizon
  const count = isAll ? -1 : cursor.rows.findIndex(({ sk }) => !isWithin(sk, horizon))
  return cursor.rows.splice(0, count === -1 ? cursor.rows.length : count)
}

const lower = (one: Horizon, other: Horizon): Horizon => {
  if (one === end) return other
  return other !== end && byBytes(other, one) < 0 ? other : one
}
