/** Validates federated identity credentials beyond their schema. */
import { extendChain, validateChain, withScope } from '../access/scopes/chain.ts'
import type { ScopeChain } from '../access/scopes/scope.ts'
import { validateScope } from '../access/scopes/validatescope.ts'
import { MASTERS } from '../access/users/identity.ts'
import { validateIdentity } from '../access/users/validateidentity.ts'
import { type FieldError, forbidden, invalid, required } from '../engine/meta/errors/fielderror.ts'
import { deepEqual } from '../engine/meta/value/equal.ts'
import { rulesOf } from './catalogue.ts'
import { mappingWarning, validateMappings } from './claimmappings.validate.ts'
import type { ClaimEntry } from './claims.ts'
import type { TrustSpec } from './federatedidentitycredential.schema.ts'
import { type Provider, typeOf } from './provider.ts'
import { claimWarnings, validateClaimCounts, validateTrustClaims } from './validateclaims.ts'

interface TrustRules {
  /** Undefined if the user may use no provider of this name. */
  provider: Provider | undefined
  /** The uid of the provider with which the trust was made. */
  providerUid: string
  /** The scopes that the trust inherits. */
  carried: ScopeChain
  /** Maximum ttl of exchanged keys in seconds. */
  maxTtl: number
}

/** Returns the 422 errors for a trust. `old` is set on updates. */
export function validateTrust(spec: TrustSpec, old: TrustSpec | undefined, rules: TrustRules): FieldError[] {
  const { provider, providerUid, carried } = rules
  const fixed = old ? validateUnchanged(spec, old) : []
  if (fixed.length > 0) return fixed
  const because = (detail: string) => [invalid('spec.identityProvider', spec.identityProvider, detail)]
  if (!provider) return because('not found')
  if (provider.uid !== providerUid) return because(REMADE)
  const ofProvider = withScope([], provider.spec.scope)
  return [
    ...validateOwner(spec),
    ...validateIdentity(spec),
    ...validateMappings(spec, provider),
    // Stricter rules of a later release do not block other changes of a stored trust.
    ...(deepEqual(spec.claims, old?.claims)
      ? []
      : validateTrustClaims(spec.claims, rulesOf(provider.spec), provider.spec.issuer)),
    ...validateClaimCounts(spec.claims),
    ...(spec.scope || spec.claimMappings ? validateScope(spec.scope) : [required('spec.scope', SCOPE)]),
    ...validateChain(extendChain(ofProvider, withScope(carried, spec.scope))),
    ...validateTtl(spec, old, rules),
  ]
}

const REMADE = 'was deleted, and another one has its name: delete this credential and create it again'

const SCOPE = 'limits what exchanged keys may do; {} allows only discovery and self-reviews'

/** The members that decide whose keys an exchange makes. */
const FIXED = ['identityProvider', 'user', 'team', 'subject', 'groups'] as const

function validateUnchanged(spec: TrustSpec, old: TrustSpec): FieldError[] {
  const changed = FIXED.filter((member) => !isSame(spec[member], old[member]))
  const mapping = deepEqual(spec.claimMappings?.username, old.claimMappings?.username)
  return [...changed, ...(mapping ? [] : ['claimMappings.username'])].map((member) =>
    forbidden(`spec.${member}`, 'field is immutable'),
  )
}

/** Compares members of which an empty value counts as absent. */
const isSame = (one: string | string[] | undefined, other: string | string[] | undefined): boolean =>
  (!one?.length && !other?.length) || deepEqual(one, other)

function validateOwner(spec: TrustSpec): FieldError[] {
  const named = (['user', 'team', 'subject'] as const).filter((member) => spec[member])
  const excluded = spec.claimMappings ? 'claimMappings' : named.shift()
  return named.map((member) => forbidden(`spec.${member}`, `may not be set together with spec.${excluded}`))
}

/** A stored ttl may exceed a maximum that was lowered later: the maximum applies anyway. */
function validateTtl({ ttl }: TrustSpec, old: TrustSpec | undefined, { provider, maxTtl }: TrustRules): FieldError[] {
  if (ttl === undefined || ttl === old?.ttl) return []
  const most = Math.min(maxTtl, provider?.spec.maxTTL ?? maxTtl)
  return ttl > most ? [invalid('spec.ttl', ttl, `must not be more than the maximum of ${most} seconds`)] : []
}

/** Exchanged keys rarely need to live longer, in seconds: a job that needs more time exchanges another token. */
const LONG_TTL = 4 * 3600

const namesServiceAccount = ({ claim, values = [], patterns = [] }: ClaimEntry): boolean =>
  claim === 'sub' && [...values, ...patterns].some((one) => one.startsWith('system:serviceaccount:'))

/** Returns the warnings about a valid trust. */
export function trustWarnings(trust: TrustSpec, { spec, name }: Provider): string[] {
  const { claims, claimMappings, groups = [], scope, ttl = 0 } = trust
  const changeable = claimMappings && mappingWarning(claimMappings.username)
  const everywhere = scope?.projects?.some(({ project }) => project === '*')
  return [
    ...claimWarnings(claims, rulesOf(spec)),
    ...(typeOf(spec) !== 'Kubernetes' && claims.some(namesServiceAccount)
      ? [`spec.claims: tokens of service accounts are refused until ${name} has spec.type: Kubernetes`]
      : []),
    ...(spec.disabled ? [`spec.identityProvider: ${name} is disabled`] : []),
    ...(groups.includes(MASTERS)
      ? [`spec.groups: exchanged keys are administrators${scope ? ' within their scope' : ''}`]
      : []),
    ...(everywhere ? ['spec.scope.projects: * allows every project'] : []),
    ...(changeable === undefined ? [] : [changeable]),
    ...(ttl > LONG_TTL ? ['spec.ttl: exchanged keys are valid for more than 4 hours'] : []),
  ]
}
