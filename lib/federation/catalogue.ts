/** Returns the rules for the tokens of an issuer: those of its type, narrowed where strangers get tokens from the same issuer. */
import { own } from '../engine/meta/value/walk.ts'
import type { ClaimEntry } from './claims.ts'
import type { ProviderSpec } from './identityprovider.schema.ts'
import { knownIssuer } from './issuers.ts'
import { type TypeRules, typeRules } from './issuertypes.ts'

export interface IssuerRules extends TypeRules {
  /** Whether strangers get tokens from the same issuer. */
  shared: boolean
}

/** Returns the rules for the ID tokens of a provider's issuer. A known issuer has its own type, whatever the spec says. */
export function rulesOf({ issuer, type }: Pick<ProviderSpec, 'issuer' | 'type'>): IssuerRules {
  const { type: found, shared } = knownIssuer(issuer) ?? { type: type ?? 'OIDC', shared: false }
  const rules: TypeRules = typeRules[found]
  const tenancy = shared && rules.tenancy.length === 0 ? rules.owner : rules.tenancy
  return { ...rules, tenancy, shared }
}

/** Reports whether the entry says in one claim which tenant and which job it is for, by ids that are never reassigned. */
export function bindsWithIds(
  { claim, values = [], patterns = [] }: ClaimEntry,
  { withIds = {} }: IssuerRules,
): boolean {
  const form = own(withIds, claim)?.form
  return form !== undefined && values.length > 0 && patterns.length === 0 && values.every((value) => form.test(value))
}

/** Reports whether the entry is for a claim that tells tenants apart. */
export const concernsTenant = (entry: ClaimEntry, rules: IssuerRules): boolean =>
  rules.tenancy.includes(entry.claim) || bindsWithIds(entry, rules)

/** Reports whether the rules allow only exact values for the claim, because a pattern could fit what a stranger chooses. */
export const isExact = (claim: string, rules: IssuerRules): boolean =>
  /(_id|-id|Id|Uuid)$/.test(claim) ||
  EXACT.has(claim) ||
  (rules.tenancy.includes(claim) && !rules.tenancyPattern) ||
  Object.hasOwn(rules.names, claim) ||
  Object.hasOwn(rules.places ?? {}, claim) ||
  claim === rules.events?.claim

const EXACT: ReadonlySet<string> = new Set(['email', 'oid', 'tid', 'azp', 'hd', 'upn', 'preferred_username'])
