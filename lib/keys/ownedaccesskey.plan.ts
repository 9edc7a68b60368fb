/**
 * Plans the writes of access keys: what is stored, what is refused, and what is written with the key. Each plan reads in the order in which
 * the answers depend on it.
 */

import { isSameScope, validateChain } from '../access/scopes/chain.ts'
import type { ScopeOptions } from '../access/scopes/project.ts'
import { hasSelfRotate } from '../access/scopes/roles.ts'
import { isUnrestricted } from '../access/scopes/unrestricted.ts'
import { validateScope } from '../access/scopes/validatescope.ts'
import { endOfIssued, FINAL, reopens } from '../access/users/ends.ts'
import { effectiveUser, identityOf, isMaster, type KeySpec, keyIdentity } from '../access/users/identity.ts'
import { lockoutWarning, REPLACED } from '../access/users/lockout.ts'
import { forbiddenBeyondDisabling, forbiddenToWorkload } from '../access/users/outliving.ts'
import {
  addedScopes,
  chainAfterChange,
  effectiveChain,
  forbiddenChange,
  forbiddenCreation,
  inheritedChain,
  isUserType,
  lacksChainReason,
} from '../access/users/privilege.ts'
import { isOfCluster, rightOf, rightWarnings } from '../access/users/reviewright.ts'
import { endlessErrors } from '../access/users/selfrotate.ts'
import { checkCIDR } from '../access/users/sourcecidrs.ts'
import type { UserInfo } from '../access/users/user.ts'
import { validateIdentity } from '../access/users/validateidentity.ts'
import { unixSeconds } from '../engine/meta/encoding/time.ts'
import { type FieldError, findingsOf, forbidden, invalid } from '../engine/meta/errors/fielderror.ts'
import { alreadyExists, conflict, type StatusError } from '../engine/meta/errors/status.ts'
import type { KubeObject } from '../engine/meta/types.ts'
import { defined } from '../engine/meta/value/defined.ts'
import { deepEqual } from '../engine/meta/value/equal.ts'
import { groupResource, type Planned, type RequestContext, type Write } from '../engine/registry/kind.ts'
import { refuseInvalid } from '../engine/registry/store.ts'
import type { Stored } from '../engine/storage/interface.ts'
import { KINDS } from '../kinds.ts'
import { checkFormat, duplicateKey, hintOf } from './credential/accesskey.ts'
import { readCredential } from './credential/credential.ts'
import { decodeKeyInternal, encodeKeyInternal, type KeyInternal } from './credential/keyinternal.ts'
import {
  expiryOf,
  type KeyLife,
  keyStatus,
  type LifeLimits,
  lifeOf,
  lifeOfStored,
  REQUEST_SECONDS,
} from './credential/keystatus.ts'
import { makersOf, makerWarnings, tooManyMakers } from './credential/makers.ts'
import type { KeyHash } from './credential/pepper.ts'
import { hasSealedValue } from './credential/sealed.ts'
import { narrowedScopeWarnings } from './narrowedscope.ts'
import { changedItems, makerOf, newItems, removedItems } from './ownedaccesskey.credential.ts'
import {
  type ChangedKey,
  changeOf,
  changesMoreThanEnds,
  changesSpec,
  isExchanged,
  isForTarget,
  type KeyIntent,
  keyPath,
  type PlannedChange,
  reviewer,
  type Supplied,
  specOf,
  suppliedIn,
  toKey,
  WITHOUT_VALUE,
} from './ownedaccesskey.values.ts'
import { formerAfter, takeDrop, validateDrop } from './scope.changes.ts'
import { addedWarning, changedRuleWarnings } from './scope.warnings.ts'
import type { Services } from './services.ts'
import { findValue, generationOf, hasValue, sameHash } from './values/keyvalues.ts'
import { replaceValues } from './values/rotation.ts'
import { type RotationFacts, settle } from './values/settle.ts'
import { isTombstone } from './values/tombstone.ts'

type NewKey = Extract<Write<KeyIntent>, { type: 'create' }>
type Change = Extract<Write<KeyIntent>, { before: Stored; draft: object }>

const resource = groupResource(KINDS.OwnedAccessKey)

/** What a workload may not do. */
export const CREATE = 'create access keys: exchange an ID token for each'

