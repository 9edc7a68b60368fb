/** Copies the stored items of one access key under other names, which is faster than creating keys. */

import type { Item } from '../../lib/engine/storage/items.ts'
import { type ItemKey, rowsOf } from '../../lib/engine/storage/keys.ts'
import { credentialItemKey } from '../../lib/keys/credential/credential.ts'
import { OwnedAccessKey } from '../../lib/keys/ownedaccesskey.ts'

/** Direct access to the items of a table. */
export interface Rows {
  get(key: ItemKey): Promise<Item | undefined>
  put(items: readonly Item[]): Promise<void>
}

/**
 * Copies an access key `count` times and returns the names. Each copy has a row, index entries and a credential with its
 * own name, UID and hash, at the revision of the original and without log entries. Its name must not occur in other values.
 */
export async function copyKey(rows: Rows, name: string, count: number): Promise<string[]> {
  const { resource } = OwnedAccessKey.table
  const itemAt = async (key: ItemKey): Promise<Item> => {
    const item = await rows.get(key)
    if (!item) throw new Error(`nothing is at ${key.pk} ${key.sk}`)
    return item
  }
  const row = await itemAt({ pk: rowsOf(resource), sk: name })
  const { uid } = JSON.parse(String(row.object)).metadata
  const { credential } = JSON.parse(String(row.internal))
  const others = ((row.partitions ?? []) as string[]).map((one) => ({ pk: rowsOf(resource, one), sk: name }))
  const rest = await Promise.all([...others, credentialItemKey(credential)].map(itemAt))
  const patterns = [row, ...rest].map((item) => JSON.stringify(item))
  const copies = Array.from({ length: count }, (_, index) => ({
    name: `${name}-${index}`,
    number: String(index).padStart(8, '0'),
  }))
  const itemsOf = (copy: { name: string; number: string }): Item[] =>
    patterns.map((pattern) =>
      JSON.parse(
        pattern
          .replaceAll(name, copy.name)
          .replaceAll(uid, `${copy.number}${uid.slice(8)}`)
          .replaceAll(credential.hash, `${copy.number}${credential.hash.slice(8)}`),
      ),
    )
  // In parts, because the items of all copies may need much memory.
  for (let first = 0; first < copies.length; first += 1000)
    await rows.put(copies.slice(first, first + 1000).flatMap(itemsOf))
  return copies.map((copy) => copy.name)
}
