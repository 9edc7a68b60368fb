/** Defines FederatedIdentityCredential, which says whose ID tokens are exchanged for which access keys. */

import { isSameScope, withScope } from '../access/scopes/chain.ts'
import { evaluateHere } from '../access/scopes/evaluate.ts'
import { identityOf, isMaster, keyIdentity, MASTERS, ownsKey } from '../access/users/identity.ts'
import { lockoutWarning, NARROWED } from '../access/users/lockout.ts'
import {
  addedScopes,
  chainAfterChange,
  inheritedChain,
  lacksChainReason,
  maySeeKey,
  visiblePartitions,
} from '../access/users/privilege.ts'
import { holdsRight, rightOf, rightWarnings } from '../access/users/reviewright.ts'
import type { UserInfo } from '../access/users/user.ts'
import { rfc3339 } from '../engine/meta/encoding/time.ts'
import type { FieldError } from '../engine/meta/errors/fielderror.ts'
import type { JsonObject } from '../engine/meta/types.ts'
import { defined } from '../engine/meta/value/defined.ts'
import { deepEqual } from '../engine/meta/value/equal.ts'
import { column, wide } from '../engine/registry/column.ts'
import type { Column, Planned, RequestContext, StoredKind, Strategy, Write } from '../engine/registry/kind.ts'
import { refuseInvalid } from '../engine/registry/store.ts'
import type { Stored } from '../engine/storage/interface.ts'
import { makersOf } from '../keys/credential/makers.ts'
import { formerAfter, presentScopeChanges, takeDrop, validateDrop } from '../keys/scope.changes.ts'
import { addedWarning, changedRuleWarnings } from '../keys/scope.warnings.ts'
import { KINDS } from '../kinds.ts'
import { forbiddenTrust, forbiddenTrustChange } from './federatedidentitycredential.authorize.ts'
import { spec, status, type TrustSpec } from './federatedidentitycredential.schema.ts'
import { trustWarnings, validateTrust } from './federatedidentitycredential.validate.ts'
import {
  closesKeys,
  isHarmless,
  isOpenTrust,
  keySpecOf,
  narrowsClaims,
  ownerOf,
  reviewer,
  specOf,
  table,
  toKey,
} from './federatedidentitycredential.values.ts'
import { endOfGate, gateCompanions, phaseOf } from './gates.ts'
import { useRule } from './identityprovider.values.ts'
import type { Provider } from './provider.ts'
import type { FederationServices } from './services.ts'
import { clientIdOf, DEFAULT_TTL, decodeTrustInternal, encodeTrustInternal, toTrust } from './trust.ts'

/** The characters of claims that a column shows. */
const MAX_TEXT = 120

/** Returns the entries in short form: `repository_id=456789,environment=production`. */
function describeClaims(claims: TrustSpec['claims']): string {
  const entries = claims.map(
    ({ claim, values = [], patterns = [] }) => `${claim}=${[...values, ...patterns].join('|')}`,
  )
  const text = entries.join(',')
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text
}

export const columns: readonly Column[] = [
  column('Provider', 'spec.identityProvider', 'Identity provider whose ID tokens are accepted.'),
  column('Owner', 'status.owner', 'Owner of the credential.'),
  column('TTL', 'spec.ttl', 'Time to live of exchanged keys in seconds.', { type: 'integer', absent: DEFAULT_TTL }),
  column('Disabled', 'spec.disabled', 'Whether the credential is disabled.', { type: 'boolean', absent: false }),
  column('Tokens Only', 'spec.tokensOnly', 'Whether exchanges give tokens of clusters only, and no access keys.', {
    type: 'boolean',
    absent: false,
    ...wide,
  }),
  column('Client ID', 'status.clientID', 'The client_id of an exchange.', wide),
  {
    name: 'Claims',
    type: 'string',
    description: 'Claims that the ID token must have.',
    ...wide,
    value: ({ spec }) => describeClaims((spec as unknown as TrustSpec).claims),
  },
  column('Phase', 'status.phase', 'Active, Disabled or Terminating.', wide),
]