/** Returns the plan of the writes of keys. */
export const keyPlan =
  (services: Services) =>
  (write: Write<KeyIntent>): Planned | Promise<Planned> => {
    const { type, draft, before, intent, context } = write
    if (type === 'create') return planCreate(services, write)
    if (type === 'update') return planUpdate(services, write)
    const deleteWarning = type === 'status' ? undefined : lockout(services, before, undefined, context)
    if (type === 'delete') return { deleteWarning, items: () => removedItems(before, intent) }
    const { internal } = draft
    return {
      deleteWarning,
      forbidsChange: lacksChainReason(context.user, toKey(before), 'access key'),
      items: (object) => changedItems(services, { before, after: { object, internal }, intent }),
    }
  }

/** Plans a new key with the supplied value, or with a generated one, which the response shows. */
async function planCreate(services: Services, { draft, intent, context }: NewKey): Promise<Planned> {
  const { keys, scopes } = services
  const { user, now } = context
  const exchange = intent?.type === 'exchange' ? intent : undefined
  const supplied = suppliedIn(draft.secrets)
  const value = exchange?.credential ? undefined : (supplied.key ?? keys.generate())
  const credential = value === undefined ? exchange?.credential : (await keys.hashes(value))[0]
  if (!credential) throw new Error('there is no pepper to hash access keys with')
  const { object: asked, drops } = takeDrop(withSources(draft.object, user))
  const object = exchange ? withLabels(asked, exchange.labels) : asked
  const origin = exchange?.origin ?? {
    creator: identityOf(user),
    carried: inheritedChain(user),
    ...rightOf(user, specOf(object).scope),
    ...makersOf(user),
  }
  const hint = value === undefined ? undefined : hintOf(value)
  const internal = encodeKeyInternal({ ...origin, credential, ...defined({ hint }) })
  if (value !== undefined) context.note('credential', 'access key')
  refuseInvalid(object, validate(services, { object, internal }, undefined, { supplied: supplied.key, drops }))

  const { name = '' } = object.metadata
  const { maxPerOwner: most, limits } = keys
  const spec = { ...specOf(object), ...(drops && { dropAddedScopes: true }) }
  const refusal =
    name === user.key.name && user.key.uid !== ''
      ? alreadyExists(resource, name)
      : (forbiddenToWorkload(user, CREATE) ??
        forbiddenCreation(user, spec, { now, maxTtl: limits.maxTtl }) ??
        tooManyMakers(user))
  const warnings = () => [
    ...writeWarnings({ object, internal }, undefined, { user, limits, scopes }),
    ...makerWarnings(user),
  ]
  // Administrators are exempt, so that they can create keys for themselves and for users who have reached the limit.
  const isExempt = most === 0 || (isMaster(user) && user.chain.length === 0)
  return {
    object,
    internal,
    warnings: refusal === undefined ? warnings() : [],
    refusal,
    quota: isExempt
      ? undefined
      : { name: 'max-keys-per-owner', partition: keyIdentity(toKey({ object, internal })), most },
    items: () => newItems(services, { object, internal }, supplied, { hint, records: exchange?.records }),
    duplicate: exchange ? undefined : duplicateKey,
    ...(value !== undefined && { reveal: [{ path: keyPath, value }] }),
  }
}

/** Gives a new key the addresses of the key that makes it, if the request names none. */
function withSources(object: KubeObject, { sourceCIDRs }: UserInfo): KubeObject {
  if (sourceCIDRs === undefined || specOf(object).sourceCIDRs?.length) return object
  return { ...object, spec: { ...object.spec, sourceCIDRs: [...sourceCIDRs] } }
}

const withLabels = ({ metadata, ...rest }: KubeObject, labels: Readonly<Record<string, string>>): KubeObject => ({
  ...rest,
  metadata: { ...metadata, labels: { ...metadata.labels, ...labels } },
})

/**
 * Plans an update, which settles the open rotation, and updates the credential and the inherited scopes. A value that the request supplies
 * is current at once, and all others end.
 */
