/**
 * When objects were last used: beside the rows, never on them, outside of revisions and watches. A time belongs to one
 * uid, so that an object never shows the activity of an earlier one of its name.
 */

import type { Listed, ListPage, Stored, Table, Touch } from '../interface.ts'
import type { Item, ItemQuery, ItemWrite } from '../items.ts'
import { activityOf, sortKey } from '../keys.ts'
import { writerDeadline } from './constants.ts'
import type { Context } from './context.ts'
import { isWithin, scan } from './scan.ts'

/** The time of an activity item, if it speaks of this object. */
export function withActivity(one: Stored, activity: Item | undefined): Stored {
  const at = activity?.at
  return typeof at === 'number' && activity?.uid === one.object.metadata.uid ? { ...one, activity: at } : one
}

/**
 * Moves both times forward, in one transaction with conditions on the credential: where the object has been deleted
 * meanwhile nothing of it comes back, and where its credential says something else by now nothing is written over that.
 * Does nothing where a time is as new already, and where the items are held by another transaction.
 */
export async function touch({ items, now }: Context, { table, key, uid, at, credential }: Touch): Promise<void> {
  const { pk, sk, lastActivity, same, attributes: also } = credential
  const owner = { attribute: 'uid', value: uid }
  const activity: ItemWrite = {
    type: 'advance',
    key: { pk: activityOf(table.resource), sk: sortKey(key) },
    change: { attribute: 'at', value: at, owner },
  }
  await items.transact(
    [
      {
        type: 'advance',
        key: { pk, sk },
        change: { attribute: 'lastActivity', value: lastActivity, exists: true, same, also },
      },
      ...(table.activity ? [activity] : []),
    ],
    now() + writerDeadline,
  )
}

/** The activities of one list's page, read while its rows are. */
export interface PageActivity {
  /** Begins to read, beside the first rows. */
  prefetch(limit: number | undefined): Promise<void>
  attach(page: ListPage): Promise<ListPage>
}

const nothing: PageActivity = { prefetch: async () => {}, attach: async (page) => page }

/**
 * A list of everything reads the stretch of activities next to its rows: there are no more of them than of objects,
 * so as many reach as far. A list of a few partitions, whose keys lie scattered, asks for its objects' one by one.
 */
export function activityOfPage(
  context: Context,
  table: Table,
  { covered, isScattered }: { covered: Omit<ItemQuery, 'pk'>; isScattered: boolean },
): PageActivity {
  if (!table.activity) return nothing
  const pk = activityOf(table.resource)
  const found = new Map<string, Item>()
  const keep = (items: readonly Item[]) => {
    for (const item of items) found.set(item.sk, item)
  }
  const used = (one: Listed): Listed => {
    const activity = found.get(sortKey(one.key))
    return activity ? { ...one, read: () => withActivity(one.read(), activity) } : one
  }
  const attached = (page: ListPage): ListPage => (found.size === 0 ? page : { ...page, items: page.items.map(used) })
  if (isScattered) {
    return {
      ...nothing,
      async attach(page) {
        keep(await context.items.batchGet(page.items.map(({ key }) => ({ pk, sk: sortKey(key) }))))
        return attached(page)
      },
    }
  }
  const activities = scan(context, [{ pk, ...covered }])
  let reached: (sk: string) => boolean = () => false
  const read = async (limit: number | undefined) => {
    const { rows, horizon } = await activities.next(limit)
    keep(rows.flat())
    reached = (sk) => isWithin(sk, horizon)
  }
  return {
    prefetch: read,
    async attach(page) {
      const last = page.items.at(-1)
      while (last && !reached(sortKey(last.key))) await read(undefined)
      return attached(page)
    },
  }
}
