/** Defines OwnedAccessKey, a bearer token for non-interactive use. Specification section 2.3. */
import { checkFormat, duplicateKey } from '../../../authentication/accesskey.ts'
import { decodeKeyInternal, type KeyInternal } from '../../../authentication/keyinternal.ts'
import { expiryOf, type LifeLimits, lifeOf, REQUEST_SECONDS } from '../../../authentication/keystatus.ts'
import { makerWarnings, tooManyMakers } from '../../../authentication/makers.ts'
import { findValue, generationOf, sameHash } from '../../../authentication/values/keyvalues.ts'
import { isSameScope, validateChain } from '../../../authorization/scopes/chain.ts'
import { evaluateHere } from '../../../authorization/scopes/evaluate.ts'
import type { ScopeOptions } from '../../../authorization/scopes/project.ts'
import { hasSelfRotate } from '../../../authorization/scopes/roles.ts'
import { isUnrestricted } from '../../../authorization/scopes/unrestricted.ts'
import { validateScope } from '../../../authorization/scopes/validatescope.ts'
import {
  effectiveUser,
  identityOf,
  isMaster,
  type KeySpec,
  keyIdentity,
  MASTERS,
  ownsKey,
} from '../../../authorization/users/identity.ts'
import { forbiddenBeyondDisabling, forbiddenToWorkload } from '../../../authorization/users/outliving.ts'
import {
  addedScopes,
  effectiveChain,
  forbiddenChange,
  forbiddenCreation,
  isUserType,
  lacksChainReason,
  maySeeKey,
  visiblePartitions,
} from '../../../authorization/users/privilege.ts'
import { rightWarnings } from '../../../authorization/users/reviewright.ts'
import { endlessErrors } from '../../../authorization/users/selfrotate.ts'
import { checkCIDR } from '../../../authorization/users/sourcecidrs.ts'
import type { UserInfo } from '../../../authorization/users/user.ts'
import { validateIdentity } from '../../../authorization/users/validateidentity.ts'
import { KINDS } from '../../../kinds/kinds.ts'
import { humanDuration } from '../../../meta/encoding/time.ts'
import { type FieldError, findingsOf, forbidden, invalid } from '../../../meta/errors/fielderror.ts'
import { alreadyExists, conflict } from '../../../meta/errors/status.ts'
import { deepEqual } from '../../../meta/value/equal.ts'
import { own } from '../../../meta/value/walk.ts'
import { column, wide } from '../../../registry/column.ts'
import { type Column, type Draft, groupResource, type StoredKind, type Strategy } from '../../../registry/kind.ts'
import type { Stored } from '../../../storage/interface.ts'
import { accessReviewRule, type SubresourceRule } from './accessreview/ownedaccesskeyaccessreview.access.ts'
import { companions, prepareForCreate, prepareForUpdate } from './ownedaccesskey.credential.ts'
import { spec, status } from './ownedaccesskey.schema.ts'
import { itemsToPresent, seenMaker, statusOf } from './ownedaccesskey.status.ts'
import { selectedPartitions, table } from './ownedaccesskey.table.ts'
import { displayName, otherTexts } from './ownedaccesskey.texts.ts'
import {
  changeOf,
  changesMoreThanEnds,
  changesSpec,
  isExchanged,
  isForTarget,
  type KeyPlan,
  ownerOf,
  specOf,
  suppliedKey,
  toKey,
  WITHOUT_VALUE,
} from './ownedaccesskey.values.ts'
import { validateDrop } from './scope.changes.ts'
import { addedWarning, changedRuleWarnings } from './scope.warnings.ts'
import type { Services } from './services.ts'

/** Returns the time until a timestamp: `6d`, `expired`, or `never`. */
function timeLeft(at: unknown, now: Date): string {
  if (typeof at !== 'string') return 'never'
  const seconds = Math.floor((Date.parse(at) - now.getTime()) / 1000)
  return seconds <= 0 ? 'expired' : humanDuration(seconds)
}

const columns: readonly Column[] = [
  column('Display Name', 'spec.displayName', displayName.description),
  column('Owner', 'status.owner', 'Owner of the key.'),
  column('Type', 'spec.type', 'Type of the key, which says who manages it.'),
  column('Disabled', 'spec.disabled', 'Whether the key is disabled.', { type: 'boolean', absent: false }),
  column('Last Activity', 'status.lastActivity', 'Time since the key was last used.', { type: 'date' }),
  {
    name: 'Expires',
    type: 'string',
    description: 'Time until the key expires.',
    value: ({ status }, now) => timeLeft(status?.expirationTimestamp, now),
  },
  column('Phase', 'status.phase', 'Active, Leaked, Disabled, Expired or Terminating.', wide),
  column('Rotated', 'status.lastRotation', 'Time since the key got its current value, if that is not the first one.', {
    type: 'date',
    ...wide,
  }),
  {
    name: 'Made With',
    type: 'string',
    description: 'Access key that made the key, if you may know it.',
    ...wide,
    value: ({ status }) => {
      const { name, uid } = (status?.madeWith ?? {}) as { name?: string; uid?: string }
      return name ?? uid
    },
  },
  ...otherTexts.map(({ name, title, description, column: about = description }) =>
    column(title, `spec.${name}`, about, wide),
  ),
]

