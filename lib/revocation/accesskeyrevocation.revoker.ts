/** Disables or deletes selected access keys and trusts, each by the rules of a PATCH or a DELETE of that object alone. */

import { StatusError } from '../engine/meta/errors/status.ts'
import { updateManagers } from '../engine/meta/managedfields/fieldmanager.ts'
import type { KubeObject } from '../engine/meta/types.ts'
import { deleteObject } from '../engine/registry/delete.ts'
import type { RequestContext } from '../engine/registry/kind.ts'
import { managerArguments } from '../engine/registry/managerarguments.ts'
import { forEach, OutOfTime } from '../engine/registry/parallel.ts'
import { toStatusError } from '../engine/registry/storageerrors.ts'
import type { Store } from '../engine/registry/store.ts'
import { type UpdateRequest, updateObject } from '../engine/registry/update.ts'
import { StorageError } from '../engine/storage/errors.ts'
import type { Stored } from '../engine/storage/interface.ts'
import { DISABLED_REASON } from '../keys/ownedaccesskey.texts.ts'
import type { Services } from '../keys/services.ts'
import type { Selected } from './accesskeyrevocation.find.ts'
import { MOST_FAILURES, type RevocationSpec } from './accesskeyrevocation.schema.ts'

interface Revoking {
  asked: RevocationSpec
  /** The field manager of the request. */
  manager: string
}

/** The selected objects of one kind, and what was done with them. */
export interface Target {
  store: Store
  selected: readonly Selected[]
  /** The uid of the one that the request depends on: its key, or the trust that it came through. It is revoked last. */
  ownUid: string | undefined
  /** Reports whether an object, as it is now, is still to be revoked. */
  test(stored: Stored): boolean
  /** The names of what was revoked. */
  names: string[]
  failed: number
}

/** What a request has done, besides what its targets say. */
export interface Outcome {
  failures: { kind?: string; name: string; code: number; message: string }[]
  remaining: boolean
}

/** An object that has changed, so that it is not selected any more. */
class NotSelected extends Error {}

/** How many keys are changed side by side. */
const AT_ONCE = 16
/** The time kept back for changes in progress and for the answer: no change begins later than 15 s after the request. */
export const RESERVE_MS = 5_000
/** How often the key of the request is read again. */
const RECHECK_MS = 1_000

/**
 * Returns the revoker of a request. Its writes do not depend on the credential of the user, as other writes with a key do: they
 * would wait for each other, and they only take access away. The key of the request is checked every second instead.
 */
export function createRevoker(services: Pick<Services, 'checkKeyHolds'>, revoking: Revoking, context: RequestContext) {
  const hold = holdKey(services, context)
  const { credential: _, ...user } = context.user
  let mayPass = false
  const quiet = { note: () => undefined, warn: () => undefined }

  async function attempt({ target, one }: Planned, outcome: Outcome): Promise<void> {
    await hold()
    const isSelf = one.uid === user.key.uid
    try {
      await revokeOne(target, one, revoking, { ...context, ...quiet, ...(!isSelf && { user }) })
      target.names.push(one.name)
    } catch (error) {
      const failure = failureOf(error)
      if (failure === undefined) return
      if (failure.status.code === 401) throw failure
      target.failed++
      const { code, message = '' } = failure.status
      const { kind } = target.store.kind
      mayPass ||= isPassing(code)
      const named = { ...(kind !== KEY && { kind }), name: one.name }
      if (outcome.failures.length < MOST_FAILURES) outcome.failures.push({ ...named, code, message })
    }
  }

  return {
    /** Revokes the objects of the targets in their order, what the request depends on last. Throws 401 once the user's key has ended. */
    async revokeAll(targets: readonly Target[], outcome: Outcome): Promise<void> {
      let stopped: unknown
      const hasTime = () => stopped === undefined && context.deadline() > RESERVE_MS
      const planned = targets.flatMap((target) => target.selected.map((one) => ({ target, one })))
      const isOwn = ({ target, one }: Planned) => one.uid === target.ownUid
      const work = (next: Planned): Promise<void> =>
        attempt(next, outcome).catch((error: unknown) => {
          stopped ??= error
        })
      for (const target of targets) {
        const others = planned.filter((one) => one.target === target && !isOwn(one))
        await forEach(others, hasTime, work, AT_ONCE).catch((error: unknown) => {
          if (!(error instanceof OutOfTime)) throw error
          outcome.remaining = true
        })
      }
      if (stopped !== undefined) throw stopped
      for (const own of planned.filter(isOwn)) {
        // The user needs them to repeat the request.
        outcome.remaining ||= !hasTime() || mayPass
        if (!outcome.remaining) await attempt(own, outcome)
      }
    },
  }
}

