/** Counts the objects of an index partition by the marks that are written with them, and reads those of one that has only names. */

import type { Item, ItemQuery } from '../items.ts'
import { isPartition, marksOf, parseSortKey, rowsOf } from '../keys.ts'
import { rvOf } from '../records.ts'
import type { Context } from './context.ts'
import { scan } from './scan.ts'

/** Counts up to `most`. One query is usually enough, because a mark has some hundred bytes. */
export const countMarks = async (
  context: Context,
  resource: string,
  partition: string,
  most: number,
): Promise<number> =>
  (await readAll(context, [resource, partition], { pk: marksOf(resource, partition), attributes: ['sk'] }, most)).length

/** Returns the names in an index partition of names, and the revisions of their creates. */
export const readNames = async (context: Context, resource: string, partition: string) =>
  (await readAll(context, [resource, partition], { pk: rowsOf(resource, partition), attributes: ['sk', 'rv'] })).map(
    (one) => ({ key: parseSortKey(one.sk), rv: rvOf(one) }),
  )

/** Reads the items of a partition, or as many as are counted. */
async function readAll(
  { items }: Context,
  [resource, partition]: readonly [resource: string, partition: string],
  query: ItemQuery,
  most?: number,
): Promise<Item[]> {
  const found: Item[] = []
  if (!isPartition(items.limits, resource, partition)) return found
  const all = scan({ items }, [query])
  for (let isDone = false; !isDone && (most === undefined || found.length < most); ) {
    const { rows, done } = await all.next(most && most - found.length)
    found.push(...rows.flat())
    isDone = done
  }
  return found
}