async function planUpdate(services: Services, write: Change): Promise<Planned> {
  const { draft, before, intent, context } = write
  const { keys, scopes } = services
  const { user, now, note, dryRun } = context
  const old = decodeKeyInternal(before.internal)
  const at = unixSeconds(now)
  const facts = await readFacts(services, old)
  const { internal: settled, ended, isPromoted } = settle(old, facts, at)
  const supplied = suppliedIn(draft.secrets)
  const hashes = supplied.key === undefined ? [] : await keys.hashes(supplied.key)
  const isCurrent = settled.ended === undefined && hashes.some((hash) => sameHash(hash, settled.credential))
  const replacing = isCurrent ? undefined : hashes[0]
  if (replacing) demandOther(draft.object, [old, settled], hashes)
  note('credential', replacing ? 'access key' : undefined)
  const changesSecret = replacing !== undefined || (await changesSealed(services, settled, supplied))
  const isChanged = changesSpec({ ...draft, specChanged: changesSecret }, before)
  const { carried, born } = isChanged ? chainAfterChange(user, toKey(before), specOf(draft.object)) : settled
  const dropsScopes = carried.length < settled.carried.length
  const changesHidden = changesSecret || dropsScopes
  const { object: asked, drops } = takeDrop(draft.object)
  const [{ scope: previous }, { scope: next }] = [specOf(before.object), specOf(asked)]
  const { former, born: _, reviewScope, ...others } = settled
  const written = {
    ...others,
    ...rightOf(user, next, { ...(reviewScope && { reviewScope }), scope: previous }),
    carried,
    ...issuedEnded(services, asked, before, { settled, dropsScopes, replaces: replacing !== undefined, now: at }),
    ...defined({ born, former: isChanged ? formerAfter(former, { before: previous, next }, now) : former }),
  }
  const ofServer = intent && 'change' in intent ? intent : undefined
  const change: PlannedChange | undefined = replacing
    ? replaceValues(written, {
        credential: replacing,
        made: at,
        by: makerOf(user, settled, before),
        ...defined({ hint: hintOf(supplied.key ?? '') }),
      })
    : await ofServer?.change(written, before, context)
  const object = change?.disables ? { ...asked, spec: { ...asked.spec, disabled: true } } : asked
  const internal = encodeKeyInternal(change?.internal ?? written)
  refuseInvalid(object, validate(services, { object, internal }, before, { supplied: supplied.key, drops }))

  const changed = { object, internal, specChanged: changesHidden || ofServer?.type === 'rotation' }
  const refusal =
    refuseOvertaken(user, before, { settled, internal: decodeKeyInternal(internal) }) ??
    forbiddenUpdate(services, changed, before, context, drops)
  const warnings = async () => [
    ...writeWarnings(changed, before, { user, limits: keys.limits, scopes }),
    ...[lockout(services, before, changed, context, replacing ? REPLACED : undefined)].filter(
      (one) => one !== undefined,
    ),
    ...(dryRun && !isSameScope(previous, next) ? await narrowedScopeWarnings(changed, before, user, services) : []),
  ]
  const course = {
    supplied,
    // A value that the settling ends may have leaked.
    ended: [...(change?.ended ?? []), ...ended],
    items: change?.items ?? [],
    facts,
    at,
  }
  return {
    object,
    internal,
    changesSpec: changesHidden,
    raisesGeneration: isPromoted,
    warnings: refusal === undefined ? await warnings() : [],
    refusal,
    forbidsChange: lacksChainReason(user, toKey(before), 'access key'),
    items: (object) => changedItems(services, { before, after: { object, internal }, intent }, course),
    duplicate: duplicateKey,
  }
}

/** Returns until when what the key has issued is dead after an update, if that is later than before. */
function issuedEnded(
  { keys: { limits } }: Services,
  object: KubeObject,
  old: Stored,
  { settled, now, ...change }: { settled: KeyInternal; dropsScopes: boolean; replaces: boolean; now: number },
): Pick<KeyInternal, 'tokensEnded'> {
  const isActive = (life: KeyLife) => keyStatus(life, now, limits).state === 'Active'
  const before = lifeOfStored(old)
  const ended = endOfIssued({
    old: specOf(old.object),
    next: specOf(object),
    scopeChanged: settled.former?.at,
    revives: !isActive(before) && isActive(lifeOf(object, before)),
    ...change,
    now,
  })
  return ended === undefined ? {} : { tokensEnded: Math.max(ended, settled.tokensEnded ?? 0) }
}

/** Reads what the credential of the pending value says. Costs a read only while a rotation is open. */
async function readFacts({ keys }: Services, { pending }: KeyInternal): Promise<RotationFacts> {
  const item = pending && (await keys.readCredential(pending.credential))
  if (item === undefined || isTombstone(item)) return {}
  const { firstUsed } = readCredential(item)
  return firstUsed === undefined ? { isUnused: true } : { firstUsed }
}

/** Reports whether a supplied value besides the key differs from the stored one. */
async function changesSealed({ keys }: Services, settled: KeyInternal, { sealed }: Supplied): Promise<boolean> {
  const values = Object.entries(sealed)
  if (values.length === 0) return false
  const stored = (await keys.readCredential(settled.credential)) ?? {}
  return values.some(([path, value]) => !hasSealedValue(stored, path, value))
}