interface Planned {
  target: Target
  one: Selected
}

const KEY = 'OwnedAccessKey'

/** Reports whether the same request may succeed later. */
const isPassing = (code: number): boolean => code === 429 || code >= 500

/** Returns a function that throws 401 once the key of the request no longer gives access. It reads at most once a second. */
function holdKey({ checkKeyHolds }: Pick<Services, 'checkKeyHolds'>, context: RequestContext): () => Promise<void> {
  let checked = context.deadline()
  return async () => {
    if (checked - context.deadline() < RECHECK_MS) return
    checked = context.deadline()
    await checkKeyHolds(context)
  }
}

/** Returns the failure of one object; undefined if there is nothing left to do. */
function failureOf(error: unknown): StatusError | undefined {
  if (error instanceof NotSelected) return undefined
  const failure = toStatusError(error)
  return failure.status.code === 404 ? undefined : failure
}

/** Throws NotSelected when another request has changed the object so that it is not selected any more. */
async function revokeOne(
  { store, test }: Target,
  one: Selected,
  revoking: Revoking,
  context: RequestContext,
): Promise<void> {
  // Labels, uses and the object of this name may have changed.
  const check = (live: Stored) => {
    if (live.object.metadata.uid !== one.uid || !test(live)) throw new NotSelected()
  }
  const at = { namespace: '', name: one.name }
  if (revoking.asked.action === 'Delete') await deleteObject(store, at, { check }, context)
  else await disable(store, { ...at, check }, revoking, context)
}

/** Disables an object. If it is so large that the reason does not fit, or the managers, it is disabled without them. */
async function disable(
  store: Store,
  at: Pick<UpdateRequest, 'namespace' | 'name' | 'check'>,
  { asked: { reason = '' }, manager }: Revoking,
  context: RequestContext,
): Promise<void> {
  const ownership = managerArguments(store.kind, manager, context.now)
  const write = (said: string, isManaged: boolean) =>
    updateObject(
      store,
      {
        ...at,
        subresource: '',
        verb: 'patch',
        transform(live) {
          const updated = disabled(live, said)
          return {
            object: isManaged ? updateManagers({ ...ownership, live, updated }) : unmanaged(updated),
            secrets: [],
          }
        },
      },
      context,
    )
  try {
    await write(reason, true)
  } catch (error) {
    if (!isTooLarge(error)) throw error
    await write('', false)
  }
}

function disabled({ metadata, spec, ...object }: KubeObject, reason: string): KubeObject {
  const annotations = reason === '' ? metadata.annotations : { ...metadata.annotations, [DISABLED_REASON]: reason }
  return {
    ...object,
    metadata: { ...metadata, ...(annotations && { annotations }) },
    spec: { ...spec, disabled: true },
  }
}

function unmanaged({ metadata: { managedFields: _, ...metadata }, ...object }: KubeObject): KubeObject {
  return { ...object, metadata }
}

/** Reports whether the object does not fit the store, or its annotations their limit (422). */
const isTooLarge = (error: unknown): boolean =>
  (error instanceof StorageError && error.code === 'TooLarge') ||
  (error instanceof StatusError && error.status.code === 422)
