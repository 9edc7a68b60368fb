/** Counts the objects of an index partition by the marks that are written with them. */

import { isPartition, marksOf } from '../keys.ts'
import type { Context } from './context.ts'
import { scan } from './scan.ts'

/** Counts up to `most`. One query is usually enough, because a mark has some hundred bytes. */
export async function countMarks(
  { items }: Context,
  resource: string,
  partition: string,
  most: number,
): Promise<number> {
  if (!isPartition(items.limits, resource, partition)) return 0
  const marks = scan({ items }, [{ pk: marksOf(resource, partition), attributes: ['sk'] }])
  let found = 0
  for (let isDone = false; found < most && !isDone; ) {
    const { rows, done } = await marks.next(most - found)
    found += rows.flat().length
    isDone = done
  }
  return found
}
