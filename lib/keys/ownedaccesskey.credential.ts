/** Makes the items that are written when an access key is created, updated or deleted, first its credentials. */

import { endsAccess } from '../access/users/ends.ts'
import type { UserInfo } from '../access/users/user.ts'
import { invalidObject } from '../engine/meta/errors/status.ts'
import type { Companion, Stored } from '../engine/storage/interface.ts'
import { KINDS } from '../kinds.ts'
import { duplicateKey } from './credential/accesskey.ts'
import { requireAbsentCredentials, type StoredKey } from './credential/credential.ts'
import { decodeKeyInternal, type KeyInternal } from './credential/keyinternal.ts'
import { lifeOfStored } from './credential/keystatus.ts'
import type { KeyHash } from './credential/pepper.ts'
import { recordEnd } from './credential/targetkeys.ts'
import type { KeyIntent, Supplied } from './ownedaccesskey.values.ts'
import type { Services } from './services.ts'
import { type EndedValue, findValue, hasValue, sameHash } from './values/keyvalues.ts'
import type { ValueMaker } from './values/rotation.ts'
import type { RotationFacts } from './values/settle.ts'
import { isTombstone } from './values/tombstone.ts'
import { createCredential, deleteCredentials, updateCredentials } from './values/writes.ts'

const { group, kind } = KINDS.OwnedAccessKey

/**
 * Returns what makes a new value of a key: a value of the key itself, or another key. Of a key that it has made itself, only
 * that is known.
 */
export function makerOf(
  { key, credential, makers = [] }: UserInfo,
  settled: KeyInternal,
  { object }: Stored,
): ValueMaker {
  const { uid = '' } = object.metadata
  if (key.uid !== uid) return makers.includes(uid) ? 'unknown' : 'other'
  const presented = credential && findValue(settled, credential)
  return presented ? (presented.facts ?? { number: 1 }) : 'unknown'
}

/**
 * Throws 422 if a key has or had the value with these hashes. A key that is stored as `known` may have it: see
 * `demandUnused`. Returns the items that guard the write.
 */
export async function requireNewValue(
  { keys }: Pick<Services, 'keys'>,
  name: string,
  { hashes, stored, known }: { hashes: readonly KeyHash[]; stored: KeyHash; known?: string },
): Promise<Companion[]> {
  const found = await Promise.all(hashes.map((hash) => keys.readCredential(hash)))
  if (found.some((one) => one !== undefined && (isTombstone(one) || one.name !== known))) {
    throw invalidObject(group, kind, name, [duplicateKey])
  }
  return requireAbsentCredentials(hashes.filter((hash) => !sameHash(hash, stored)))
}

/**
 * Throws 422 if another key has the supplied value, or any had it. This check also serves dry runs, which write nothing. The
 * hash under which the key is stored guards the write. The returned items guard it too: another request may store the value
 * at the same time under the hash of another pepper. If the key itself already has the value, another request wrote it since
 * it was read. The condition on its row then fails, and the request is evaluated again.
 */
async function demandUnused(
  services: Services,
  { object, internal }: StoredKey,
  { key }: Supplied,
): Promise<Companion[]> {
  const hashes = key === undefined ? [] : await services.keys.hashes(key)
  const { name = '' } = object.metadata
  const { credential: stored } = decodeKeyInternal(internal)
  return requireNewValue(services, name, { hashes, stored, known: name })
}

/** Returns the items that are written with a new key, first its credential. `hint` is that of a generated value. */
export async function newItems(
  services: Services,
  key: StoredKey,
  supplied: Supplied,
  {
    hint,
    records,
  }: { hint: string | undefined; records: Extract<KeyIntent, { type: 'exchange' }>['records'] | undefined },
): Promise<readonly Companion[]> {
  const unused = await demandUnused(services, key, supplied)
  const recorded = (await records?.(decodeKeyInternal(key.internal).credential)) ?? []
  return [...createCredential(key, supplied.sealed, services.keys.limits, hint), ...unused, ...recorded]
}

/** How an update came to the internal part. Times are unix seconds. */
interface Course {
  supplied: Supplied
  /** The values that the update ends. */
  ended: readonly EndedValue[]
  items: readonly Companion[]
  facts: RotationFacts
  at: number
}

/** A write that changes no value, such as the mark of a deletion. */
const NO_CHANGE: Course = { supplied: { sealed: {} }, ended: [], items: [], facts: {}, at: 0 }

/** Returns the items that are written with a changed key, first its credentials. */
export async function changedItems(
  services: Services,
  { before, after, intent }: { before: Stored; after: StoredKey; intent: KeyIntent | undefined },
  { supplied, ended, items, facts, at }: Course = NO_CHANGE,
): Promise<readonly Companion[]> {
  const isReplaced = !hasValue(decodeKeyInternal(before.internal), decodeKeyInternal(after.internal).credential)
  const unused = isReplaced ? await demandUnused(services, after, supplied) : []
  const update = {
    before,
    after,
    sealed: supplied.sealed,
    ended,
    ...facts,
    ...(before.activity !== undefined && { lastActivity: Math.floor(before.activity / 1000) }),
  }
  const ends = isEndedBySomebody(intent) && endsAccess(lifeOfStored(before), lifeOfStored(after))
  return [
    ...(await updateCredentials(update, at, services.keys)),
    ...unused,
    ...items,
    ...(ends ? recordEnd(decodeKeyInternal(after.internal)) : []),
  ]
}

const isEndedBySomebody = (intent: KeyIntent | undefined): boolean =>
  intent?.type !== 'expiry' && intent?.type !== 'takeBack'

/** Returns the items that are written when a key is removed. */
export function removedItems(before: Stored, intent: KeyIntent | undefined): Companion[] {
  const items = intent?.type === 'removal' || intent?.type === 'takeBack' ? intent.items(before) : []
  const isWritten = ({ pk, sk }: Companion) => items.some((one) => one.pk === pk && one.sk === sk)
  const end = isEndedBySomebody(intent) ? recordEnd(decodeKeyInternal(before.internal)) : []
  return [...deleteCredentials(before).filter((one) => !isWritten(one)), ...items, ...end]
}