/** The rules of the subresources. Without one, the rules are those of the key. */
const subresources: Readonly<Record<string, SubresourceRule>> = {
  [KINDS.OwnedAccessKeyRotation.subresource]: {
    forbids: (user, key) => (isForTarget(key) ? undefined : forbiddenBeyondDisabling(user, isExchanged(key))),
  },
  [KINDS.OwnedAccessKeyAccessReview.subresource]: accessReviewRule,
  [KINDS.OwnedAccessKeyUsage.subresource]: accessReviewRule,
  [KINDS.OwnedAccessKeyHistory.subresource]: accessReviewRule,
}

/** What a workload may not do. */
const CREATE = 'create access keys: exchange an ID token for each'

/**
 * Validates a key. A stored ttl may exceed a maximum that was lowered later: the maximum applies anyway, and clients must
 * still be able to remove finalizers. A stored scope may have a role that only a later release knows: it allows nothing here,
 * and clients must still be able to disable the key.
 */
function validate(
  { keys }: Services,
  { object, internal, secrets, plan }: Draft<KeyPlan>,
  old: Stored | undefined,
): FieldError[] {
  const key = specOf(object)
  const { maxTtl } = keys.limits
  const isNewTtl = !old || key.ttl !== specOf(old.object).ttl
  const isNewScope = !old || !isSameScope(key.scope, specOf(old.object).scope)
  const supplied = suppliedKey(secrets)
  const { carried } = decodeKeyInternal(internal)
  return [
    ...validateIdentity(key),
    ...(isNewScope ? validateScope(key.scope) : []),
    ...validateSources(key),
    ...(key.scope && hasSelfRotate(key.scope) ? endlessErrors(key) : []),
    ...validateChain(effectiveChain({ spec: key, carried })),
    ...validateDrop(plan?.drops === true, !old || !deepEqual(key, specOf(old.object))),
    ...(maxTtl && key.ttl && key.ttl > maxTtl && isNewTtl
      ? [invalid('spec.ttl', key.ttl, `must not be more than the maximum of ${maxTtl} seconds`)]
      : []),
    ...(supplied === undefined ? [] : checkFormat(supplied)),
    ...(old && isForTarget(old) && supplied !== undefined ? [forbidden('spec.key', WITHOUT_VALUE)] : []),
  ]
}

function strategy(services: Services): Strategy<KeyPlan> {
  const { scopes } = services
  /**
   * Returns whether the scopes restrict an administrator to their own keys, and any user to the presented key. Other users
   * never see more than their own keys.
   */
  const limitsOf = (
    user: UserInfo,
    request: { verb: string; subresource?: string; name?: string },
  ): { own?: true; self?: true } => {
    if (!isMaster(user) && !user.chain.some(hasSelfRotate)) return {}
    const decision = evaluateHere(user.chain, KINDS.OwnedAccessKey, request, scopes)
    return decision.allowed ? decision : {}
  }
  return {
    mayCreate(user) {
      const reason = forbiddenToWorkload(user, CREATE)
      return reason === undefined ? { type: 'allowed' } : { type: 'denied', reason }
    },
    access(stored, verb, subresource, user) {
      const key = toKey(stored)
      const { name = '', uid } = stored.object.metadata
      const isOfCollection = ['list', 'watch', 'deletecollection'].includes(verb)
      const { as, forbids } = own(subresources, subresource) ?? {}
      const asked = as ? { verb: as, name } : { verb, subresource, ...(!isOfCollection && { name }) }
      const limits = limitsOf(user, asked)
      if (!maySeeKey(user, key, limits.own) || (limits.self && uid !== user.key.uid)) return { type: 'hidden' }
      const reason = forbids?.(user, stored, services)
      if (reason !== undefined) return { type: 'denied', reason }
      const rule = ownsKey(user, key) ? 'own access key' : MASTERS
      if (subresource !== 'status' || verb === 'get' || isMaster(user)) return { type: 'allowed', rule }
      return { type: 'denied', reason: 'only system:masters may write the status of access keys' }
    },
    partitions: (user, verb) => visiblePartitions(user, limitsOf(user, { verb }).own),
    async prepareForCreate(draft, context) {
      inheritSources(draft, context.user)
      await prepareForCreate(services, draft, context)
    },
    prepareForUpdate: (draft, old, context) => prepareForUpdate(services, draft, old, context),
    validate: (draft, old) => validate(services, draft, old),
    forbidsChange: (_draft, old, user) => lacksChainReason(user, toKey(old), 'access key'),
    authorize(written, old, { user, now, warn }) {
      checkUnchanged(user, written, old)
      const draft = written.plan?.isRotation ? { ...written, specChanged: true } : written
      const next = { ...specOf(draft.object), ...(draft.plan?.drops && { dropAddedScopes: true }) }
      const moment = { now, maxTtl: services.keys.limits.maxTtl }
      const change = (old: Stored) =>
        (changesMoreThanEnds(draft, old) ? forbiddenBeyondDisabling(user, isExchanged(old)) : undefined) ??
        forbiddenChange(user, toKey(old), next, { ...moment, ...changeOf(draft, old) })
      const reason = old
        ? changesSpec(draft, old) && change(old)
        : (forbiddenToWorkload(user, CREATE) ?? forbiddenCreation(user, next, moment) ?? tooManyMakers(user))
      if (reason) return reason
      const warnings = writeWarnings(draft, old, { user, limits: services.keys.limits, scopes })
      for (const warning of [...warnings, ...(old ? (draft.plan?.refused ?? []) : makerWarnings(user))]) warn(warning)
      return undefined
    },
    quota({ object, internal, plan }, { user }) {
      const { maxPerOwner: most } = services.keys
      // Administrators are exempt, so that they can create keys for themselves and for users who have reached the limit.
      if (most === 0 || plan?.exchanged || (isMaster(user) && user.chain.length === 0)) return undefined
      return { name: 'max-keys-per-owner', partition: keyIdentity(toKey({ object, internal })), most }
    },
    companions: (after, before, plan) => companions(services, after, before, plan),
    companionExists: (plan) => (plan?.exchanged ? undefined : duplicateKey),
    itemsToPresent,
    computedFields: {
      'status.owner': ownerOf,
      'status.madeWith.name': (stored, user) => seenMaker(stored, user, scopes)?.name,
      'status.madeWith.uid': (stored, user) => seenMaker(stored, user, scopes)?.uid,
    },
    status: (stored, reader, items) => statusOf(services, stored, reader, items),
  }
}

