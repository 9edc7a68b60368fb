/** Defines IdentityProvider, an issuer of ID tokens that can be exchanged for access keys. */
import { onlyEnds } from '../../../../authorization/users/ends.ts'
import { isMaster, MASTERS } from '../../../../authorization/users/identity.ts'
import { spec, status } from '../../../../federation/identityprovider.schema.ts'
import {
  audienceOf,
  decodeProviderInternal,
  encodeProviderInternal,
  tokenUseOf,
  toProvider,
  typeOf,
} from '../../../../federation/provider.ts'
import { KINDS } from '../../../../kinds/kinds.ts'
import type { FieldError } from '../../../../meta/errors/fielderror.ts'
import { deepEqual } from '../../../../meta/value/equal.ts'
import { column, wide } from '../../../../registry/column.ts'
import type { Draft, RequestContext, StoredKind, Strategy } from '../../../../registry/kind.ts'
import type { Stored } from '../../../../storage/interface.ts'
import type { Services } from '../services.ts'
import { endOfGate, gateCompanions, phaseOf } from './gates.ts'
import { forbiddenProvider, forbiddenProviderChange } from './identityprovider.authorize.ts'
import { closesKeys, judgeProvider } from './identityprovider.validate.ts'
import { specOf, table, useRule } from './identityprovider.values.ts'

/** What every user with `use` may do. An access review can ask for `use` itself. */
const USE: readonly string[] = ['get', 'list', 'watch', 'use']

const columns = [
  column('Issuer', 'spec.issuer', 'URL of the issuer.'),
  column('Type', 'status.type', 'Platform of the issuer.'),
  column('Disabled', 'spec.disabled', 'Whether the provider is disabled.', { type: 'boolean', absent: false }),
  column('Audience', 'status.audience', 'Audience that ID tokens must have.', wide),
  column('Token Use', 'status.tokenUse', 'Whether an ID token can be exchanged once or repeatedly.', wide),
  column('Max TTL', 'spec.maxTTL', 'Maximum time to live of exchanged keys in seconds.', { type: 'integer', ...wide }),
  column('Phase', 'status.phase', 'Active, Disabled or Terminating.', wide),
]

/** The plan of a draft: its errors. Some rules read the trusts, so `prepareFor…` judges and `validate` returns. */
type Plan = FieldError[]

function strategy(services: Services): Strategy<Plan> {
  async function judge(draft: Draft<Plan>, old: Stored | undefined, context: RequestContext): Promise<void> {
    draft.plan = await judgeProvider(services, draft, old, context)
  }

  return {
    mayCreate: (user) =>
      isMaster(user)
        ? { type: 'allowed', rule: MASTERS }
        : { type: 'denied', reason: 'only system:masters may create identity providers' },
    access(stored, verb, _subresource, user) {
      const rule = useRule(user, specOf(stored.object))
      if (rule === undefined) return { type: 'hidden' }
      return isMaster(user) || USE.includes(verb)
        ? { type: 'allowed', rule }
        : { type: 'denied', reason: 'only system:masters may change identity providers' }
    },
    async prepareForCreate(draft, context) {
      draft.internal = encodeProviderInternal({ revision: 0 })
      await judge(draft, undefined, context)
    },
    async prepareForUpdate(draft, old, context) {
      // Clients must still be able to remove finalizers after a setting or the list of known issuers has changed.
      if (deepEqual(old.object.spec, draft.object.spec)) return
      const internal = decodeProviderInternal(old.internal)
      const [before, next] = [specOf(old.object), specOf(draft.object)]
      const closes = closesKeys(before, next)
      const revision = internal.revision + (closes ? 1 : 0)
      draft.internal = encodeProviderInternal({
        ...internal,
        revision,
        ...endOfGate(before, next, closes, context.now),
      })
      // A provider that would be invalid today can still be disabled.
      if (!onlyEnds(before, next)) await judge(draft, old, context)
    },
    validate: (draft) => draft.plan ?? [],
    forbidsChange: ({ object }, old, user) => forbiddenProviderChange(user, old.object, object),
    authorize: ({ object }, old, { user, now }) =>
      forbiddenProvider(user, old && specOf(old.object), specOf(object), now),
    companions: gateCompanions('provider', toProvider),
    status(stored) {
      const provider = toProvider(stored)
      const { spec } = provider
      return {
        phase: phaseOf(provider),
        type: typeOf(spec),
        audience: audienceOf(spec, services.federation.issuer),
        tokenUse: tokenUseOf(spec),
      }
    },
  }
}

export const IdentityProvider: StoredKind<Services, Plan> = {
  ...KINDS.IdentityProvider,
  shortNames: ['idp'],
  description: 'An issuer of ID tokens, which FederatedIdentityCredentials exchange for access keys.',
  grantsAccess: true,
  schema: { spec, status },
  isCredential: true,
  table,
  columns,
  selectableFields: ['spec.issuer', 'spec.disabled'],
  strategy,
}
