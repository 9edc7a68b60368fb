/**
 * Validates which claims a provider or a trust requires. An issuer that strangers use too is trusted only with a claim that
 * tells tenants apart: exact values of ids that are never reassigned.
 */
import { duplicate, type FieldError, forbidden, invalid, required, tooMany } from '../engine/meta/errors/fielderror.ts'
import { own } from '../engine/meta/value/walk.ts'
import { bindsWithIds, type IssuerRules, isExact } from './catalogue.ts'
import type { ClaimEntry } from './claims.ts'
import { invalidPattern } from './pattern.ts'

/** Claims that the provider checks for all its trusts. */
const CHECKED_BY_PROVIDER: ReadonlySet<string> = new Set(['iss', 'aud', 'exp', 'iat', 'nbf', 'jti'])

/** Claims that say nothing about who the workload is. */
const IMPERSONAL: ReadonlySet<string> = new Set([
  'typ',
  'azp',
  'acr',
  'amr',
  'at_hash',
  'auth_time',
  'c_hash',
  'email_verified',
  'idp',
  'locale',
  'nonce',
  's_hash',
  'scope',
  'session_state',
  'sid',
  'token_use',
  'updated_at',
  'ver',
  'zoneinfo',
])

/** Claims that people may change themselves, at some issuers to names of others. */
export const CHANGEABLE: ReadonlySet<string> = new Set(['name', 'nickname', 'preferred_username', 'unique_name', 'upn'])

/** The field of providers and trusts that has the claims. */
const PATH = 'spec.claims'

/** Validates the claims that a provider requires of every token. A provider of a shared issuer must bind its organization. */
export function validateProviderClaims(
  entries: readonly ClaimEntry[] | undefined,
  rules: IssuerRules,
  issuer: string,
): FieldError[] {
  const errors = validateEntries(entries ?? [], rules)
  const bound = entries?.some((entry) => rules.owner.includes(entry.claim) && isBinding(entry, rules))
  if (!rules.shared || bound) return errors
  return [required(PATH, wanted(rules.owner, rules, issuer)), ...errors]
}

/** Validates the claims that a trust requires. They must bind who the workload is. */
export function validateTrustClaims(entries: readonly ClaimEntry[], rules: IssuerRules, issuer: string): FieldError[] {
  const errors = validateEntries(entries, rules)
  const unbound = unboundTenancy(entries, rules, issuer)
  return unbound === undefined ? errors : [required(PATH, unbound), ...errors]
}

/** Returns why the entries do not say who the workload is, or undefined. */
function unboundTenancy(entries: readonly ClaimEntry[], rules: IssuerRules, issuer: string): string | undefined {
  const { tenancy, names, places = {} } = rules
  if (entries.some((entry) => identifies(entry, rules, entries))) return undefined
  if (tenancy.length === 0) {
    const byEmail = !rules.mutable?.includes('email') && entries.some(({ claim }) => claim === 'email')
    return byEmail
      ? 'email identifies a person only if the issuer has verified it: bind email_verified to true as well'
      : 'must bind at least one claim that identifies the workload'
  }
  const claims = entries.map(({ claim }) => claim)
  const named = claims.filter((claim) => Object.hasOwn(names, claim))
  if (named.length > 0) {
    const verb = named.length === 1 ? 'names' : 'name'
    return `${named.join(' and ')} ${verb} something that others can take when it is given up; bind ${replacements(named, names)} as well`
  }
  const placed = claims.filter((claim) => Object.hasOwn(places, claim))
  if (placed.length > 0) {
    const verb = placed.length === 1 ? 'is' : 'are'
    return `${placed.join(' and ')} ${verb} in tokens for the code of a fork too; bind ${replacements(placed, places)} as well`
  }
  return wanted(tenancy, rules, issuer)
}

/** Returns the sentence that says which claims to bind. */
function wanted(claims: readonly string[], rules: IssuerRules, issuer: string): string {
  const { shared, tenants, tenancyPattern, form, hint } = rules
  const values = tenancyPattern && form ? `${form.text} or ${tenancyPattern.text}` : 'exact values'
  const sentence = `${issuer} signs for ${shared ? 'everyone' : tenants}: bind ${oneOfText(claims)} to ${values}`
  return hint === undefined ? sentence : `${sentence}; ${hint}`
}

const replacements = (claims: readonly string[], by: Readonly<Record<string, string>>): string =>
  [...new Set(claims.map((claim) => by[claim]))].slice(0, 1).join('')

const oneOfText = (claims: readonly string[]): string =>
  claims.length === 1 ? claims.join('') : `one of ${claims.join(', ')}`

const identifies = (entry: ClaimEntry, rules: IssuerRules, entries: readonly ClaimEntry[]): boolean =>
  rules.tenancy.length > 0
    ? (rules.tenancy.includes(entry.claim) && isBinding(entry, rules)) || bindsWithIds(entry, rules)
    : !CHECKED_BY_PROVIDER.has(entry.claim) &&
      !IMPERSONAL.has(entry.claim) &&
      !rules.mutable?.includes(entry.claim) &&
      (entry.claim !== 'email' || requiresTrue(entries, 'email_verified')) &&
      hasChoices(entry)