/** Throws 422 if the key has the value, as one that is not current, or had it until the open rotation was settled. */
function demandOther(object: KubeObject, states: readonly KeyInternal[], hashes: readonly KeyHash[]): void {
  if (states.some((internal) => hashes.some((hash) => hasValue(internal, hash)))) refuseInvalid(object, [duplicateKey])
}

/** Returns why the user may not change the spec so (403), or undefined. */
function forbiddenUpdate(
  { keys }: Services,
  changed: ChangedKey,
  before: Stored,
  { user, now }: RequestContext,
  drops: boolean,
): string | undefined {
  if (!changesSpec(changed, before)) return undefined
  const next = { ...specOf(changed.object), ...(drops && { dropAddedScopes: true }) }
  return (
    (changesMoreThanEnds(changed, before) ? forbiddenBeyondDisabling(user, isExchanged(before)) : undefined) ??
    forbiddenChange(user, toKey(before), next, {
      now,
      maxTtl: keys.limits.maxTtl,
      ...changeOf(changed, before),
    })
  )
}

/**
 * Validates a key. A stored ttl may exceed a maximum that was lowered later: the maximum applies anyway, and clients must
 * still be able to remove finalizers. A stored scope may have a role that only a later release knows: it allows nothing here,
 * and clients must still be able to disable the key.
 */
function validate(
  { keys }: Services,
  { object, internal }: WrittenKey,
  old: Stored | undefined,
  { supplied, drops }: { supplied: string | undefined; drops: boolean },
): FieldError[] {
  const key = specOf(object)
  const { maxTtl } = keys.limits
  const isNewTtl = !old || key.ttl !== specOf(old.object).ttl
  const isNewScope = !old || !isSameScope(key.scope, specOf(old.object).scope)
  const { carried, endedUnused, ...right } = decodeKeyInternal(internal)
  return [
    ...validateIdentity(key),
    ...(isNewScope ? validateScope(key.scope) : []),
    ...validateSources(key),
    ...(key.scope && hasSelfRotate(key.scope) ? endlessErrors(key, isOfCluster(right, key.scope)) : []),
    ...validateChain(effectiveChain({ spec: key, carried })),
    ...validateDrop(drops, !old || !deepEqual(key, specOf(old.object))),
    ...(maxTtl && key.ttl && key.ttl > maxTtl && isNewTtl
      ? [invalid('spec.ttl', key.ttl, `must not be more than the maximum of ${maxTtl} seconds`)]
      : []),
    ...(supplied === undefined ? [] : checkFormat(supplied)),
    ...(old && isForTarget(old) && supplied !== undefined ? [forbidden('spec.key', WITHOUT_VALUE)] : []),
    ...(old && endedUnused !== undefined && reopens(specOf(old.object), key)
      ? [forbidden('spec.disabled', FINAL)]
      : []),
  ]
}

const CHANGED = 'the access key of the request has been changed since the request was allowed'
const RETIRING = 'the value of the access key of the request was rotated: replace the value with the new one'

/**
 * Returns 409 if a key changes itself after it was changed since the request was allowed, or after the value of the request
 * ended. Otherwise a request in flight could undo that somebody disabled, narrowed, rotated or deleted the key. A retry is
 * authorized again. Returns 409 as well if a retiring value would replace the new one.
 */
function refuseOvertaken(
  { key, credential }: UserInfo,
  old: Stored,
  { settled, internal }: { settled: KeyInternal; internal: KeyInternal },
): StatusError | undefined {
  const { name = '', uid, generation = 0 } = old.object.metadata
  if (uid !== key.uid) return undefined
  // An authorizer of an earlier version passes no credential.
  const before = credential ? findValue(decodeKeyInternal(old.internal), credential) : { state: 'Current' as const }
  const now = credential ? findValue(settled, credential) : before
  if (before === undefined || now === undefined) return conflict(resource, name, CHANGED)
  // The request may have begun before the new value was used. A brief overlap may be over before the request is.
  const { overlap = 0 } = decodeKeyInternal(old.internal).pending ?? {}
  if (before.state === 'Current' && now.state === 'Retiring' && overlap < REQUEST_SECONDS) {
    return conflict(resource, name, CHANGED)
  }
  if (key.generation !== undefined && key.generation !== generationOf(before, generation)) {
    return conflict(resource, name, CHANGED)
  }
  const isReplaced = !sameHash(internal.credential, settled.credential)
  return isReplaced && now.state === 'Retiring' ? conflict(resource, name, RETIRING) : undefined
}

