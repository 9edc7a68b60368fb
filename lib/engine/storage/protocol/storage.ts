/** Assembles the storage port from the operations of this package. */

import type { Storage } from '../interface.ts'
import type { Items } from '../items.ts'
import { touchActivity } from './activity.ts'
import { noticeChanges, readChanges } from './changes.ts'
import { clearTombstones } from './clear.ts'
import { getCompanions, queryCompanions, writeCompanion } from './companions.ts'
import { type Context, withRetries } from './context.ts'
import { readLatest } from './latest.ts'
import { listAt, newestRevision } from './list.ts'
import { readNames } from './names.ts'
import { sweepLog } from './revision.ts'
import { readMany, readStored, writeStored } from './write.ts'

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
    get: (table, key, options) => readStored(context, table, key, options),
    getMany: (wanted) => readMany(context, wanted),
    update: (table, key, mutate, options) => writeStored(context, table, key, mutate, options),
    list: (table, request) => listAt(context, table, request),
    names: ({ resource }, of, most) => readNames(context, resource, of, most),
    changes: (table, since, reached) => readChanges(context, table, since, reached),
    notice: (table, since) => noticeChanges(items, table, since),
    latest: (table, seen) => readLatest(context, table, seen),
    revision: (table) => newestRevision(context, table),
    getCompanions: (keys) => getCompanions(context, keys),
    queryCompanions: (from, query) => queryCompanions(context, from, query),
    writeCompanion: (item, { deadline }) => writeCompanion(context, item, deadline),
    touchActivity: (one) => touchActivity(context, one),
    sweep: ({ resource }) => sweepLog(context, resource, (revision) => clearTombstones(context, resource, revision)),
  }
}