/** Reports whether only tokens in which the claim is true can pass. */
const requiresTrue = (entries: readonly ClaimEntry[], name: string): boolean =>
  entries.some(
    ({ claim, values = [], patterns = [] }) =>
      claim === name && values.every((value) => value === 'true') && values.length > 0 && patterns.length === 0,
  )

/** Reports whether the entries limit the claim. A claim that says whether something is protected must be true. */
const limits = (entries: readonly ClaimEntry[], name: string): boolean =>
  name.endsWith('_protected') ? requiresTrue(entries, name) : entries.some(({ claim }) => claim === name)

const hasChoices = ({ values = [], patterns = [] }: ClaimEntry): boolean => values.length + patterns.length > 0

/** Reports whether every choice of the entry belongs to one tenant. */
function isBinding(entry: ClaimEntry, { form, tenancyPattern }: IssuerRules): boolean {
  const { values = [], patterns = [] } = entry
  return (
    hasChoices(entry) &&
    values.every((value) => value !== '' && (form?.form.test(value) ?? true)) &&
    patterns.every((pattern) => tenancyPattern?.form.test(pattern) === true && invalidPattern(pattern) === undefined)
  )
}

const validateEntries = (entries: readonly ClaimEntry[], rules: IssuerRules): FieldError[] =>
  entries.flatMap((entry, index) => validateEntry(entry, rules, `${PATH}[${index}]`))

function validateEntry(entry: ClaimEntry, rules: IssuerRules, path: string): FieldError[] {
  const { claim, values = [], patterns = [] } = entry
  if (CHECKED_BY_PROVIDER.has(claim)) return [forbidden(`${path}.claim`, `the provider checks ${claim} of every token`)]
  if (!hasChoices(entry)) return [required(path, 'must have at least one value or pattern')]
  return [...validateValues(claim, values, rules, path), ...validatePatterns(claim, patterns, rules, path)]
}

function validateValues(claim: string, values: readonly string[], rules: IssuerRules, path: string): FieldError[] {
  const form = rules.tenancy.includes(claim) ? rules.form : undefined
  return values.flatMap((value, index) => {
    if (!form || form.form.test(value)) return []
    return [invalid(`${path}.values[${index}]`, value, `${claim} is ${form.text}`)]
  })
}

function validatePatterns(claim: string, patterns: readonly string[], rules: IssuerRules, path: string): FieldError[] {
  if (patterns.length > 0 && isExact(claim, rules))
    return [forbidden(`${path}.patterns`, `${claim} takes exact values only`)]
  const form = rules.tenancy.includes(claim) ? rules.tenancyPattern : own(rules.patternForms ?? {}, claim)
  return patterns.flatMap((pattern, index) => {
    const reason = invalidPattern(pattern) ?? (form && !form.form.test(pattern) ? `must be ${form.text}` : undefined)
    return reason === undefined ? [] : [invalid(`${path}.patterns[${index}]`, pattern, reason)]
  })
}

/** A list with more values and patterns is hard to review. */
const MAX_CHOICES = 32

/** Returns the 422 errors for claims that occur twice, and for too many values and patterns together. */
export function validateClaimCounts(entries: readonly ClaimEntry[] = []): FieldError[] {
  const names = entries.map(({ claim }) => claim)
  const choices = entries.reduce((sum, { values = [], patterns = [] }) => sum + values.length + patterns.length, 0)
  return [
    ...names.flatMap((claim, index) =>
      names.indexOf(claim) < index ? [duplicate(`${PATH}[${index}].claim`, claim)] : [],
    ),
    ...(choices > MAX_CHOICES ? [tooMany(PATH, choices, MAX_CHOICES)] : []),
  ]
}

/** Returns warnings for the owner of a trust: who else is accepted, and what will break. */
export function claimWarnings(entries: readonly ClaimEntry[], rules: IssuerRules): string[] {
  const { names, advised, events } = rules
  const claims = new Set(entries.map(({ claim }) => claim))
  const isWhole = entries.some((entry) => bindsWithIds(entry, rules))
  const missing = advised.filter(
    ({ oneOf }) => !isWhole && !oneOf.some((all) => [all].flat().every((claim) => limits(entries, claim))),
  )
  const about = ({ claim, values = [] }: ClaimEntry): string[] => {
    const replacement = own(names, claim)
    const risks = claim === events?.claim ? values.filter((value) => Object.hasOwn(events.risks, value)) : []
    const sentences = risks.map((value) => `${claim} ${value}: ${events?.risks[value]}`)
    if (CHANGEABLE.has(claim)) sentences.push(`at many issuers, people can change their ${claim} themselves`)
    if (claim === 'email' && !requiresTrue(entries, 'email_verified')) {
      sentences.push('the issuer might not have verified email: bind email_verified to true as well')
    }
    if (replacement !== undefined && claims.has(replacement)) {
      sentences.push(`${claim} is not needed with ${replacement}, and stops matching after a rename`)
    }
    return sentences
  }
  return [
    ...missing.map(({ oneOf, otherwise }) => {
      const wanted = oneOfText(oneOf.map((all) => [all].flat().join(' and ')))
      return `${PATH}: ${otherwise} gets in: bind ${wanted} as well`
    }),
    ...entries.flatMap((entry, index) => about(entry).map((sentence) => `${PATH}[${index}]: ${sentence}`)),
  ]
}
