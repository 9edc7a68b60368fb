/** Assembles the storage port from the operations of this package. */

import type { Storage } from '../interface.ts'
import type { Items } from '../items.ts'
import { touch } from './activity.ts'
import { changes } from './changes.ts'
import { dropCompanion, getCompanions, keepCompanion, queryCompanions, queryIndex } from './companions.ts'
import { type Context, withRetries } from './context.ts'
import { count } from './count.ts'
import { latest } from './latest.ts'
import { list, newestRevision } from './list.ts'
import { sweep } from './revision.ts'
import { get, write } from './write.ts'

export interface StorageOptions {
  /** The wall clock, unix ms. */
  now(): number
  /** Milliseconds of a monotonic clock, for `patience`. Default: the wall clock. */
  elapsed?(): number
  /** In [0, 1). */
  random(): number
  sleep(ms: number): Promise<void>
}

/** Creates a storage over items. Create one per process: it remembers which gaps of the log it has seen. */
export function storageOver(items: Items, { now, elapsed = now, random, sleep }: StorageOptions): Storage {
  const clock = { elapsed, random, sleep }
  const context: Context = { ...clock, now, items: withRetries(items, clock), gaps: new Map() }
  return {
    get: (table, key, options) => get(context, table, key, options),
    update: (table, key, mutate, { deadline, notOlderThan }) =>
      write(context, table, key, mutate, { read: true, notOlderThan, deadline }),
    create: (table, key, mutate, { deadline }) => write(context, table, key, mutate, { read: false, deadline }),
    list: (table, request) => list(context, table, request),
    count: ({ resource }, partition, most) => count(context, resource, partition, most),
    changes: (table, since) => changes(context, table, since),
    latest: (table, seen) => latest(context, table, seen),
    revision: (table) => newestRevision(context, table),
    getCompanions: (keys) => getCompanions(context, keys),
    getCompanion: async (pk, sk) => (await getCompanions(context, [{ pk, sk }]))[0],
    keepCompanion: (item, { deadline }) => keepCompanion(context, item, deadline),
    dropCompanion: (key, { deadline }) => dropCompanion(context, key, deadline),
    queryCompanions: (pk, query = {}) => queryCompanions(context, pk, query),
    queryIndex: (query) => queryIndex(context, query),
    touchActivity: (one) => touch(context, one),
    sweep: ({ resource }) => sweep(context, resource),
  }
}
