/** Reads the names in an index partition that has only names, or those of the marks that count the objects of one. */
import type { Name, NameRange } from '../interface.ts'
import type { Item } from '../items.ts'
import { isPartition, marksOf, parseSortKey, rowsOf } from '../keys.ts'
import { rvOf } from '../records.ts'
import type { Context } from './context.ts'
import { scan } from './scan.ts'

/** Reads up to `most` names. Some thousands take one query, because an item has some hundred bytes. */
export async function readNames({ items }: Context, resource: string, of: NameRange, most?: number): Promise<Name[]> {
  const [partition, pk] =
    'counted' in of ? [of.counted, marksOf(resource, of.counted)] : [of.named, rowsOf(resource, of.named)]
  if (!isPartition(items.limits, resource, partition)) return []
  const found: Item[] = []
  const all = scan({ items }, [{ pk, attributes: ['sk', 'rv'] }])
  for (let isDone = false; !isDone && (most === undefined || found.length < most); ) {
    const { rows, done } = await all.next(most && most - found.length)
    found.push(...rows.flat())
    isDone = done
  }
  return found.map((one) => ({ key: parseSortKey(one.sk), rv: rvOf(one) }))
}