const gateItems = gateCompanions('trust', toTrust)

async function plan(services: FederationServices, write: Write): Promise<Planned> {
  const { type, draft, before, context } = write
  const { user, now } = context
  const deleteWarning = before && type !== 'update' && type !== 'status' ? lockout(before, undefined) : undefined
  if (type === 'delete') return { deleteWarning, items: () => gateItems(undefined, before, now) }
  const forbidsChange = before && lacksChainReason(user, toKey(before), 'federated identity credential')
  if (type === 'mark' || type === 'status')
    return {
      forbidsChange,
      deleteWarning,
      items: (object) => gateItems({ object, internal: draft.internal }, before, now),
    }

  const { object, drops } = takeDrop(draft.object)
  const [asked, next, old] = [specOf(draft.object), specOf(object), before && specOf(before.object)]
  // The owner can disable the trust even if the provider is gone.
  const isJudged = !old || !isHarmless(old, asked)
  const provider = isJudged ? await usableProvider(services, next, user) : undefined
  const { internal, isNarrowed = false } = before
    ? changedInternal(before, asked, context)
    : { internal: newInternal(next, provider, user) }
  refuseInvalid(object, [
    ...(isJudged ? judge(services, { object, internal }, before, provider, context) : []),
    ...validateDrop(drops, !old || !deepEqual(next, old)),
  ])
  const written = { ...next, ...(drops && { dropAddedScopes: true }) }
  const added = addedScopes(toKey({ object, internal })).length
  return {
    object,
    internal,
    changesSpec: isNarrowed,
    warnings: [
      ...(added > 0 && old && !isSameScope(next.scope, old.scope) ? [addedWarning('the trust', added)] : []),
      ...[before && lockout(before, { object, internal })].filter((one) => one !== undefined),
    ],
    refusal: before ? forbiddenTrustChange(user, before, written, now) : forbiddenTrust(user, written, now),
    forbidsChange,
    quota: before ? undefined : quotaOf(services, { object, internal }, user),
    items: (object) => gateItems({ object, internal }, before, now),
  }
}

/** Returns the warning that clusters refuse all users after a change or a deletion, if the trust is open. */
function lockout(before: Stored, after: Pick<Stored, 'object' | 'internal'> | undefined): string | undefined {
  if (!isOpenTrust(before)) return undefined
  const narrows = after && narrowsClaims(specOf(before.object), specOf(after.object))
  const what = `federated identity credential ${JSON.stringify(before.object.metadata.name ?? '')}`
  return lockoutWarning(what, reviewer(before), after && reviewer(after), narrows ? NARROWED : undefined)
}

/** Returns the provider that a trust names, if the user may use it. */
async function usableProvider(
  services: FederationServices,
  { identityProvider }: TrustSpec,
  user: UserInfo,
): Promise<Provider | undefined> {
  const provider = await services.provider(identityProvider)
  return provider && !provider.deleted && useRule(user, provider.spec) !== undefined ? provider : undefined
}

const newInternal = (spec: TrustSpec, provider: Provider | undefined, user: UserInfo): JsonObject =>
  encodeTrustInternal({
    creator: identityOf(user),
    ...makersOf(user),
    carried: inheritedChain(user),
    ...rightOf(user, spec.scope),
    providerUid: provider?.uid ?? UNKNOWN,
    revision: 0,
  })

/** Returns the internal part after an update, and whether the update drops inherited scopes. */
function changedInternal(
  { object, internal }: Stored,
  next: TrustSpec,
  { user, now }: RequestContext,
): { internal: JsonObject; isNarrowed?: boolean } {
  const before = specOf(object)
  if (deepEqual(before, next)) return { internal }
  const { former, born: _, reviewScope, ...state } = decodeTrustInternal(internal)
  const inherited = chainAfterChange(user, toKey({ object, internal }), keySpecOf(next))
  const closes = closesKeys(before, next)
  const changed = encodeTrustInternal({
    ...state,
    ...defined({ former: formerAfter(former, { before: before.scope, next: next.scope }, now) }),
    ...inherited,
    ...rightOf(user, next.scope, { ...(reviewScope && { reviewScope }), scope: before.scope }),
    revision: state.revision + (closes ? 1 : 0),
    ...endOfGate(before, next, closes, now),
  })
  return { internal: changed, isNarrowed: inherited.carried.length < state.carried.length }
}

