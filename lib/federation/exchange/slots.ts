/**
 * Limits how many valid keys a trust gives for one ID token that is exchanged during its lifetime, and in all if it has
 * `spec.maxKeys`. Each key takes a slot in its own transaction, so exchanges at the same time cannot take more.
 *
 *     pk=exchange#TRUSTUID sk=key#0007 trust=TRUSTUID key=NAME uid=KEYUID credential={version=1 hash=…} expires=…
 *     pk=exchange#HASH sk=TRUSTUID#0007 trust=TRUSTUID key=NAME uid=KEYUID credential={version=1 hash=…} expires=…
 *
 * A slot is free if it was never taken, if its key has expired, or if that key has been deleted.
 */

import type { Store } from '../../engine/registry/store.ts'
import type { Companion, CompanionItem, Storage } from '../../engine/storage/interface.ts'
import { credentialItemKey } from '../../keys/credential/credential.ts'
import { parseKeyHash } from '../../keys/credential/keyinternal.ts'
import type { KeyHash } from '../../keys/credential/pepper.ts'
import { OAuthError } from '../oauth/oautherror.ts'

/** The most valid keys that a trust gives for one token. */
export const MOST_KEYS = 50

/** A free slot, with the item that holds it until it is taken. */
interface Slot {
  pk: string
  sk: string
  before: CompanionItem | undefined
}

/** Slots: each valid key takes one. */
export interface Pool {
  pk: string
  /** What the sort keys begin with. */
  prefix: string
  most: number
  /** What a client is told when no slot is free. */
  why: string
}

/** Returns the pool of a token that is exchanged during its lifetime. */
export const poolOfToken = (pk: string, trust: string): Pool => ({
  pk,
  prefix: `${trust}#`,
  most: MOST_KEYS,
  why: `the subject token has been exchanged for ${MOST_KEYS} access keys: use those, or get a new token from the issuer`,
})

/** Returns the pool of a trust with `spec.maxKeys`. */
export const poolOfTrust = (trust: string, most: number): Pool => ({
  pk: `exchange#${trust}`,
  prefix: 'key#',
  most,
  why: `this client_id already has ${most} valid access keys (spec.maxKeys): revoke those that are no longer needed`,
})

/** Returns a random slot of the pool that is free now, so that concurrent exchanges rarely collide. Throws invalid_request if none is. */
export async function findSlot(
  { storage, randomInt }: Pick<Store, 'storage' | 'randomInt'>,
  pool: Pool,
  now: Date,
): Promise<Slot> {
  const { pk, prefix, most, why } = pool
  const { items } = await storage.queryCompanions(pk, { after: prefix, limit: most })
  const taken = new Map(items.map((item) => [item.sk, item]))
  const slots = Array.from({ length: most }, (_, index): Slot => {
    const sk = `${prefix}${String(index).padStart(4, '0')}`
    return { pk, sk, before: taken.get(sk) }
  })
  const isVacant = ({ before }: Slot) =>
    before === undefined || Number(before.attributes.expires) * 1000 <= now.getTime()
  const vacant = slots.filter(isVacant)
  const free = vacant.length > 0 ? vacant : await withoutKey(storage, slots)
  const slot = free[free.length > 0 ? randomInt(free.length) : 0]
  if (slot) return slot
  throw new OAuthError('invalid_request', 'too_many_keys', why)
}

/** Returns the slots whose keys have been deleted. */
async function withoutKey(storage: Storage, slots: readonly Slot[]): Promise<Slot[]> {
  const found = await storage.getCompanions(
    slots.map(({ before }) => credentialItemKey(parseKeyHash(before?.attributes.credential))),
  )
  return slots.filter(({ before }, index) => {
    const credential = found[index]?.attributes
    return credential?.uid !== before?.attributes.uid || credential?.deleted === true
  })
}

/**
 * Returns the write that takes the slot for a key until `expires` (Unix seconds). If another key was faster, it fails with
 * CompanionExists, or as a lost race.
 */
export function takeSlot(
  { pk, sk, before }: Slot,
  trust: string,
  { name, uid, expires, credential }: { name: string; uid: string; expires: number; credential: KeyHash },
): Companion {
  const { version, hash } = credential
  const attributes = { trust, key: name, uid, expires, credential: { version, hash } }
  if (before === undefined) return { op: 'put', pk, sk, attributes, ifAbsent: true }
  return { op: 'put', pk, sk, attributes, when: { attributes: { uid: before.attributes.uid ?? null } } }
}
