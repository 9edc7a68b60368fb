/**
 * Where things lie: one table, string keys `pk` and `sk`, TTL attribute `expires` (unix seconds).
 *
 *   revision   pk=ownedaccesskeys               sk=#revision          n=1042 settled=1024 floor=1 at=1795257600000
 *   row        pk=virtualclusterinstances#o     sk=p-one#alpha        rv=1041 object="{…}" internal="{…}" partitions=[user:jo]
 *   tombstone  pk=virtualclusterinstances#o     sk=p-one#beta         rv=1042 gone=true expires=…
 *   copy       pk=ownedaccesskeys#o#user:jo     sk=ci                 as the row, in each of its index partitions
 *   mark       pk=ownedaccesskeys#o#count#user:jo sk=ci               nothing else: to count what lies in an index partition
 *   slot       pk=ownedaccesskeys#log#16        sk=0000000000001041   id=… type=MODIFIED key=ci object internal prev={rv object internal partitions}
 *                                                                     partitions=[user:jo] left=[team:a] expires=…
 *              pk=ownedaccesskeys#log#16        sk=0000000000001040   type=VOID expires=…
 *   activity   pk=ownedaccesskeys#activity      sk=ci                 at=1795257600000 uid=…
 *   companion  whatever pk and sk its owner chose
 *
 * `n` is the newest revision handed out, `settled` the one up to which every slot is filled and every row of it visible,
 * `floor` the oldest that a reader may ask for, `at` (unix ms) when `settled` last reached the `n` of its moment.
 */
export interface ItemKey {
  pk: string
  sk: string
}

/** Slots of one log partition: a poll is one query, rarely two, and 64 entries of 16 KB fit in its page of 1 MB. */
export const bucketSize = 64

/** The last revision in the bucket of this one. */
export const bucketEnd = (rev: number): number => (Math.floor(rev / bucketSize) + 1) * bucketSize - 1

/** Where the revision of a kind is; with all other partitions of a kind its partition begins with the plural name. */
export const revisionKey = (resource: string): ItemKey => ({ pk: resource, sk: '#revision' })

/** The partition of all rows, or of the copies in one index partition. */
export const rowsOf = (resource: string, partition?: string): string =>
  partition === undefined ? `${resource}#o` : `${resource}#o#${partition}`

/** The partition of the marks by which the objects of an index partition are counted: small, and none of what is deleted. */
export const marksOf = (resource: string, partition: string): string => `${rowsOf(resource)}#count#${partition}`

/** The partition of the last uses of a kind's objects, whose sort keys are those of their rows. */
export const activityOf = (resource: string): string => `${resource}#activity`

const logOf = (resource: string): string => `${resource}#log#`

/** Where the log has what a revision did. */
export const slotKey = (resource: string, rev: number): ItemKey => ({
  pk: `${logOf(resource)}${Math.floor(rev / bucketSize)}`,
  sk: String(rev).padStart(16, '0'),
})

/** Whether it is the key of a slot, of any kind. */
export const isSlot = ({ pk }: Pick<ItemKey, 'pk'>): boolean => pk.startsWith(logOf(pk.slice(0, pk.indexOf('#'))))

/** The revision of a slot. */
export const revOf = (slot: ItemKey): number => Number(slot.sk)

const escapes: Record<string, string> = { '%': '%25', '#': '%23', '/': '#' }

/**
 * The sort key of `name` or `namespace/name`. `#` is the separator because it is below every character of a name, `-`
 * and `.` too: bytewise order is by namespace, then by name (`a/x` before `a-b/x`). `#` and `%` are no characters
 * of names; they are escaped so that no two keys ever share a sort key.
 */
export const sortKey = (key: string): string => key.replace(/[%#/]/g, (character) => escapes[character] ?? character)

/** The key of a sort key: undoes `sortKey`. */
export const keyOf = (sk: string): string => sk.replace('#', '/').replaceAll('%23', '#').replaceAll('%25', '%')

/** What the sort keys of all objects of a namespace begin with. */
export const namespacePrefix = (namespace: string): string => `${sortKey(namespace)}#`

/** The longest keys that DynamoDB takes, in bytes of UTF-8. */
const partitionKeyBytes = 2048
const sortKeyBytes = 1024

/** Whether anything can be stored under this key; what cannot, is not there. */
export const isStorable = (key: string): boolean => key !== '' && Buffer.byteLength(sortKey(key)) <= sortKeyBytes

/** Whether anything can lie in this index partition. */
export const isPartition = (resource: string, partition: string): boolean =>
  Buffer.byteLength(marksOf(resource, partition)) <= partitionKeyBytes