/** Returns the 422 errors of a trust. Warns if there are none. */
function judge(
  services: FederationServices,
  { object, internal }: Pick<Stored, 'object' | 'internal'>,
  before: Stored | undefined,
  provider: Provider | undefined,
  { warn }: RequestContext,
): FieldError[] {
  const [next, old] = [specOf(object), before && specOf(before.object)]
  const { carried, providerUid, ...state } = decodeTrustInternal(internal)
  const { maxTtl } = services.federation
  const errors = validateTrust(next, old, { provider, providerUid, carried, maxTtl })
  if (errors.length > 0 || !provider) return errors
  const what = `the keys of federated identity credential ${JSON.stringify(object.metadata.name ?? '')}`
  const ofRight = isSameScope(next.scope, old?.scope) ? [] : rightWarnings(what, next.scope, state)
  const ofRules = changedRuleWarnings(next, old, services.scopes)
  for (const warning of [...trustWarnings(next, provider), ...ofRight, ...ofRules]) warn(warning)
  return []
}

function quotaOf(
  { keys: { maxPerOwner: most } }: FederationServices,
  trust: Pick<Stored, 'object' | 'internal'>,
  user: UserInfo,
): Planned['quota'] {
  if (most === 0 || (isMaster(user) && user.chain.length === 0)) return undefined
  return { name: 'max-keys-per-owner', partition: keyIdentity(toKey(trust)), most }
}

const strategy = (services: FederationServices): Strategy => ({
  access(stored, verb, subresource, user) {
    if (!stored) return { type: 'allowed' }
    const key = toKey(stored)
    if (!maySeeKey(user, key)) return { type: 'hidden' }
    if (isMaster(user)) return { type: 'allowed', rule: ownsKey(user, key) ? OWN : MASTERS }
    if (subresource === '' || verb === 'get') return { type: 'allowed', rule: OWN }
    return { type: 'denied', reason: 'only system:masters may write the status of federated identity credentials' }
  },
  partitions: (user) => visiblePartitions(user),
  mayRefer(name, _object, { chain }) {
    const asks = (verb: string) => evaluateHere(chain, KINDS.IdentityProvider, { verb, name }, services.scopes).allowed
    return asks('use') || asks('get') ? undefined : 'not found'
  },
  plan: (write) => plan(services, write),
  status(stored, { now }) {
    const trust = toTrust(stored)
    return {
      owner: ownerOf(stored),
      phase: phaseOf(trust),
      clientID: clientIdOf(trust),
      ...(holdsRight(trust, withScope([], trust.spec.scope)) && { mayReview: true }),
      ...presentScopeChanges(trust.spec, trust, now),
      lastRefusal: presentRefusal(stored),
    }
  },
})

/** Returns what an exchange noted beside the trust when it last refused an ID token. */
function presentRefusal({ activity, noted }: Stored): JsonObject | undefined {
  const { subject, reason, message } = noted ?? {}
  return activity === undefined
    ? undefined
    : { time: rfc3339(new Date(activity)), ...defined({ subject, reason, message }) }
}

const OWN = 'own federated identity credential'

/** Stands for the provider of a draft without a usable one, which validation refuses. */
const UNKNOWN = 'unknown'

export const FederatedIdentityCredential: StoredKind<FederationServices> = {
  ...KINDS.FederatedIdentityCredential,
  shortNames: ['fic'],
  description:
    'A trust in ID tokens of an identity provider, such as those of a CI job, which are exchanged for access keys.',
  grantsAccess: true,
  schema: { spec, status },
  isCredential: true,
  table: { ...table, activity: true },
  columns,
  selectableFields: ['spec.identityProvider', 'spec.user', 'spec.team', 'spec.disabled'],
  strategy,
}
