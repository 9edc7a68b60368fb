/**
 * Defines the keys of exchanges that answer a token of one cluster or virtual cluster. Nobody has such a key: its credential is not
 * stored under the hash of a value, but under one of the exchange, so that an equal exchange finds it. Whatever ends a key ends
 * its tokens, and also the exchange of this ID token for this trust and target: a thief of the ID token gets no other key.
 *
 *     pk=credential#target#HASH sk=#            the credential, as of every key
 *     pk=ended#TOKEN sk=TRUSTUID#PLACE expires=…   written by what ends the key before its time
 *     pk=ended#TOKEN sk=TRUSTUID expires=…         written with it: no access key is given either, which could get to the place
 */
import { createHash } from 'node:crypto'
import type { Companion } from '../../engine/storage/interface.ts'
import type { ItemKey } from '../../engine/storage/keys.ts'
import type { KeyInternal, TargetOfKey } from './keyinternal.ts'
import type { KeyHash } from './pepper.ts'

/** Stands where the hash of a value has the version of its pepper, so no value has such a hash. */
const VERSION = 'target'

/** Returns where the credential of an exchange is stored. `facts` are those in which equal exchanges agree. */
export const targetCredential = (facts: readonly unknown[]): KeyHash => ({
  version: VERSION,
  hash: createHash('sha256').update(JSON.stringify(facts)).digest('base64url'),
})

/** Returns the key of the item that says that a key of this ID token, trust and target was ended. */
export const endedTarget = (trust: string, { token, place }: Pick<TargetOfKey, 'token' | 'place'>): ItemKey => ({
  pk: `ended#${token}`,
  sk: `${trust}#${place}`,
})

/** Returns the key of the item that says that keys of this ID token and trust were ended, for whatever target. */
export const endedTargets = (trust: string, token: string): ItemKey => ({ pk: `ended#${token}`, sk: trust })

/** Returns the writes with which the end of a key is recorded. Other keys need none. */
export function recordEnd({ target, federation }: Pick<KeyInternal, 'target' | 'federation'>): Companion[] {
  if (target === undefined || federation === undefined) return []
  const { trust } = federation
  return [endedTarget(trust.uid, target), endedTargets(trust.uid, target.token)].map((item) => ({
    op: 'put',
    ...item,
    attributes: { expires: target.until },
  }))
}
