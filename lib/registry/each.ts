/** Reads all objects of a kind, or those in partitions of its index, page by page. */
import type { Stored } from '../storage/interface.ts'
import type { Store } from './store.ts'

/** Yields the objects by name, at one revision. Does not check who may see them. */
export async function* eachStored(
  { kind, storage }: Pick<Store, 'kind' | 'storage'>,
  partitions?: readonly string[],
): AsyncGenerator<Stored> {
  const range = { keepsNext: true, ...(partitions && { partitions }) } as const
  for (let page = await storage.list(kind.table, range); ; ) {
    for (const one of page.items) yield one.read()
    if (page.next === undefined) return
    page = await storage.list(kind.table, { ...range, after: page.next, at: page.rv })
  }
}
