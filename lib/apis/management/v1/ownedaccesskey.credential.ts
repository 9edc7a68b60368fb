/** Prepares the credential items that are written when an access key is created, updated or deleted. */
import { duplicateKey, hintOf } from '../../../authentication/accesskey.ts'
import { readCredential, requireAbsentCredentials } from '../../../authentication/credential.ts'
import { decodeKeyInternal, encodeKeyInternal, type KeyInternal } from '../../../authentication/keyinternal.ts'
import { lineOf } from '../../../authentication/lineage.ts'
import type { KeyHash } from '../../../authentication/pepper.ts'
import { hasSealedValue } from '../../../authentication/sealed.ts'
import {
  type EndedValue,
  findValue,
  hasValue,
  sameHash,
  type ValuesChange,
} from '../../../authentication/values/keyvalues.ts'
import { replaceValues, type ValueMaker } from '../../../authentication/values/rotation.ts'
import { type RotationFacts, settle } from '../../../authentication/values/settle.ts'
import { isTombstone } from '../../../authentication/values/tombstone.ts'
import { createCredential, deleteCredentials, updateCredentials } from '../../../authentication/values/writes.ts'
import { identityOf } from '../../../authorization/users/identity.ts'
import { chainAfterChange, inheritedChain } from '../../../authorization/users/privilege.ts'
import type { UserInfo } from '../../../authorization/users/user.ts'
import { unixSeconds } from '../../../meta/encoding/time.ts'
import { invalidObject } from '../../../meta/errors/status.ts'
import type { Secret } from '../../../meta/schema/writeonly.ts'
import type { JsonObject, KubeObject } from '../../../meta/types.ts'
import type { Draft, RequestContext } from '../../../registry/kind.ts'
import type { Companion, Stored } from '../../../storage/interface.ts'
import { group } from './group.ts'
import { changesSpec, keyPath, kind, sealedOf, specOf, suppliedKey, toKey } from './ownedaccesskey.values.ts'
import type { Services } from './services.ts'

/** How an update came to an internal part. It is not stored, and only needed until the update is. */
interface Plan {
  /** The internal part after the open rotation was settled. */
  settled: KeyInternal
  /** The values that the update ends. */
  ended: readonly EndedValue[]
  /** When the pending value was first used, if it was. */
  firstUsed?: number
  isUnused?: true
  /** The time of the request. Times are unix seconds. */
  at: number
}

const plans = new WeakMap<JsonObject, Plan>()

/** The hints of generated values, by the internal part of the new key. Only the credential stores them: rows are listed. */
const hints = new WeakMap<JsonObject, string>()

/** Makes a change of the values part of the update of a draft, after `prepareForUpdate`. */
export function applyChange(draft: Draft, { internal, ended }: ValuesChange): void {
  const plan = plans.get(draft.internal)
  if (plan === undefined) throw new Error('the update was not prepared')
  draft.internal = encodeKeyInternal(internal)
  // A value that the settling ends may have leaked.
  plans.set(draft.internal, { ...plan, ended: [...ended, ...plan.ended] })
}

/** Replaces the internal part of a draft after `prepareForCreate`. The credential keeps the hint of a generated value. */
export function replaceInternal(draft: Draft, internal: KeyInternal): void {
  const hint = hints.get(draft.internal)
  draft.internal = encodeKeyInternal(internal)
  if (hint !== undefined) hints.set(draft.internal, hint)
}

/** Returns the internal part of a prepared update after its open rotation was settled. */
export const settledOf = ({ internal }: Pick<Draft, 'internal'>): KeyInternal =>
  plans.get(internal)?.settled ?? decodeKeyInternal(internal)

/** Creates the credential of a new key from the supplied value, or from a generated one. The response shows the value. */
export async function prepareForCreate(
  { keys }: Services,
  draft: Draft,
  { user, note }: RequestContext,
): Promise<void> {
  const supplied = suppliedKey(draft.secrets)
  const key = supplied ?? keys.generate()
  const [credential] = await keys.hashes(key)
  if (!credential) throw new Error('there is no pepper to hash access keys with')
  draft.internal = encodeKeyInternal({
    creator: identityOf(user),
    carried: inheritedChain(user),
    credential,
    ...lineOf(user),
  })
  if (supplied === undefined) hints.set(draft.internal, hintOf(key))
  draft.reveal = [{ path: keyPath, value: key }]
  note('credential', 'access key')
}

/** Reads what the credential of the pending value says. Costs a read only while a rotation is open. */
async function readFacts({ keys }: Services, { pending }: KeyInternal): Promise<RotationFacts> {
  const item = pending && (await keys.readCredential(pending.credential))
  if (item === undefined || isTombstone(item)) return {}
  const { firstUsed } = readCredential(item)
  return firstUsed === undefined ? { isUnused: true } : { firstUsed }
}

