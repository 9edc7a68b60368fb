/** Defines OwnedAccessKey, a bearer token for non-interactive use. Specification section 2.3. */
import { checkFormat, duplicateKey } from '../../../authentication/accesskey.ts'
import { decodeKeyInternal } from '../../../authentication/keyinternal.ts'
import { fullLine, lineWarnings } from '../../../authentication/lineage.ts'
import { validateChain } from '../../../authorization/scopes/chain.ts'
import { evaluateHere } from '../../../authorization/scopes/evaluate.ts'
import { hasSelfRotate } from '../../../authorization/scopes/roles.ts'
import { validateScope } from '../../../authorization/scopes/validatescope.ts'
import { forbiddenBeyondDisabling, forbiddenToWorkload } from '../../../authorization/users/exchanged.ts'
import { isMaster, keyIdentity, MASTERS, ownsKey } from '../../../authorization/users/identity.ts'
import {
  beyondChain,
  effectiveChain,
  forbiddenChange,
  forbiddenCreation,
  maySeeKey,
  visiblePartitions,
} from '../../../authorization/users/privilege.ts'
import { endlessErrors } from '../../../authorization/users/selfrotate.ts'
import type { UserInfo } from '../../../authorization/users/user.ts'
import { validateIdentity } from '../../../authorization/users/validateidentity.ts'
import { KINDS } from '../../../kinds/kinds.ts'
import { type FieldError, invalid } from '../../../meta/errors/fielderror.ts'
import { deepEqual } from '../../../meta/value/equal.ts'
import { own } from '../../../meta/value/walk.ts'
import type { Draft, RequestContext, StoredKind, Strategy } from '../../../registry/kind.ts'
import type { Stored } from '../../../storage/interface.ts'
import { accessReviewRule } from './accessreview/ownedaccesskeyaccessreview.access.ts'
import { columns } from './ownedaccesskey.columns.ts'
import { companions, prepareForCreate, prepareForUpdate } from './ownedaccesskey.credential.ts'
import { seenMaker } from './ownedaccesskey.lineage.ts'
import type { KeyPlan } from './ownedaccesskey.plan.ts'
import { spec, status } from './ownedaccesskey.schema.ts'
import { checkUnchanged } from './ownedaccesskey.self.ts'
import { inheritSources, validateSources } from './ownedaccesskey.sources.ts'
import { itemsToPresent, statusOf } from './ownedaccesskey.status.ts'
import type { SubresourceRule } from './ownedaccesskey.subresource.ts'
import { selectedPartitions, table } from './ownedaccesskey.table.ts'
import {
  changeOf,
  changesMoreThanDisabled,
  changesSpec,
  isExchanged,
  ownerOf,
  specOf,
  suppliedKey,
  toKey,
} from './ownedaccesskey.values.ts'
import { writeWarnings } from './ownedaccesskey.warnings.ts'
import { rotationRule } from './rotation/ownedaccesskeyrotation.access.ts'
import type { Services } from './services.ts'
import { validateDrop, validateTrial } from './trial/scopetrial.validate.ts'

/** The rules of the subresources. Without one, the rules are those of the key. */
const subresources: Readonly<Record<string, SubresourceRule>> = {
  [KINDS.OwnedAccessKeyRotation.subresource]: rotationRule,
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
  { now }: RequestContext,
): FieldError[] {
  const key = specOf(object)
  const { maxTtl } = keys.limits
  const isNewTtl = !old || key.ttl !== specOf(old.object).ttl
  const isNewScope = !old || !deepEqual(key.scope ?? null, specOf(old.object).scope ?? null)
  const supplied = suppliedKey(secrets)
  const { carried } = decodeKeyInternal(internal)
  return [
    ...validateIdentity(key),
    ...(isNewScope ? validateScope(key.scope) : []),
    ...validateSources(key),
    ...(key.scope && hasSelfRotate(key.scope) ? endlessErrors(key) : []),
    ...validateChain(effectiveChain({ spec: key, carried })),
    ...validateTrial(key, old && specOf(old.object).scopeTrial, { carried, now }),
    ...validateDrop(plan?.drops === true, !old || !deepEqual(key, specOf(old.object))),
    ...(maxTtl && key.ttl && key.ttl > maxTtl && isNewTtl
      ? [invalid('spec.ttl', key.ttl, `must not be more than the maximum of ${maxTtl} seconds`)]
      : []),
    ...(supplied === undefined ? [] : checkFormat(supplied)),
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
    validate: (draft, old, context) => validate(services, draft, old, context),
    forbidsChange: (_draft, old, user) => beyondChain(user, toKey(old), 'access key'),
    authorize(written, old, { user, now, warn }) {
      checkUnchanged(user, written, old)
      const draft = written.plan?.isRotation ? { ...written, specChanged: true } : written
      const next = { ...specOf(draft.object), ...(draft.plan?.drops && { dropAddedScopes: true }) }
      const moment = { now, maxTtl: services.keys.limits.maxTtl }
      const change = (old: Stored) =>
        (changesMoreThanDisabled(draft, old) ? forbiddenBeyondDisabling(user, isExchanged(old)) : undefined) ??
        forbiddenChange(user, toKey(old), next, { ...moment, ...changeOf(draft, old) })
      const reason = old
        ? changesSpec(draft, old) && change(old)
        : (forbiddenToWorkload(user, CREATE) ?? forbiddenCreation(user, next, moment) ?? fullLine(user))
      if (reason) return reason
      if (draft.plan?.conflict) throw draft.plan.conflict
      const warnings = writeWarnings(draft, old, { user, limits: services.keys.limits, scopes })
      for (const warning of [...warnings, ...(old ? [] : lineWarnings(user))]) warn(warning)
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
  async selectedKeys(required, storage, start) {
    const [maker] = required('status.madeWith.name')
    if (maker === undefined) return undefined
    const { keysMadeWith } = await import('./history/madekeys.ts')
    return keysMadeWith(storage, { table, maker }, start)
  },
  strategy,
}
