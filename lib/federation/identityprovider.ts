/** Defines IdentityProvider, an issuer of ID tokens that can be exchanged for access keys. */
import { mastersOnly } from '../access/users/administrators.ts'
import { onlyEnds } from '../access/users/ends.ts'
import { isMaster } from '../access/users/identity.ts'
import type { JsonObject, KubeObject } from '../engine/meta/types.ts'
import { deepEqual } from '../engine/meta/value/equal.ts'
import { column, wide } from '../engine/registry/column.ts'
import type { Draft, Planned, StoredKind, Strategy, Write } from '../engine/registry/kind.ts'
import { refuseInvalid } from '../engine/registry/store.ts'
import type { Stored } from '../engine/storage/interface.ts'
import { KINDS } from '../kinds.ts'
import { endOfGate, gateCompanions, phaseOf } from './gates.ts'
import { forbiddenProvider, forbiddenProviderChange } from './identityprovider.authorize.ts'
import { spec, status } from './identityprovider.schema.ts'
import { closesKeys, judgeProvider } from './identityprovider.validate.ts'
import { specOf, table, useRule } from './identityprovider.values.ts'
import {
  audienceOf,
  decodeProviderInternal,
  encodeProviderInternal,
  tokenUseOf,
  toProvider,
  typeOf,
} from './provider.ts'
import type { FederationServices } from './services.ts'

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

const gateItems = gateCompanions('provider', toProvider)

async function plan(services: FederationServices, { type, draft, before, context }: Write): Promise<Planned> {
  const { user, now } = context
  if (type === 'delete') return { items: () => gateItems(undefined, before, now) }
  const internal = internalAfter(draft, before, now)
  const items = (object: KubeObject) => gateItems({ object, internal }, before, now)
  if (type === 'mark') return { items }
  const forbidsChange = before && forbiddenProviderChange(user, before.object, draft.object)
  if (type === 'status') return { items, forbidsChange }
  const [next, old] = [specOf(draft.object), before && specOf(before.object)]
  // Clients must still be able to remove finalizers after a setting or the list of known issuers has changed. A provider that would be
  // invalid today can still be disabled.
  if (!old || !(deepEqual(old, next) || onlyEnds(old, next)))
    refuseInvalid(draft.object, await judgeProvider(services, draft, before, context))
  return { internal, refusal: forbiddenProvider(user, old, next, now), forbidsChange, items }
}

/** Returns the internal part, whose revision rises when a change of the spec closes the keys of earlier exchanges. */
function internalAfter({ object }: Draft, before: Stored | undefined, now: Date): JsonObject {
  if (!before) return encodeProviderInternal({ revision: 0 })
  const [old, next] = [specOf(before.object), specOf(object)]
  if (deepEqual(old, next)) return before.internal
  const internal = decodeProviderInternal(before.internal)
  const closes = closesKeys(old, next)
  const revision = internal.revision + (closes ? 1 : 0)
  return encodeProviderInternal({ ...internal, revision, ...endOfGate(old, next, closes, now) })
}

const strategy = (services: FederationServices): Strategy => ({
  access(stored, verb, _subresource, user) {
    if (!stored) return mastersOnly(user, 'only system:masters may create identity providers')
    const rule = useRule(user, specOf(stored.object))
    if (rule === undefined) return { type: 'hidden' }
    return isMaster(user) || USE.includes(verb)
      ? { type: 'allowed', rule }
      : { type: 'denied', reason: 'only system:masters may change identity providers' }
  },
  plan: (write) => plan(services, write),
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
})

export const IdentityProvider: StoredKind<FederationServices> = {
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
