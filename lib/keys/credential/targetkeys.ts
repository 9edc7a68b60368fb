/**
 * Defines the keys of exchanges that answer tokens of clusters and virtual clusters. Nobody has such a key: its credential is not
 * stored under the hash of a value, but under one of the exchange, so that an equal exchange finds it. Whatever ends a key ends
 * its tokens, and also the exchange of this ID token for this trust and its targets: a thief of the ID token gets no other key. Of a key
 * for several targets, each can be ended alone: the item that refuses its exchange then also refuses its token.
 *
 *     pk=credential#target#HASH sk=#            the credential, as of every key
 *     pk=ended#TOKEN sk=TRUSTUID#PLACE expires=…   written by what ends the key, or its token of the place, before its time
 *     pk=ended#TOKEN sk=TRUSTUID expires=…         written with it: no access key is given either, which could get to the place
 */
import { createHash } from 'node:crypto'
import type { Companion, CompanionItem } from '../../engine/storage/interface.ts'
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

/** Returns the places of the tokens of a key, of which a key with a value has none. */
export const placesOf = ({ target, targets }: Pick<KeyInternal, 'target' | 'targets'>): readonly string[] =>
  targets ?? (target ? [target.place] : [])

/** Returns what a key for these places stores. The order does not matter. */
export function storedTargets(places: readonly string[], idToken: Omit<TargetOfKey, 'place'>) {
  const [place = '', ...others] = [...places].sort()
  return { target: { place, ...idToken }, ...(others.length > 0 && { targets: [place, ...others] }) }
}

/** Returns the key of the item that says that a key of this ID token, trust and target was ended. */
export const endedTarget = (trust: string, { token, place }: Pick<TargetOfKey, 'token' | 'place'>): ItemKey => ({
  pk: `ended#${token}`,
  sk: `${trust}#${place}`,
})

/** Returns the key of the item that says that keys of this ID token and trust were ended, for whatever target. */
export const endedTargets = (trust: string, token: string): ItemKey => ({ pk: `ended#${token}`, sk: trust })

/** A key, as far as it says what ends with it. */
type TargetKey = Pick<KeyInternal, 'target' | 'targets' | 'federation'>

/** Returns the items with which the end of a key, or of its tokens for some of its places, is recorded. Other keys have none. */
export function endItems(key: TargetKey, places = placesOf(key)): CompanionItem[] {
  const { target, federation } = key
  if (target === undefined || federation === undefined) return []
  const { uid } = federation.trust
  const ends = [endedTargets(uid, target.token), ...places.map((place) => endedTarget(uid, { ...target, place }))]
  return ends.map((item) => ({ ...item, attributes: { expires: target.until } }))
}

/** Returns the writes with which the end of a key is recorded. */
export const recordEnd = (key: TargetKey): Companion[] => endItems(key).map((item) => ({ op: 'put', ...item }))

/**
 * Returns the item that says that the token of a key for several places was ended in this one. The token of any other key ends with its key.
 * A place that ends in a slash is a virtual cluster of any uid.
 */
export function endOfPart({ target, targets = [], federation }: TargetKey, place: string): ItemKey | undefined {
  const found = targets.find((one) => one === place || (place.endsWith('/') && one.startsWith(place)))
  if (found === undefined || !target || !federation) return undefined
  return endedTarget(federation.trust.uid, { ...target, place: found })
}
