/**
 * Records when objects were last used, in items beside the rows: activity changes no revision and no watch sees it. Each
 * time belongs to one uid, so an object never shows the activity of an earlier object with its name.
 */

import type { JsonObject } from '../../meta/types.ts'
import type { Listed, ListPage, Stored, Table, Touch, TouchOutcome } from '../interface.ts'
import { type Item, type ItemQuery, ItemsFault, type ItemWrite, type TransactOutcome } from '../items.ts'
import { activityOf, rowsOf, sortKey } from '../keys.ts'
import { has } from '../records.ts'
import { writerDeadline } from './constants.ts'
import { type Context, fullError, isFull } from './context.ts'
import { isWithin, scan } from './scan.ts'

/** Adds the time of an activity item, and what is noted with it, to an object, if the item belongs to it. */
export function withActivity(one: Stored, activity: Item | undefined): Stored {
  if (typeof activity?.at !== 'number' || activity.uid !== one.object.metadata.uid) return one
  const { pk: _, sk: __, uid: ___, at, ...noted } = activity
  return { ...one, activity: at, ...(Object.keys(noted).length > 0 && { noted: noted as JsonObject }) }
}

/** The index of the activity item in the transaction. */
const activityIndex = 1

/**
 * Advances both times in one transaction. Its conditions on the credential prevent it from recreating parts of a deleted
 * object and from overwriting a changed credential. Two credentials of one object may be used in the same second, so a time
 * of the object that is as new already does not stop the rest.
 */
export async function touchActivity(
  { items, now }: Context,
  { table, key, uid, at, credential, noted, also = [] }: Touch,
): Promise<TouchOutcome> {
  const sk = sortKey(key)
  const use: ItemWrite = credential
    ? useOf(credential)
    : { type: 'check', key: { pk: rowsOf(table.resource), sk }, when: has({}, ['gone']) }
  // The time of an earlier object with this name does not count.
  const activity: ItemWrite = {
    type: 'set',
    key: { pk: activityOf(table.resource), sk },
    attributes: { at, uid, ...noted },
    when: [{ at: { below: at } }, { uid: { not: uid } }],
  }
  const sets = also.map(({ pk, sk, attributes }): ItemWrite => ({ type: 'set', key: { pk, sk }, attributes }))
  const deadline = now() + writerDeadline
  try {
    const outcome = await items.transact([use, ...(table.activity ? [activity] : []), ...sets], deadline)
    if (outcome.done || !credential || outcome.refused.join() !== `${activityIndex}`) return named(outcome)
    return named(await items.transact([use, ...sets], deadline))
  } catch (error) {
    if (error instanceof ItemsFault && error.kind === 'conflict') return 'busy'
    throw isFull(error) ? fullError(error) : error
  }
}

const useOf = ({ lastActivity, same, lacks, attributes, ...key }: NonNullable<Touch['credential']>): ItemWrite => ({
  type: 'set',
  key,
  attributes: { lastActivity, ...attributes },
  when: { ...has(same, lacks), lastActivity: { below: lastActivity } },
})

function named(outcome: TransactOutcome): TouchOutcome {
  if (outcome.done) return 'done'
  return outcome.refused.length > 0 ? 'refused' : 'busy'
}

/** Reads the activities of a page in parallel with its rows. */
interface PageActivity {
  /** Starts to read, in parallel with the first rows. */
  prefetch(limit: number | undefined): Promise<void>
  attach(page: ListPage): Promise<ListPage>
}

/**
 * Returns the reader for the activities of a page. A list of all objects reads the matching range of activities: there are
 * at most as many as objects, so the same limit covers the page. A list of index partitions, whose keys are scattered, reads
 * the activities of its objects by key.
 */
export function activityOfPage(
  context: Context,
  table: Table,
  { covered, isScattered }: { covered: Omit<ItemQuery, 'pk'>; isScattered: boolean },
): PageActivity {
  if (!table.activity) return { prefetch: async () => {}, attach: async (page) => page }
  const pk = activityOf(table.resource)
  const found = new Map<string, Item>()
  const keep = (items: readonly Item[]) => {
    for (const item of items) found.set(item.sk, item)
  }
  const used = (one: Listed): Listed => {
    const activity = found.get(sortKey(one.key))
    return activity ? { ...one, read: () => withActivity(one.read(), activity) } : one
  }
  const activities = scan(context, [{ pk, ...covered }])
  let reached: (sk: string) => boolean = () => false
  const read = async (limit: number | undefined) => {
    const { rows, horizon } = await activities.next(limit)
    keep(rows.flat())
    reached = (sk) => isWithin(sk, horizon)
  }
  return {
    prefetch: async (limit) => (isScattered ? undefined : read(limit)),
    async attach(page) {
      const last = page.items.at(-1)
      if (isScattered) keep(await context.items.batchGet(page.items.map(({ key }) => ({ pk, sk: sortKey(key) }))))
      else while (last && !reached(sortKey(last.key))) await read(undefined)
      return found.size === 0 ? page : { ...page, items: page.items.map(used) }
    },
  }
}
