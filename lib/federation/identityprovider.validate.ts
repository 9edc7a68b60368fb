/** Judges writes of identity providers: validates them beyond their schema, warns, and says which close keys. */

import { isSameScope, validateChain } from '../access/scopes/chain.ts'
import { ruleWarnings } from '../access/scopes/replaceablerules.ts'
import { validateScope } from '../access/scopes/validatescope.ts'
import { duplicate, type FieldError, forbidden, invalid } from '../engine/meta/errors/fielderror.ts'
import { deepEqual } from '../engine/meta/value/equal.ts'
import type { Draft, RequestContext } from '../engine/registry/kind.ts'
import type { Stored } from '../engine/storage/interface.ts'
import { audienceWarning, validateAudience } from './audience.ts'
import { rulesOf } from './catalogue.ts'
import { accessWarnings } from './identityprovider.access.ts'
import { type Judgement, judgePinned } from './identityprovider.jwks.ts'
import type { ProviderSpec } from './identityprovider.schema.ts'
import { specOf } from './identityprovider.values.ts'
import { knownIssuer, tokenUses } from './issuers.ts'
import { validateIssuerUrl, validateKeysUrl } from './issuerurl.ts'
import { type PublicKey, parseKeySet, UnusableKeySet } from './jwks.ts'
import { algorithmsOf, audienceOf, tokenUseOf, typeOf } from './provider.ts'
import type { FederationServices, FederationSettings } from './services.ts'
import { validateClaimCounts, validateProviderClaims } from './validateclaims.ts'

/** Returns the 422 errors for a provider. `old` is set on updates. */
function validateProvider(
  spec: ProviderSpec,
  old: ProviderSpec | undefined,
  { settings, keys }: { settings: FederationSettings; keys: Judgement },
): FieldError[] {
  const rules = rulesOf(spec)
  const claims = validateProviderClaims(spec.claims, rules, spec.issuer)
  return [
    ...validateIssuer(spec, old, settings),
    ...validateType(spec, old),
    ...(spec.audience === undefined ? [] : validateAudience(spec.audience)),
    ...keys.errors,
    ...(spec.algorithms ?? []).flatMap((one, index, all) =>
      all.indexOf(one) < index ? [duplicate(`spec.algorithms[${index}]`, one)] : [],
    ),
    ...validateMaxTtl(spec, old, settings),
    ...validateScope(spec.scope),
    ...validateChain(spec.scope ? [spec.scope] : []),
    ...claims,
    ...validateClaimCounts(spec.claims),
  ]
}

function validateIssuer(
  { issuer, jwks }: ProviderSpec,
  old: ProviderSpec | undefined,
  { own, allowPrivate }: FederationSettings,
): FieldError[] {
  const path = 'spec.issuer'
  if (old && old.issuer !== issuer) return [invalid(path, issuer, 'field is immutable')]
  const errors = validateIssuerUrl(issuer, { own, allowPrivate, pinned: jwks !== undefined }, path)
  if (errors.length > 0) return errors
  const { hostname, pathname } = new URL(issuer)
  const isOfAnyTenant =
    hostname === 'login.microsoftonline.com' && /^\/(common|organizations|consumers)(\/|$)/.test(pathname)
  return isOfAnyTenant ? [invalid(path, issuer, 'does not name a tenant: name yours')] : []
}

function validateType(spec: ProviderSpec, old: ProviderSpec | undefined): FieldError[] {
  const { issuer, type } = spec
  const known = knownIssuer(issuer)?.type
  if (known !== undefined && type !== undefined && type !== known) {
    return [invalid('spec.type', type, `must be ${known} for this issuer`)]
  }
  return old && changesType(old, spec) && !becomesKubernetes(old, spec)
    ? [invalid('spec.type', type ?? null, 'field is immutable')]
    : []
}

const changesType = (old: ProviderSpec, next: ProviderSpec): boolean => typeOf(old) !== typeOf(next)

