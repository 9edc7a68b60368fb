/**
 * The expiry sweep: deletes access keys whose end is longer ago than the retention, disabled ones too. It reads a sparse
 * index, so its work is in proportion to what is due. The index is late and, where the maximum ttl was changed since, wrong:
 * nothing is deleted but what the credential, read consistently and after the object, says is over.
 *
 * A maximum that was lowered reaches index entries when keys are used or written; one that was never used again stays
 * longer than the retention, though dead. One that was raised leaves entries behind that each run looks at and keeps.
 */
import { EXPIRY_INDEX, readCredential } from '../authentication/credential.ts'
import { keyStatus, type LifeLimits } from '../authentication/keystatus.ts'
import type { Deadline } from '../meta/errors/deadline.ts'
import { StatusError } from '../meta/errors/status.ts'
import { remove } from '../registry/delete.ts'
import { forEach, type HasTime, OutOfTime } from '../registry/parallel.ts'
import { keyOf, type Store } from '../registry/store.ts'
import type { CompanionItem, IndexPage, Storage, Stored } from '../storage/interface.ts'
import { controllerContext } from './context.ts'

export interface Sweep {
  /** Of the kind whose objects the credentials belong to. */
  store: Store
  storage: Storage
  now(): Date
  /** How long expired keys are kept. */
  retentionSeconds: number
  limits: LifeLimits
  hasTime: HasTime
  /** Of the invocation. */
  deadline: Deadline
  /** Begins no more deletions than this. */
  maxDeletions: number
}

export interface Swept {
  /** Entries of the index. */
  seen: number
  /** Deleted, or marked where finalizers hold them. */
  deleted: number
  /** Found alive, gone already, or changed meanwhile. */
  kept: number
  failed: number
  /** One of the errors. */
  error?: unknown
  /** Whether time or deletions were spent before the end. */
  remaining: boolean
}

/** Candidates whose credentials one consistent call reads. */
const pageSize = 100

const seconds = (time: Date): number => Math.floor(time.getTime() / 1000)

/** Whether the credential is this object's, and its end longer ago than the retention. */
function isOver({ now, retentionSeconds, limits }: Sweep, credential: CompanionItem, { object }: Stored): boolean {
  const life = readCredential(credential.attributes)
  const { expires, state } = keyStatus(life, seconds(now()), limits)
  const due = expires !== undefined && expires <= seconds(now()) - retentionSeconds
  return due && state !== 'Terminating' && life.uid === object.metadata.uid
}

/**
 * The candidates that are over, as they are stored. Objects are read before their credentials, so that whatever changes
 * after a credential was read fails the condition of the deletion.
 */
async function overdue(sweep: Sweep, candidates: readonly CompanionItem[], swept: Swept): Promise<Stored[]> {
  const { store, storage, hasTime } = sweep
  const objects = new Map<CompanionItem, Stored>()
  await forEach(candidates, hasTime, async (one) => {
    const stored = await storage.get(store.kind.table, keyOf('', String(one.attributes.name)))
    if (stored) objects.set(one, stored)
  })
  const credentials = await storage.getCompanions(candidates)
  return candidates.flatMap((one, index) => {
    const [object, credential] = [objects.get(one), credentials[index]]
    try {
      if (object && credential && isOver(sweep, credential, object)) return [object]
      swept.kept++
    } catch (error) {
      fail(swept, error)
    }
    return []
  })
}

function fail(swept: Swept, error: unknown): void {
  swept.failed++
  swept.error ??= error
}

/** An ordinary deletion, if the object is still as it was read. */
async function removeAsRead({ store, now, deadline }: Sweep, { rv, object }: Stored, swept: Swept): Promise<void> {
  const { uid = '', namespace = '', name = '' } = object.metadata
  const preconditions = { uid, resourceVersion: String(rv) }
  try {
    const context = controllerContext('expiry-sweep', now(), deadline)
    await remove(store, { namespace, name }, { preconditions }, context)
    swept.deleted++
  } catch (error) {
    const changed = error instanceof StatusError && (error.status.code === 409 || error.status.code === 404)
    if (changed) swept.kept++
    else fail(swept, error)
  }
}

/** One run. Throws where the table cannot be read; what is left is found again by the next run. */
export async function sweepExpired(sweep: Sweep): Promise<Swept> {
  const { storage, now, retentionSeconds, maxDeletions, hasTime } = sweep
  const swept: Swept = { seen: 0, deleted: 0, kept: 0, failed: 0, remaining: false }
  const query = {
    index: EXPIRY_INDEX.name,
    partition: { attribute: EXPIRY_INDEX.partition, value: EXPIRY_INDEX.value },
    sort: { attribute: EXPIRY_INDEX.sort, to: seconds(now()) - retentionSeconds },
    limit: pageSize,
  }
  let deletions = 0
  try {
    for (let page: IndexPage = await storage.queryIndex(query); ; ) {
      swept.seen += page.items.length
      const due = await overdue(sweep, page.items, swept)
      const allowed = due.slice(0, maxDeletions - deletions)
      deletions += allowed.length
      await forEach(allowed, hasTime, (one) => removeAsRead(sweep, one, swept))
      if (allowed.length < due.length) return { ...swept, remaining: true }
      if (!page.next) return swept
      if (deletions === maxDeletions || !hasTime()) return { ...swept, remaining: true }
      page = await storage.queryIndex({ ...query, after: page.next })
    }
  } catch (error) {
    if (error instanceof OutOfTime) return { ...swept, remaining: true }
    throw error
  }
}
