/** Counts the objects of an index partition by the marks that are written with them. */

import { isPartition, marksOf } from '../keys.ts'
import type { Context } from './context.ts'

/** Counts up to `most`. One query is usually enough, because a mark has some hundred bytes. */
export async function countMarks(
  { items }: Context,
  resource: string,
  partition: string,
  most: number,
): Promise<number> {
  if (!isPartition(items.limits, resource, partition)) return 0
  const query = { pk: marksOf(resource, partition), attributes: ['sk'] }
  let found = 0
  let after: string | undefined
  while (found < most) {
    const page = await items.query({ ...query, limit: most - found, ...(after !== undefined && { after }) })
    found += page.items.length
    after = page.items.at(-1)?.sk
    if (!page.more || after === undefined) return found
  }
  return found
}
