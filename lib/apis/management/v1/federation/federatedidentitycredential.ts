/** Defines FederatedIdentityCredential, which says whose ID tokens are exchanged for which access keys. */
import { makersOf } from '../../../../authentication/makers.ts'
import { isSameScope, withScope } from '../../../../authorization/scopes/chain.ts'
import { evaluateHere } from '../../../../authorization/scopes/evaluate.ts'
import { identityOf, isMaster, keyIdentity, MASTERS, ownsKey } from '../../../../authorization/users/identity.ts'
import {
  addedScopes,
  chainAfterChange,
  inheritedChain,
  lacksChainReason,
  maySeeKey,
  visiblePartitions,
} from '../../../../authorization/users/privilege.ts'
import { holdsRight, rightOf, rightWarnings } from '../../../../authorization/users/reviewright.ts'
import type { UserInfo } from '../../../../authorization/users/user.ts'
import { spec, status, type TrustSpec } from '../../../../federation/federatedidentitycredential.schema.ts'
import type { Provider } from '../../../../federation/provider.ts'
import {
  clientIdOf,
  DEFAULT_TTL,
  decodeTrustInternal,
  encodeTrustInternal,
  toTrust,
} from '../../../../federation/trust.ts'
import { KINDS } from '../../../../kinds/kinds.ts'
import type { FieldError } from '../../../../meta/errors/fielderror.ts'
import { defined } from '../../../../meta/value/defined.ts'
import { deepEqual } from '../../../../meta/value/equal.ts'
import { column, wide } from '../../../../registry/column.ts'
import type { Column, Draft, RequestContext, StoredKind, Strategy } from '../../../../registry/kind.ts'
import type { Stored } from '../../../../storage/interface.ts'
import { formerAfter, presentScopeChanges, takeDrop, validateDrop } from '../scope.changes.ts'
import { addedWarning, changedRuleWarnings } from '../scope.warnings.ts'
import type { Services } from '../services.ts'
import { forbiddenTrust, forbiddenTrustChange } from './federatedidentitycredential.authorize.ts'
import { trustWarnings, validateTrust } from './federatedidentitycredential.validate.ts'
import {
  closesKeys,
  isHarmless,
  keySpecOf,
  ownerOf,
  specOf,
  table,
  toKey,
} from './federatedidentitycredential.values.ts'
import { endOfGate, gateCompanions, phaseOf } from './gates.ts'
import { useRule } from './identityprovider.values.ts'

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

/** The plan of a draft. The rules need the provider, so `prepareFor…` judges and `validate` returns the errors. */
interface Plan {
  errors?: readonly FieldError[]
  /** Whether the write asks to drop the scopes that were added to the inherited ones. */
  drops?: boolean
}