/**
 * Settles the open rotation, and updates the credential and the inherited scopes when a request changes the key. A value that
 * the request supplies is current at once, and all others end.
 */
export async function prepareForUpdate(
  services: Services,
  draft: Draft,
  old: Stored,
  { user, note, now }: RequestContext,
): Promise<void> {
  const { keys } = services
  const before = decodeKeyInternal(old.internal)
  const seconds = unixSeconds(now)
  const facts = await readFacts(services, before)
  const { internal: settled, ended, isPromoted } = settle(before, facts, seconds)
  if (isPromoted) draft.raisesGeneration = true
  const supplied = suppliedKey(draft.secrets)
  const hashes = supplied === undefined ? [] : await keys.hashes(supplied)
  const isCurrent = settled.ended === undefined && hashes.some((hash) => sameHash(hash, settled.credential))
  const replacing = isCurrent ? undefined : hashes[0]
  if (replacing) demandOther(draft, [before, settled], hashes)
  note('credential', replacing ? 'access key' : undefined)
  const sealed = Object.entries(sealedOf(draft.secrets))
  const stored = sealed.length > 0 ? ((await keys.readCredential(settled.credential)) ?? {}) : {}
  if (replacing || sealed.some(([path, value]) => !hasSealedValue(stored, path, value))) draft.specChanged = true
  const carried = changesSpec(draft, old) ? chainAfterChange(user, toKey(old), specOf(draft.object)) : settled.carried
  draft.internal = encodeKeyInternal({ ...settled, carried })
  plans.set(draft.internal, { settled, ended, ...facts, at: seconds })
  if (!replacing) return
  const by = makerOf(user, settled, old)
  applyChange(draft, replaceValues({ ...settled, carried }, { credential: replacing, made: seconds, by }))
}

/**
 * Returns what makes a new value of a key: a value of the key itself, or another key. Of a key that it has made itself, only
 * that is known.
 */
export function makerOf(
  { key, credential, ancestors = [] }: UserInfo,
  settled: KeyInternal,
  { object }: Stored,
): ValueMaker {
  const { uid = '' } = object.metadata
  if (key.uid !== uid) return ancestors.includes(uid) ? 'unknown' : 'other'
  const presented = credential && findValue(settled, credential)
  return presented ? (presented.facts ?? { number: 1 }) : 'unknown'
}

/** Throws 422 if the key has the value, as one that is not current, or had it until the open rotation was settled. */
function demandOther({ object }: Draft, states: readonly KeyInternal[], hashes: readonly KeyHash[]): void {
  if (!states.some((internal) => hashes.some((hash) => hasValue(internal, hash)))) return
  throw invalidObject(group, kind, object.metadata.name ?? '', [duplicateKey()])
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
    throw invalidObject(group, kind, name, [duplicateKey()])
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
  { object, internal, secrets }: { object: KubeObject; internal: JsonObject; secrets: readonly Secret[] },
): Promise<Companion[]> {
  const supplied = suppliedKey(secrets)
  const hashes = supplied === undefined ? [] : await services.keys.hashes(supplied)
  const { name = '' } = object.metadata
  const { credential: stored } = decodeKeyInternal(internal)
  return requireNewValue(services, name, { hashes, stored, known: name })
}

/** Returns the credential items that are written with the key. `after` is undefined when the key is removed. */
export async function companions(
  services: Services,
  after: { object: KubeObject; internal: JsonObject; secrets: readonly Secret[] } | undefined,
  before: Stored | undefined,
): Promise<readonly Companion[]> {
  const { keys } = services
  if (!after) return before ? deleteCredentials(before) : []
  const sealed = sealedOf(after.secrets)
  if (!before) {
    const unused = await demandUnused(services, after)
    return [...createCredential(after, sealed, keys.limits, hints.get(after.internal)), ...unused]
  }
  // An update without a plan, such as the mark of a deletion, ends no value.
  const { ended = [], firstUsed, isUnused = false, at = 0 } = plans.get(after.internal) ?? {}
  const isReplaced = !hasValue(decodeKeyInternal(before.internal), decodeKeyInternal(after.internal).credential)
  const unused = isReplaced ? await demandUnused(services, after) : []
  const update = {
    before,
    after,
    sealed,
    ended,
    ...(firstUsed !== undefined && { firstUsed }),
    isUnused,
    ...(before.activity !== undefined && { lastActivity: Math.floor(before.activity / 1000) }),
  }
  return [...(await updateCredentials(update, at, keys)), ...unused]
}