/** Reports whether a provider whose cluster was not recognized gets the type for it, which accepts fewer trusts. */
const becomesKubernetes = (old: ProviderSpec, next: ProviderSpec): boolean =>
  typeOf(old) === 'OIDC' && typeOf(next) === 'Kubernetes'

function judgeKeys(spec: ProviderSpec, settings: FederationSettings): Judgement {
  const { jwks, jwksURI } = spec
  const without = (errors: FieldError[]): Judgement => ({ errors, warnings: [] })
  if (jwks !== undefined && jwksURI !== undefined) {
    return without([forbidden('spec.jwksURI', 'may not be set together with spec.jwks')])
  }
  if (jwksURI !== undefined) return without(validateKeysUrl(jwksURI, settings, 'spec.jwksURI'))
  return jwks === undefined ? without([]) : judgePinned(jwks, algorithmsOf(spec))
}

/** A stored value may exceed a maximum that was lowered later: the maximum applies anyway. */
function validateMaxTtl(
  { maxTTL }: ProviderSpec,
  old: ProviderSpec | undefined,
  { maxTtl }: FederationSettings,
): FieldError[] {
  const isNew = maxTTL !== old?.maxTTL
  return isNew && maxTTL !== undefined && maxTTL > maxTtl
    ? [invalid('spec.maxTTL', maxTTL, `must not be more than the maximum of ${maxTtl} seconds`)]
    : []
}

/** Returns the warnings about a valid provider. */
function providerWarnings(spec: ProviderSpec, ownIssuer: string, keys: Judgement): string[] {
  const type = typeOf(spec)
  const foreign = audienceWarning(audienceOf(spec, ownIssuer), ownIssuer)
  const reusable = tokenUseOf(spec) === 'Lifetime' && type !== 'OIDC' && tokenUses[type] === 'Once'
  return [
    ...(foreign === undefined ? [] : [foreign]),
    ...keys.warnings,
    ...(reusable
      ? [
          `spec.tokenUse: jobs of ${type} get a new ID token for each exchange; with Lifetime a stolen one can be used again`,
        ]
      : []),
  ]
}

/** The members whose changes close the keys of earlier exchanges, besides `jwks` and `type`. */
const CLOSING = ['audience', 'jwksURI', 'algorithms', 'scope', 'claims', 'maxTokenAge', 'maxTTL'] as const

/** Reports whether a change closes the keys of earlier exchanges. Adding pinned keys does not. */
export function closesKeys(old: ProviderSpec, next: ProviderSpec): boolean {
  return (
    CLOSING.some((member) => !deepEqual(old[member], next[member])) ||
    losesKey(old.jwks, next.jwks) ||
    changesType(old, next)
  )
}

function losesKey(old: string | undefined, next: string | undefined): boolean {
  if (old === next) return false
  if (old === undefined || next === undefined) return true
  const kept = keysOf(next)
  return keysOf(old).some((key) => !kept.some((one) => deepEqual(one, key)))
}

/** Returns the keys of a pinned set. A request may have an invalid one, which validation refuses. */
function keysOf(jwks: string): readonly PublicKey[] {
  try {
    return parseKeySet(jwks)
  } catch (error) {
    if (error instanceof UnusableKeySet) return []
    throw error
  }
}

/** Returns the 422 errors of a create or a change. Warns if there are none. */
export async function judgeProvider(
  services: FederationServices,
  { object }: Draft,
  old: Stored | undefined,
  { user, warn }: RequestContext,
): Promise<FieldError[]> {
  const { federation } = services
  const next = specOf(object)
  const before = old && specOf(old.object)
  const keys = judgeKeys(next, federation)
  const errors = validateProvider(next, before, { settings: federation, keys })
  if (errors.length > 0) return errors
  const ofRules = isSameScope(next.scope, before?.scope) ? [] : ruleWarnings(next.scope, services.scopes)
  for (const warning of [...providerWarnings(next, federation.issuer, keys), ...ofRules]) warn(warning)
  if (before === undefined || next.disabled || deepEqual(before.access, next.access)) return []
  for (const warning of await accessWarnings(services, object.metadata.name ?? '', before, next, user)) warn(warning)
  return []
}
