/**
 * Says what is written with the key of an exchange, so that its ID token and its trust give no more than they may. It depends on how the
 * ID token may be used, and on whether the exchange is for a target.
 */

import type { Store } from '../../engine/registry/store.ts'
import type { Companion } from '../../engine/storage/interface.ts'
import type { ItemKey } from '../../engine/storage/keys.ts'
import type { KeyHash } from '../../keys/credential/pepper.ts'
import { endedBefore } from '../oauth/oautherror.ts'
import type { Exchanged } from './exchangedkey.ts'
import { checkUnused, partitionOf, recordAgain, replayed, replayRecord } from './replay.ts'
import { findSlot, type Pool, poolOfToken, poolOfTrust, takeSlot } from './slots.ts'

/** A key that is written. `expires` is in Unix seconds. */
interface NewKey {
  name: string
  uid: string
  expires: number
  credential: KeyHash
}

export interface Records {
  /** Returns the items to write with a key. Throws invalid_request if nothing is left for it. */
  items(key: NewKey, now: Date): Promise<Companion[]>
  /** Throws what it means that another exchange wrote one of the items first. Returns if another attempt may succeed. */
  explain(lost: unknown): Promise<void>
}

/** What composing the records reads. */
export type Reads = Pick<Store, 'storage' | 'randomInt'>

/** Takes a slot of each pool, and of the trust if it limits its keys. */
async function takeSlots(reads: Reads, { trust }: Exchanged, key: NewKey, now: Date, pools: readonly Pool[] = []) {
  const { maxKeys } = trust.spec
  const all = [...pools, ...(maxKeys === undefined ? [] : [poolOfTrust(trust.uid, maxKeys)])]
  const slots = await Promise.all(all.map((pool) => findSlot(reads, pool, now)))
  return slots.map((slot) => takeSlot(slot, trust.uid, key))
}

/** Returns the records of an ID token that is exchanged once: it gives no other key, whatever becomes of this one. */
export const recordsOnce = (reads: Reads, exchanged: Exchanged): Records => ({
  async items(key, now) {
    const { token, trust } = exchanged
    return [replayRecord(token, trust, key.name), ...(await takeSlots(reads, exchanged, key, now))]
  },
  async explain() {
    // Without maxKeys, only the record of the token can exist.
    if (exchanged.trust.spec.maxKeys === undefined) throw replayed()
    await checkUnused(reads.storage, exchanged.token)
  },
})

/** Returns the records of an ID token that is exchanged once, and given back if the cluster gives nothing for it. */
export const recordsUntilReturned = (reads: Reads, exchanged: Exchanged): Records => ({
  async items(key, now) {
    const taken = await takeSlots(reads, exchanged, key, now)
    return [await recordAgain(reads.storage, exchanged.token, exchanged.trust, key.name), ...taken]
  },
  // The next attempt reads the record, which may be of a token that was given back.
  explain: async () => undefined,
})

/** Returns the records of an ID token that is exchanged during its life, until an end of what it gave is recorded as one of `ends`. */
export const recordsDuringLife = (reads: Reads, exchanged: Exchanged, ends: readonly ItemKey[]): Records => ({
  async items(key, now) {
    const pool = poolOfToken(partitionOf(exchanged.token), exchanged.trust.uid)
    return [
      ...(await takeSlots(reads, exchanged, key, now, [pool])),
      ...ends.map((end) => ({ op: 'absent' as const, ...end })),
    ]
  },
  explain: () => checkNotEnded(reads, ends),
})

/** Throws invalid_request if an end is recorded. The write of the key checks it too; this serves dry runs. */
export async function checkNotEnded({ storage }: Pick<Reads, 'storage'>, ends: readonly ItemKey[]): Promise<void> {
  const found = await storage.getCompanions(ends)
  if (found.some((end) => end !== undefined)) throw endedBefore()
}
