/** Prepares the credential items that are written when an access key is created, updated or deleted. */
import { duplicateKey, hintOf } from '../../../authentication/accesskey.ts'
import { readCredential, requireAbsentCredentials } from '../../../authentication/credential.ts'
import { decodeKeyInternal, encodeKeyInternal, type KeyInternal } from '../../../authentication/keyinternal.ts'
import { type KeyLife, keyStatus, lifeOf, lifeOfStored } from '../../../authentication/keystatus.ts'
import { makersOf } from '../../../authentication/makers.ts'
import type { KeyHash } from '../../../authentication/pepper.ts'
import { hasSealedValue } from '../../../authentication/sealed.ts'
import { recordEnd } from '../../../authentication/targetkeys.ts'
import { findValue, hasValue, sameHash } from '../../../authentication/values/keyvalues.ts'
import { replaceValues, type ValueMaker } from '../../../authentication/values/rotation.ts'
import { type RotationFacts, settle } from '../../../authentication/values/settle.ts'
import { isTombstone } from '../../../authentication/values/tombstone.ts'
import { createCredential, deleteCredentials, updateCredentials } from '../../../authentication/values/writes.ts'
import { isSameScope } from '../../../authorization/scopes/chain.ts'
import { endOfIssued, endsAccess, lifeIn } from '../../../authorization/users/ends.ts'
import { identityOf } from '../../../authorization/users/identity.ts'
import { chainAfterChange, inheritedChain } from '../../../authorization/users/privilege.ts'
import { rightOf } from '../../../authorization/users/reviewright.ts'
import type { UserInfo } from '../../../authorization/users/user.ts'
import { KINDS } from '../../../kinds/kinds.ts'
import { unixSeconds } from '../../../meta/encoding/time.ts'
import { invalidObject } from '../../../meta/errors/status.ts'
import { defined } from '../../../meta/value/defined.ts'
import type { Draft, RequestContext } from '../../../registry/kind.ts'
import type { Companion, Stored } from '../../../storage/interface.ts'
import {
  changesSpec,
  type KeyPlan,
  keyPath,
  type PlannedChange,
  sealedOf,
  specOf,
  suppliedKey,
  toKey,
} from './ownedaccesskey.values.ts'
import { formerAfter, takeDrop } from './scope.changes.ts'
import type { Services } from './services.ts'
import { narrowedScopeWarnings } from './usage/narrowedscope.ts'

const { group, kind } = KINDS.OwnedAccessKey

/** Creates the credential of a new key from the supplied value, or from a generated one. The response shows the value. */
export async function prepareForCreate(
  services: Services,
  draft: Draft<KeyPlan>,
  context: RequestContext,
): Promise<void> {
  const { keys } = services
  const { user, note } = context
  const { exchanged } = draft.plan ?? {}
  const supplied = suppliedKey(draft.secrets)
  const key = exchanged?.credential ? undefined : (supplied ?? keys.generate())
  const credential = key === undefined ? exchanged?.credential : (await keys.hashes(key))[0]
  if (!credential) throw new Error('there is no pepper to hash access keys with')
  const origin = exchanged?.origin ?? {
    creator: identityOf(user),
    carried: inheritedChain(user),
    ...rightOf(user, specOf(draft.object).scope),
    ...makersOf(user),
  }
  const drops = takeDrop(draft)
  draft.internal = encodeKeyInternal({ ...origin, credential })
  draft.plan = { ...draft.plan, ...(drops && { drops }) }
  if (exchanged) {
    const { metadata, ...rest } = draft.object
    draft.object = { ...rest, metadata: { ...metadata, labels: { ...metadata.labels, ...exchanged.labels } } }
  }
  if (key === undefined) return
  if (supplied === undefined) draft.plan = { ...draft.plan, hint: hintOf(key) }
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
  draft: Draft<KeyPlan>,
  old: Stored,
  context: RequestContext,
): Promise<void> {
  const { keys } = services
  const { user, note, now } = context
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
  const [{ scope: previous }, { scope: next }] = [specOf(old.object), specOf(draft.object)]
  const isChanged = changesSpec(draft, old)
  const { carried, born } = isChanged ? chainAfterChange(user, toKey(old), specOf(draft.object)) : settled
  if (carried.length < settled.carried.length) draft.specChanged = true
  const drops = takeDrop(draft)
  const { former, born: _, reviewScope, ...others } = settled
  const written = {
    ...others,
    ...rightOf(user, next, { ...(reviewScope && { reviewScope }), scope: previous }),
    carried,
    ...issuedEnded(services, draft, old, { settled, drops, replaces: replacing !== undefined, now }),
    ...defined({ born, former: isChanged ? formerAfter(former, { before: previous, next }, now) : former }),
  }
  const change: PlannedChange | undefined = replacing
    ? replaceValues(written, { credential: replacing, made: seconds, by: makerOf(user, settled, old) })
    : await draft.plan?.change?.(written, { draft, old, context })
  draft.internal = encodeKeyInternal(change?.internal ?? written)
  // A value that the settling ends may have leaked.
  const all = [...(change?.ended ?? []), ...ended]
  draft.plan = {
    ...draft.plan,
    ...(drops && { drops }),
    update: { settled, ended: all, items: change?.items ?? [], ...facts, at: seconds },
  }
  if (!context.dryRun || isSameScope(previous, next)) return
  draft.plan.refused = await narrowedScopeWarnings(draft, old, user, services)
}

