/**
 * Deletes access keys, disabled or not, that expired longer ago than the retention. It reads a sparse index, so its cost grows
 * with the number of expired keys. The index may be stale, or wrong after a change of the maximum ttl, and a key may be in use
 * with another value than the one that is in the index. So the sweep decides by the object and its activity, which it reads
 * consistently.
 *
 * A lowered maximum reaches the index entry of a key when the key is used or written. A key that is never used again is kept
 * longer than the retention, although it has expired. A raised maximum leaves stale entries, which each run checks and keeps.
 */
import { EXPIRY_INDEX } from '../authentication/expiryindex.ts'
import { decodeKeyInternal } from '../authentication/keyinternal.ts'
import { keyStatus, type LifeLimits, lifeOfStored } from '../authentication/keystatus.ts'
import { unixSeconds } from '../meta/encoding/time.ts'
import type { Deadline } from '../meta/errors/deadline.ts'
import { StatusError } from '../meta/errors/status.ts'
import { deleteObject } from '../registry/delete.ts'
import { forEach, type HasTime, OutOfTime } from '../registry/parallel.ts'
import { objectKey, type Store } from '../registry/store.ts'
import type { CompanionItem, IndexPage, Storage, Stored } from '../storage/interface.ts'
import { controllerContext } from './internalcontext.ts'

export interface Sweep {
  /** The store of the kind that owns the credentials. */
  store: Store
  storage: Storage
  now(): Date
  /** How long expired keys are kept: those that an exchange made, and all others. */
  retentionSeconds: { exchanged: number; others: number }
  limits: LifeLimits
  hasTime: HasTime
  /** The deadline of the invocation. */
  deadline: Deadline
  /** The most deletions to start. */
  maxDeletions: number
}

export interface Swept {
  /** Index entries read. */
  seen: number
  /** Keys deleted, or marked if they have finalizers. */
  deleted: number
  /** Keys that are valid, already gone, or changed in the meantime. */
  kept: number
  failed: number
  /** One of the errors. */
  error?: unknown
  /** Whether time or deletions ran out before the end. */
  remaining: boolean
}

/** The number of candidates per page. */
const pageSize = 100

/** Reports whether the key expired longer ago than the retention. */
function isOver({ now, retentionSeconds, limits }: Sweep, stored: Stored): boolean {
  const { expires, state } = keyStatus(lifeOfStored(stored), unixSeconds(now()), limits)
  const { federation } = decodeKeyInternal(stored.internal)
  const retention = federation ? retentionSeconds.exchanged : retentionSeconds.others
  return expires !== undefined && expires <= unixSeconds(now()) - retention && state !== 'Terminating'
}

/** Returns the candidates to delete. */
async function overdue(sweep: Sweep, candidates: readonly CompanionItem[], swept: Swept): Promise<Stored[]> {
  const { store, storage, hasTime } = sweep
  const found: Stored[] = []
  await forEach(candidates, hasTime, async ({ attributes }) => {
    const stored = await storage.get(store.kind.table, objectKey('', String(attributes.name)))
    try {
      if (stored && stored.object.metadata.uid === attributes.uid && isOver(sweep, stored)) found.push(stored)
      else swept.kept++
    } catch (error) {
      fail(swept, error)
    }
  })
  return found
}

function fail(swept: Swept, error: unknown): void {
  swept.failed++
  swept.error ??= error
}

/** Deletes an object, on the condition that it has not changed since it was read. */
async function removeAsRead({ store, now, deadline }: Sweep, { rv, object }: Stored, swept: Swept): Promise<void> {
  const { uid = '', namespace = '', name = '' } = object.metadata
  const preconditions = { uid, resourceVersion: String(rv) }
  try {
    const context = controllerContext('expiry-sweep', now(), deadline)
    await deleteObject(store, { namespace, name }, { preconditions }, context)
    swept.deleted++
  } catch (error) {
    const changed = error instanceof StatusError && (error.status.code === 409 || error.status.code === 404)
    if (changed) swept.kept++
    else fail(swept, error)
  }
}

/** Runs one sweep. Throws if the table cannot be read. The next run finds the remaining keys. */
export async function sweepExpired(sweep: Sweep): Promise<Swept> {
  const { maxDeletions, retentionSeconds } = sweep
  const swept: Swept = { seen: 0, deleted: 0, kept: 0, failed: 0, remaining: false }
  const parts = [
    { value: EXPIRY_INDEX.value, retention: retentionSeconds.others },
    { value: EXPIRY_INDEX.exchanged, retention: retentionSeconds.exchanged },
  ]
  let deletions = 0
  try {
    for (const { value, retention } of parts) {
      const { started, remaining } = await sweepPart(sweep, value, retention, maxDeletions - deletions, swept)
      if (remaining) return { ...swept, remaining }
      deletions += started
    }
    return swept
  } catch (error) {
    if (error instanceof OutOfTime) return { ...swept, remaining: true }
    throw error
  }
}

/** Sweeps one partition of the index. Returns how many deletions it started, and whether the limits ended it early. */
async function sweepPart(
  sweep: Sweep,
  value: string,
  retention: number,
  most: number,
  swept: Swept,
): Promise<{ started: number; remaining: boolean }> {
  const { storage, now, hasTime } = sweep
  const query = {
    index: EXPIRY_INDEX.name,
    partition: { attribute: EXPIRY_INDEX.partition, value },
    sort: { attribute: EXPIRY_INDEX.sort, to: unixSeconds(now()) - retention },
    limit: pageSize,
  }
  let started = 0
  for (let page: IndexPage = await storage.queryIndex(query); ; ) {
    swept.seen += page.items.length
    const due = page.items.length === 0 ? [] : await overdue(sweep, page.items, swept)
    const allowed = due.slice(0, most - started)
    started += allowed.length
    await forEach(allowed, hasTime, (one) => removeAsRead(sweep, one, swept))
    if (allowed.length < due.length) return { started, remaining: true }
    if (!page.next) return { started, remaining: false }
    if (started === most || !hasTime()) return { started, remaining: true }
    page = await storage.queryIndex({ ...query, after: page.next })
  }
}