function strategy(services: Services): Strategy<Plan> {
  /** Returns the provider that a draft names, if the user may use it. */
  async function usableProvider(draft: Draft, user: UserInfo): Promise<Provider | undefined> {
    const provider = await services.provider(specOf(draft.object).identityProvider)
    return provider && !provider.deleted && useRule(user, provider.spec) !== undefined ? provider : undefined
  }

  function judge(
    draft: Draft<Plan>,
    old: Stored | undefined,
    provider: Provider | undefined,
    { warn }: RequestContext,
  ): void {
    const next = specOf(draft.object)
    const { carried, providerUid, ...internal } = decodeTrustInternal(draft.internal)
    const { maxTtl } = services.federation
    const errors = validateTrust(next, old && specOf(old.object), { provider, providerUid, carried, maxTtl })
    draft.plan = { ...draft.plan, errors }
    if (errors.length > 0 || !provider) return
    const before = old && specOf(old.object)
    const isNewScope = !isSameScope(next.scope, before?.scope)
    const what = `the keys of federated identity credential ${JSON.stringify(draft.object.metadata.name ?? '')}`
    const ofRight = isNewScope ? rightWarnings(what, next.scope, internal) : []
    const ofRules = changedRuleWarnings(next, before, services.scopes)
    for (const warning of [...trustWarnings(next, provider), ...ofRight, ...ofRules]) warn(warning)
  }

  return {
    mayCreate: () => ({ type: 'allowed' }),
    access(stored, verb, subresource, user) {
      const key = toKey(stored)
      if (!maySeeKey(user, key)) return { type: 'hidden' }
      if (isMaster(user)) return { type: 'allowed', rule: ownsKey(user, key) ? OWN : MASTERS }
      if (subresource === '' || verb === 'get') return { type: 'allowed', rule: OWN }
      return { type: 'denied', reason: 'only system:masters may write the status of federated identity credentials' }
    },
    partitions: (user) => visiblePartitions(user),
    async prepareForCreate(draft, context) {
      const { user } = context
      const provider = await usableProvider(draft, user)
      draft.plan = { drops: takeDrop(draft) }
      draft.internal = encodeTrustInternal({
        creator: identityOf(user),
        ...makersOf(user),
        carried: inheritedChain(user),
        ...rightOf(user, specOf(draft.object).scope),
        providerUid: provider?.uid ?? UNKNOWN,
        revision: 0,
      })
      judge(draft, undefined, provider, context)
    },
    async prepareForUpdate(draft, old, context) {
      const { user } = context
      const [before, next] = [specOf(old.object), specOf(draft.object)]
      if (deepEqual(before, next)) return
      const state = decodeTrustInternal(old.internal)
      const { former, born: _, reviewScope, ...internal } = state
      const inherited = chainAfterChange(user, toKey(old), keySpecOf(next))
      if (inherited.carried.length < state.carried.length) draft.specChanged = true
      draft.plan = { drops: takeDrop(draft) }
      const closes = closesKeys(before, next)
      draft.internal = encodeTrustInternal({
        ...internal,
        ...defined({ former: formerAfter(former, { before: before.scope, next: next.scope }, context.now) }),
        ...inherited,
        ...rightOf(user, next.scope, { ...(reviewScope && { reviewScope }), scope: before.scope }),
        revision: internal.revision + (closes ? 1 : 0),
        ...endOfGate(before, next, closes, context.now),
      })
      // The owner can disable the trust even if the provider is gone.
      if (isHarmless(before, next)) return
      judge(draft, old, await usableProvider(draft, user), context)
    },
    mayRefer(name, _object, { chain }) {
      const asks = (verb: string) =>
        evaluateHere(chain, KINDS.IdentityProvider, { verb, name }, services.scopes).allowed
      return asks('use') || asks('get') ? undefined : 'not found'
    },
    validate: ({ object, plan }, old) => [
      ...(plan?.errors ?? []),
      ...validateDrop(plan?.drops === true, !old || !deepEqual(specOf(object), specOf(old.object))),
    ],
    forbidsChange: (_draft, old, user) => lacksChainReason(user, toKey(old), 'federated identity credential'),
    authorize({ object, internal, plan }, old, { user, now, warn }) {
      const next = { ...specOf(object), ...(plan?.drops && { dropAddedScopes: true }) }
      const reason = old ? forbiddenTrustChange(user, old, next, now) : forbiddenTrust(user, next, now)
      const added = addedScopes(toKey({ object, internal })).length
      if (added > 0 && old && !isSameScope(next.scope, specOf(old.object).scope)) warn(addedWarning('the trust', added))
      return reason
    },
    quota({ object, internal }, { user }) {
      const { maxPerOwner: most } = services.keys
      if (most === 0 || (isMaster(user) && user.chain.length === 0)) return undefined
      return { name: 'max-keys-per-owner', partition: keyIdentity(toKey({ object, internal })), most }
    },
    companions: gateCompanions('trust', toTrust),
    status(stored, { now }) {
      const trust = toTrust(stored)
      return {
        owner: ownerOf(stored),
        phase: phaseOf(trust),
        clientID: clientIdOf(trust),
        ...(holdsRight(trust, withScope([], trust.spec.scope)) && { mayReview: true }),
        ...presentScopeChanges(trust.spec, trust, now),
      }
    },
  }
}

const OWN = 'own federated identity credential'

/** Stands for the provider of a draft without a usable one, which validation refuses. */
const UNKNOWN = 'unknown'

export const FederatedIdentityCredential: StoredKind<Services, Plan> = {
  ...KINDS.FederatedIdentityCredential,
  shortNames: ['fic'],
  description:
    'A trust in ID tokens of an identity provider, such as those of a CI job, which are exchanged for access keys.',
  grantsAccess: true,
  schema: { spec, status },
  isCredential: true,
  table,
  columns,
  selectableFields: ['spec.identityProvider', 'spec.user', 'spec.team', 'spec.disabled'],
  strategy,
}
