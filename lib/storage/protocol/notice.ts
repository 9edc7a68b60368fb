/** Lets a watch in the process of the writers see a change at once, instead of at its next poll. */
import type { Notice, Table } from '../interface.ts'
import type { Items } from '../items.ts'
import { bucketEnd, slotKey } from '../keys.ts'

/** Notices changes after a revision, from now on. */
export function noticeChanges({ onWrite }: Pick<Items, 'onWrite'>, table: Table, since: number): Notice {
  const { promise: change, resolve } = Promise.withResolvers<void>()
  const next = since + 1
  // Writers may be a bucket ahead, but an earlier change in the bucket of `next` is committed before a reader can continue.
  const revisions = onWrite ? [next, bucketEnd(next) + 1] : []
  const ends = revisions.map((rev) => onWrite?.(slotKey(table.resource, rev).pk, resolve))
  return {
    change,
    [Symbol.dispose]() {
      for (const end of ends) end?.()
    },
  }
}
