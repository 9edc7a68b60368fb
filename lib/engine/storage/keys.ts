/**
 * Builds the keys of all items: string keys `pk` and `sk`, and `expires` (unix seconds) on items that the driver deletes.
 *
 *   revision   pk=lamps               sk=#revision          n=1042 settled=1024 floor=1 at=1795257600000
 *                                                                     cleared=900 marked=1020 markedAt=1795257600000
 *   row        pk=notes#o     sk=p-one#alpha        rv=1041 object="{…}" internal="{…}" partitions=[user:jo]
 *   tombstone  pk=notes#o     sk=p-one#beta         rv=1042 gone=true expires=…
 *              pk=notes#deleted sk=p-one#beta       the same, once it has left the rows
 *   copy       pk=lamps#o#user:jo     sk=ci                 like the row, in each of its index partitions
 *   entry      pk=lamps#o#made:ci     sk=job                rv=1041, of its create: in each index partition of names
 *   mark       pk=lamps#o#count#user:jo sk=ci               no attributes: counts the objects of an index partition
 *   slot       pk=lamps#log#16        sk=0000000000001041   id=… type=MODIFIED key=ci object internal prev={rv object internal partitions}
 *                                                                     partitions=[user:jo] left=[team:a] names=[made:ci] by={user key …} expires=…
 *              pk=lamps#log#16        sk=0000000000001040   type=VOID expires=…
 *   activity   pk=lamps#activity      sk=ci                 at=1795257600000 uid=… and what is noted
 *   companion  any pk and sk that its owner chooses
 *
 * `n` is the newest revision taken. Up to `settled`, every slot is filled and every row visible. `floor` is the oldest
 * revision that a reader may request. `at` (unix ms) is the start of the last sweep whose `n` `settled` has reached.
 * The rows have no tombstones up to `cleared`. Those up to `marked` leave them next; `markedAt` (unix ms) is when that was decided.
 */
export interface ItemKey {
  pk: string
  sk: string
}

/** The longest keys that a driver accepts, in bytes of UTF-8. */
export interface KeyLimits {
  partitionKeyBytes: number
  sortKeyBytes: number
}

/** The number of slots in a log partition: a poll needs one query, rarely two, and 64 entries of 16 KB fit in a page of 1 MB. */
export const bucketSize = 64

/** Returns the last revision in the bucket of this one. */
export const bucketEnd = (rev: number): number => (Math.floor(rev / bucketSize) + 1) * bucketSize - 1

/** Returns the key of the revision item of a kind. All partition keys of a kind start with its plural name. */
export const revisionKey = (resource: string): ItemKey => ({ pk: resource, sk: '#revision' })

/** Returns the partition of all rows, or of the copies or entries in one index partition. */
export const rowsOf = (resource: string, partition?: string): string =>
  partition === undefined ? `${resource}#o` : `${resource}#o#${partition}`

/** Returns the partition of the tombstones that have left the rows. */
export const deletedOf = (resource: string): string => `${resource}#deleted`

/** Returns the partition of the marks that count the objects of an index partition. Deleted objects have no mark. */
export const marksOf = (resource: string, partition: string): string => `${rowsOf(resource)}#count#${partition}`

/** Returns the partition of a kind's activity items, which have the sort keys of their rows. */
export const activityOf = (resource: string): string => `${resource}#activity`

const logOf = (resource: string): string => `${resource}#log#`

/** Returns the key of the log slot of a revision. */
export const slotKey = (resource: string, rev: number): ItemKey => ({
  pk: `${logOf(resource)}${Math.floor(rev / bucketSize)}`,
  sk: String(rev).padStart(16, '0'),
})

/** Reports whether the key is that of a slot, of any kind. */
export const isSlot = ({ pk }: Pick<ItemKey, 'pk'>): boolean => pk.startsWith(logOf(pk.slice(0, pk.indexOf('#'))))

/** Returns the revision of a slot. */
export const revOf = (slot: ItemKey): number => Number(slot.sk)

const escapes: Record<string, string> = { '%': '%25', '#': '%23', '/': '#' }

/**
 * Returns the sort key of `name` or `namespace/name`. The separator is `#` because it sorts below every character of a
 * name, including `-` and `.`: byte order is by namespace, then by name (`a/x` before `a-b/x`). Names cannot contain `#`
 * and `%`; they are escaped so that no two keys ever share a sort key.
 */
export const sortKey = (key: string): string => key.replace(/[%#/]/g, (character) => escapes[character] ?? character)

/** Returns the key of a sort key; the inverse of `sortKey`. */
export const parseSortKey = (sk: string): string => sk.replace('#', '/').replaceAll('%23', '#').replaceAll('%25', '%')

/** Returns the prefix of the sort keys of all objects of a namespace. */
export const namespacePrefix = (namespace: string): string => `${sortKey(namespace)}#`

/** Reports whether an object can be stored under this key. */
export const isStorable = ({ sortKeyBytes }: KeyLimits, key: string): boolean =>
  key !== '' && Buffer.byteLength(sortKey(key)) <= sortKeyBytes

/** Reports whether objects can be stored in this index partition. */
export const isPartition = ({ partitionKeyBytes }: KeyLimits, resource: string, partition: string): boolean =>
  Buffer.byteLength(marksOf(resource, partition)) <= partitionKeyBytes