/** Returns until when what the key has issued is dead after an update, if that is later than before. */
function issuedEnded(
  { keys: { limits } }: Services,
  draft: Draft,
  old: Stored,
  { settled, drops, replaces, now }: { settled: KeyInternal; drops: boolean; replaces: boolean; now: Date },
): Pick<KeyInternal, 'tokensEnded'> {
  const seconds = unixSeconds(now)
  const isActive = (life: KeyLife) => keyStatus(life, seconds, limits).state === 'Active'
  const before = lifeOfStored(old)
  const ended = endOfIssued({
    old: specOf(old.object),
    next: { ...specOf(draft.object), dropAddedScopes: drops },
    scopeChanged: settled.former?.at,
    revives: !isActive(before) && isActive(lifeOf(draft.object, before.lastActivity)),
    replaces,
    now: seconds,
  })
  return ended === undefined ? {} : { tokensEnded: Math.max(ended, settled.tokensEnded ?? 0) }
}

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

/** Throws 422 if the key has the value, as one that is not current, or had it until the open rotation was settled. */
function demandOther({ object }: Draft, states: readonly KeyInternal[], hashes: readonly KeyHash[]): void {
  if (!states.some((internal) => hashes.some((hash) => hasValue(internal, hash)))) return
  throw invalidObject(group, kind, object.metadata.name ?? '', [duplicateKey])
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
async function demandUnused(services: Services, { object, internal, secrets }: Draft): Promise<Companion[]> {
  const supplied = suppliedKey(secrets)
  const hashes = supplied === undefined ? [] : await services.keys.hashes(supplied)
  const { name = '' } = object.metadata
  const { credential: stored } = decodeKeyInternal(internal)
  return requireNewValue(services, name, { hashes, stored, known: name })
}

/** Returns the items that are written with the key, first its credentials. `after` is undefined when the key is removed. */
export async function companions(
  services: Services,
  after: Draft | undefined,
  before: Stored | undefined,
  plan: KeyPlan = {},
): Promise<readonly Companion[]> {
  const { keys } = services
  if (!after) return before ? removeCredentials(before, plan) : []
  const sealed = sealedOf(after.secrets)
  if (!before) {
    const unused = await demandUnused(services, after)
    const records = (await plan.exchanged?.companions(after)) ?? []
    return [...createCredential(after, sealed, keys.limits, plan.hint), ...unused, ...records]
  }
  // An update without a plan, such as the mark of a deletion, ends no value.
  const { ended = [], items = [], firstUsed, isUnused = false, at = 0 } = plan.update ?? {}
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
  const ends = !plan.isExpired && endsAccess(lifeIn(before.object), lifeIn(after.object))
  return [
    ...(await updateCredentials(update, at, keys)),
    ...unused,
    ...items,
    ...(ends ? recordEnd(decodeKeyInternal(after.internal)) : []),
  ]
}

function removeCredentials(before: Stored, { removal, isExpired }: KeyPlan): Companion[] {
  const items = removal?.(before) ?? []
  const isWritten = ({ pk, sk }: Companion) => items.some((one) => one.pk === pk && one.sk === sk)
  const end = isExpired ? [] : recordEnd(decodeKeyInternal(before.internal))
  return [...deleteCredentials(before).filter((one) => !isWritten(one)), ...items, ...end]
}
