/**
 * Deletes access keys, disabled or not, that expired longer ago than the retention. It reads a sparse index, so its cost grows
 * with the number of expired keys. The index may be stale, or wrong after a change of the maximum ttl, and a key may be in use
 * with another value than the one that is in the index. So the sweep decides by the object and its activity, which it reads
 * consistently.
 *
 * A lowered maximum reaches the index entry of a key when the key is used or written. A key that is never used again is kept
 * longer than the retention, although it has expired. A raised maximum leaves stale entries, which each run checks and keeps.
 */

import { internalContext } from '../access/users/internalcontext.ts'
import { unixSeconds } from '../engine/meta/encoding/time.ts'
import type { Deadline } from '../engine/meta/errors/deadline.ts'
import { deleteObject } from '../engine/registry/delete.ts'
import { forEach, type HasTime, OutOfTime } from '../engine/registry/parallel.ts'
import { unlessLost } from '../engine/registry/storageerrors.ts'
import type { Store } from '../engine/registry/store.ts'
import type { CompanionItem, Storage, Stored } from '../engine/storage/interface.ts'
import { EXPIRY_INDEX } from './credential/expiryindex.ts'
import { decodeKeyInternal } from './credential/keyinternal.ts'
import { keyStatus, type LifeLimits, lifeOfStored } from './credential/keystatus.ts'
import { indexEntries, keyOfEntry } from './indexpages.ts'

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

/** Reports whether the key expired longer ago than the retention. */
function isOver({ now, retentionSeconds, limits }: Sweep, stored: Stored): boolean {
  const { expires, state } = keyStatus(lifeOfStored(stored), unixSeconds(now()), limits)
  const { federation } = decodeKeyInternal(stored.internal)
  const retention = federation ? retentionSeconds.exchanged : retentionSeconds.others
  return expires !== undefined && expires <= unixSeconds(now()) - retention && state !== 'Terminating'
}

/** Returns the candidates to delete. */
async function overdue(sweep: Sweep, candidates: readonly CompanionItem[], swept: Swept): Promise<Stored[]> {
  const found: Stored[] = []
  await forEach(candidates, sweep.hasTime, async (entry) => {
    const stored = await keyOfEntry(sweep, entry)
    try {
      if (stored && isOver(sweep, stored)) found.push(stored)
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
    const context = internalContext('system:controller:expiry-sweep', now(), deadline)
    const removed = await unlessLost(() =>
      deleteObject(store, { namespace, name }, { preconditions, intent: { type: 'expiry' } }, context),
    )
    if (removed) swept.deleted++
    else swept.kept++
  } catch (error) {
    fail(swept, error)
  }
}

/** Runs one sweep. Throws if the table cannot be read. The next run finds the remaining keys. */
export async function sweepExpired(sweep: Sweep): Promise<Swept> {
  const { now, hasTime, maxDeletions, retentionSeconds } = sweep
  const swept: Swept = { seen: 0, deleted: 0, kept: 0, failed: 0, remaining: false }
  const parts = [
    { partition: EXPIRY_INDEX.value, retention: retentionSeconds.others },
    { partition: EXPIRY_INDEX.exchanged, retention: retentionSeconds.exchanged },
  ]
  let left = maxDeletions
  try {
    for (const { partition, retention } of parts) {
      const window = { after: 0, to: unixSeconds(now()) - retention }
      for await (const entries of indexEntries(sweep, partition, window)) {
        if (left === 0) throw new OutOfTime()
        swept.seen += entries.length
        const due = await overdue(sweep, entries, swept)
        const allowed = due.slice(0, left)
        left -= allowed.length
        await forEach(allowed, hasTime, (one) => removeAsRead(sweep, one, swept))
        if (allowed.length < due.length) throw new OutOfTime()
      }
    }
    return swept
  } catch (error) {
    if (error instanceof OutOfTime) return { ...swept, remaining: true }
    throw error
  }
}