export const OwnedAccessKey: StoredKind<Services, KeyPlan> = {
  ...KINDS.OwnedAccessKey,
  categories: ['all'],
  description: 'A bearer token for non-interactive use, such as CI jobs.',
  grantsAccess: true,
  schema: { spec, status },
  isCredential: true,
  table,
  columns,
  selectableFields: [
    'spec.user',
    'spec.team',
    'spec.subject',
    'spec.type',
    'spec.disabled',
    'status.owner',
    'status.madeWith.name',
    'status.madeWith.uid',
  ],
  selectedPartitions,
  strategy,
}

const resource = groupResource(KINDS.OwnedAccessKey)

const CHANGED = 'the access key of the request has been changed since the request was allowed'
const RETIRING = 'the value of the access key of the request was rotated: replace the value with the new one'

/**
 * Throws 409 if a key changes itself after it was changed since the request was allowed, or after the value of the request
 * ended. Otherwise a request in flight could undo that somebody disabled, narrowed, rotated or deleted the key. A retry is
 * authorized again. Throws 409 as well if a retiring value would replace the new one.
 */
function checkUnchanged({ key, credential }: UserInfo, draft: Draft<KeyPlan>, old: Stored | undefined): void {
  const { name = '', uid, generation = 0 } = (old?.object ?? draft.object).metadata
  if (!old && name === key.name && key.uid !== '') throw alreadyExists(resource, name)
  if (!old || uid !== key.uid) return
  // An authorizer of an earlier version passes no credential.
  const before = credential ? findValue(decodeKeyInternal(old.internal), credential) : { state: 'Current' as const }
  const settled = draft.plan?.update?.settled ?? decodeKeyInternal(draft.internal)
  const now = credential ? findValue(settled, credential) : before
  if (before === undefined || now === undefined) throw conflict(resource, name, CHANGED)
  // The request may have begun before the new value was used. A brief overlap may be over before the request is.
  const { overlap = 0 } = decodeKeyInternal(old.internal).pending ?? {}
  if (before.state === 'Current' && now.state === 'Retiring' && overlap < REQUEST_SECONDS) {
    throw conflict(resource, name, CHANGED)
  }
  if (key.generation !== undefined && key.generation !== generationOf(before, generation)) {
    throw conflict(resource, name, CHANGED)
  }
  const isReplaced = !sameHash(decodeKeyInternal(draft.internal).credential, settled.credential)
  if (isReplaced && now.state === 'Retiring') throw conflict(resource, name, RETIRING)
}

/** Returns the 422 errors for the addresses of a key. Each address has one spelling, so that people can compare them. */
const validateSources = ({ sourceCIDRs = [] }: KeySpec): FieldError[] =>
  findingsOf(sourceCIDRs, (one, index) => {
    const detail = checkCIDR(one)
    return detail === undefined ? [] : [invalid(`spec.sourceCIDRs[${index}]`, one, detail)]
  })

/** Gives a new key the addresses of the key that makes it, if the request names none. */
function inheritSources(draft: Draft, { sourceCIDRs }: UserInfo): void {
  if (sourceCIDRs === undefined || specOf(draft.object).sourceCIDRs?.length) return
  draft.object = { ...draft.object, spec: { ...draft.object.spec, sourceCIDRs: [...sourceCIDRs] } }
}

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
