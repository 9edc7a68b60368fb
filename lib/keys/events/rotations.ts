/** Settles rotations that have ended, and sends the events of those that stalled: their new value is unused after a day. */

import { internalContext } from '../../access/users/internalcontext.ts'
import { unixSeconds } from '../../engine/meta/encoding/time.ts'
import { forEach } from '../../engine/registry/parallel.ts'
import { unlessLost } from '../../engine/registry/storageerrors.ts'
import { updateObject } from '../../engine/registry/update.ts'
import type { Stored } from '../../engine/storage/interface.ts'
import { EXPIRY_INDEX } from '../credential/expiryindex.ts'
import { decodeKeyInternal } from '../credential/keyinternal.ts'
import { indexedKeys, type Window } from '../indexpages.ts'
import { STALLED_SECONDS } from '../values/writes.ts'
import type { KeyOccurrence } from './event.ts'
import { occurrenceOf } from './keydata.ts'
import type { Lifecycle, Send } from './lifecycle.ts'

/** Sends the rotations that stalled in the window. */
export async function sendStalled(life: Lifecycle, window: Window, send: Send): Promise<void> {
  for await (const keys of indexedKeys(life, EXPIRY_INDEX.rotation, window)) {
    await send(keys.flatMap(({ stored, entry }) => stalled(stored, Number(entry.attributes[EXPIRY_INDEX.sort]), life)))
  }
}

/** Returns that the rotation stalled at `at`, or nothing. The entry of a used value has the end of its overlap instead. */
function stalled(stored: Stored, at: number, { limits }: Lifecycle): KeyOccurrence[] {
  const { pending } = decodeKeyInternal(stored.internal)
  if (pending === undefined || pending.made + STALLED_SECONDS !== at) return []
  const { number: value, overlap: overlapSeconds } = pending
  const happened = { kind: 'rotation-stalled', unique: String(value), data: { value, overlapSeconds } } as const
  return [occurrenceOf(stored, at, limits, happened)]
}

/** Settles the rotations that have ended, by a write of the key that changes nothing else. Returns how many keys it wrote. */
export async function settleRotations(life: Lifecycle): Promise<number> {
  const { now, hasTime } = life
  const window = { after: 0, to: unixSeconds(now()) }
  let settled = 0
  for await (const keys of indexedKeys(life, EXPIRY_INDEX.rotation, window)) {
    await forEach(keys, hasTime, async ({ stored }) => {
      if (await settle(life, stored)) settled++
    })
  }
  return settled
}

/**
 * Writes the key, and returns whether that changed it. A rotation whose new value is unused stays open. If the key is gone, or
 * somebody else writes it, nothing is left to do: every write settles.
 */
async function settle({ store, now, deadline }: Lifecycle, { object, rv }: Stored): Promise<boolean> {
  const { name = '' } = object.metadata
  const request = { namespace: '', name, subresource: '', verb: 'update' } as const
  const context = internalContext('system:controller:lifecycle', now(), deadline)
  const outcome = await unlessLost(() => updateObject(store, request, context))
  return outcome !== undefined && outcome.stored.rv !== rv
}
