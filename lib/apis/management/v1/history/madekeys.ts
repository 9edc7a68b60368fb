/** Finds the keys that the keys of a name made, at the price of these and not of all keys. */
import { completeUpTo, madePartition, positionKey } from '../../../../authentication/history/keptsince.ts'
import { decodeKeyInternal } from '../../../../authentication/keyinternal.ts'
import { dnsSubdomainErrors } from '../../../../meta/object/names.ts'
import type { SelectedKeys } from '../../../../registry/kind.ts'
import { StorageError } from '../../../../storage/errors.ts'
import type { ListRequest, Storage, Table } from '../../../../storage/interface.ts'
import { getCompanion } from '../../../../storage/readcompanions.ts'

/** The most changes to read. Where the publisher of events is further behind, a list reads all keys. */
const MOST_CHANGES = 4096

/**
 * Returns the names of all these keys at revision `at` or the newest, and possibly of others. Their items are written after them, so it
 * also reads the changes that the items may lack, and those after `at`, which may have removed some. Undefined if items of older keys may
 * be missing, or are more than one read returns.
 */
export async function keysMadeWith(
  storage: Storage,
  { table, maker }: { table: Table; maker: string },
  { at, notOlderThan = 0 }: Pick<ListRequest, 'at' | 'notOlderThan'>,
): Promise<SelectedKeys | undefined> {
  if (dnsSubdomainErrors(maker).length > 0) return undefined
  // In this order: the items are read after the position that says what they have, and the revision after the items.
  const complete = completeUpTo(await getCompanion(storage, positionKey))
  if (complete === undefined) return undefined
  const { items, next } = await storage.queryCompanions(madePartition(maker))
  const newest = await storage.revision(table)
  const since = Math.min(complete, at ?? newest)
  const isFar = newest - since > MOST_CHANGES || newest < Math.max(notOlderThan, complete)
  if (next !== undefined || isFar) return undefined
  const changed = await changedSince(storage, { table, maker, since, newest })
  return changed && { at: at ?? newest, keys: [...items.map(({ attributes }) => String(attributes.name)), ...changed] }
}

/** Returns the names of the keys of this maker that have changed in (since, newest], or undefined if the log does not tell. */
async function changedSince(
  storage: Storage,
  { table, maker, since, newest }: { table: Table; maker: string; since: number; newest: number },
): Promise<string[] | undefined> {
  const names: string[] = []
  for (let from = since; from < newest; ) {
    const batch = await storage.changes(table, from, newest).catch((error: unknown) => {
      if (error instanceof StorageError && error.code === 'Expired') return undefined
      throw error
    })
    if (batch === undefined || batch.rv === from) return undefined
    for (const { key, stored } of batch.changes) {
      if (decodeKeyInternal(stored.internal).maker === maker) names.push(key)
    }
    from = batch.rv
  }
  return names
}