/** Returns the 422 errors for the addresses of a key. Each address has one spelling, so that people can compare them. */
const validateSources = ({ sourceCIDRs = [] }: KeySpec): FieldError[] =>
  findingsOf(sourceCIDRs, (one, index) => {
    const detail = checkCIDR(one)
    return detail === undefined ? [] : [invalid(`spec.sourceCIDRs[${index}]`, one, detail)]
  })

type WrittenKey = Pick<Stored, 'object' | 'internal'>

/** The members that restrict what a key may do, and whose absence allows more. */
const RESTRICTIONS: Readonly<Record<string, (spec: KeySpec) => boolean>> = {
  'spec.scope': ({ scope }) => scope !== undefined,
  'spec.sourceCIDRs': ({ sourceCIDRs }) => !!sourceCIDRs?.length,
}
const EXPIRY = { 'spec.ttl': ({ ttl }: KeySpec) => !!ttl }

/** Returns the warnings for a key that the user creates, or changes from `old`. */
function writeWarnings(
  key: WrittenKey,
  old: WrittenKey | undefined,
  { user, limits, scopes }: { user: UserInfo; limits: LifeLimits; scopes: ScopeOptions },
): string[] {
  const { name = '' } = key.object.metadata
  const isLesser = hasFewerRights(key, user)
  const removed = Object.entries({ ...RESTRICTIONS, ...(!isLesser && EXPIRY) }).filter(
    ([, has]) => old !== undefined && has(specOf(old.object)) && !has(specOf(key.object)),
  )
  const warnings = removed.map(([member]) => `access key "${name}" is no longer restricted by ${member}`)
  const { scope } = specOf(key.object)
  if (!old || !isSameScope(specOf(old.object).scope, scope)) {
    warnings.push(...rightWarnings(`access key "${name}"`, scope, decodeKeyInternal(key.internal)))
    const added = addedScopes(toKey(key)).length
    if (added > 0 && old) warnings.push(addedWarning(`access key "${name}"`, added))
  }
  warnings.push(...changedRuleWarnings(specOf(key.object), old && specOf(old.object), scopes))
  if (old && isEnabled(key, old)) warnings.push(...leakWarnings(name, decodeKeyInternal(key.internal)))
  if (!isUnlimited(key, limits) || (old && isUnlimited(old, limits)) || isLesser) return warnings
  return [
    ...warnings,
    `access key "${name}" never expires and has all permissions of ${effectiveUser(toKey(key)).name}`,
  ]
}

/** Returns the warning that clusters refuse all users after a change or a deletion, if the key gives access now. */
function lockout(
  { keys }: Services,
  before: Stored,
  after: WrittenKey | undefined,
  { now }: RequestContext,
  end?: typeof REPLACED,
): string | undefined {
  const { ended } = decodeKeyInternal(before.internal)
  if (ended !== undefined || keyStatus(lifeOfStored(before), unixSeconds(now), keys.limits).state !== 'Active') return
  const { name = '' } = before.object.metadata
  return lockoutWarning(`access key "${name}"`, reviewer(before), after && reviewer(after), end)
}

/** Reports whether the key is the user's own and lacks a group of theirs, such as system:masters. */
function hasFewerRights(key: WrittenKey, user: UserInfo): boolean {
  const { identity, groups } = effectiveUser(toKey(key))
  return identity === identityOf(user) && user.groups.some((group) => !groups.includes(group))
}

const isEnabled = (key: WrittenKey, old: WrittenKey): boolean =>
  specOf(old.object).disabled === true && specOf(key.object).disabled !== true

/**
 * Returns the warnings for a key that is enabled although its value has leaked: if it has no other, or if it has one from before
 * the report, which a holder of the leaked value may have made.
 */
function leakWarnings(name: string, { ended, pending, tokensNotBefore = 0 }: KeyInternal): string[] {
  if (ended === undefined) return []
  const leaked = `the value of access key "${name}" was reported as leaked`
  if (pending === undefined) return [`${leaked} and gives no access: rotate the key`]
  // A value that was made after the report has a later second.
  if (pending.made > tokensNotBefore - REQUEST_SECONDS) return []
  return [`${leaked}, and its pending value is older than the report: replace it unless you know who made it`]
}

/** Reports whether the key has no end, and no scope limits it. The service itself manages keys of other types. */
const isUnlimited = (key: WrittenKey, limits: LifeLimits): boolean =>
  isUserType(specOf(key.object).type) &&
  expiryOf(lifeOf(key.object), limits) === undefined &&
  effectiveChain(toKey(key)).every(isUnrestricted)
