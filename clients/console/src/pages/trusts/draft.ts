/** What a person has filled into the form for a new trust: what is missing, the objects that it makes, and whose errors are whose. */
import { DEFAULT_TTL, type Provider, type Trust } from '../../api/trusts.ts'
import {
  newRow,
  rowFieldOf,
  rowsOfScope,
  type ScopeRow,
  scopeOf,
  scopeProblems,
} from '../../components/scope/scoperows.ts'
import type { ClaimEntry } from '../../text/claims.ts'
import { isLikeValue, LIKE_VALUE } from '../../text/keyvalue.ts'
import { isSame } from '../../text/same.ts'
import { hasSecret } from '../../text/secrets.ts'
import type { ClaimField, Platform } from './platforms/platforms.ts'

/** Whose keys the exchanges make. Without a name they are those of the person. */
export type OwnerKind = 'user' | 'team' | 'subject'

/** An object as a person would apply it. */
export interface Manifest<Spec> {
  apiVersion: string
  kind: string
  metadata: { name: string }
  spec: Spec
}

const manifestOf = <Spec>(kind: string, name: string, spec: Spec): Manifest<Spec> => ({
  apiVersion: 'management.platform/v1',
  kind,
  metadata: { name: name.trim() },
  spec,
})

export interface Draft {
  platform: Platform
  /** The name of an existing provider, or empty for a new one. */
  provider: string
  newProvider: { name: string; issuer: string; owner: string; jwks: string; isForAll: boolean }
  /** The claim of the platform's choice. */
  choice: string
  /** What was typed, by claim. */
  values: Readonly<Record<string, string>>
  ownerKind: OwnerKind | ''
  owner: string
  name: string
  displayName: string
  /** The entries of the scope. */
  rows: readonly ScopeRow[]
  ttl: number
  tokensOnly: boolean
}

/** Messages by field of the form. Those of claims have the name of the claim. */
export type Problems = Readonly<Record<string, string>>

/** Returns the fields of a draft that become claims of the trust. */
export function claimFields({ platform, choice }: Pick<Draft, 'platform' | 'choice'>): readonly ClaimField[] {
  const { fields, choice: choices = [] } = platform
  const chosen = choices.find(({ claim }) => claim === choice) ?? choices[0]
  return chosen ? [...fields, chosen] : fields
}

const NEW = {
  ownerKind: '',
  owner: '',
  name: '',
  displayName: '',
  rows: [newRow(1)],
  ttl: 1800,
  tokensOnly: false,
} as const

/** Returns a draft for another platform, which keeps what has nothing to do with the platform. */
export function draftFor(platform: Platform, draft?: Draft): Draft {
  const { type, issuer = '', fields } = platform
  return {
    ...(draft ?? NEW),
    platform,
    provider: '',
    newProvider: { name: type.toLowerCase(), issuer, owner: '', jwks: '', isForAll: false },
    choice: '',
    values: Object.fromEntries(fields.flatMap(({ claim, options }) => (options ? [[claim, options[0] ?? '']] : []))),
  }
}

/** Reports whether a new provider must bind an organization: strangers get tokens from the same issuer. */
export function needsOwner({ platform: { owner, issuer }, newProvider }: Draft): boolean {
  return owner !== undefined && (issuer === undefined || issuer === newProvider.issuer.trim())
}

/** Returns what is missing or cannot be right. The server judges the rest. */
export function problemsOf(draft: Draft): Problems {
  const { provider, newProvider, values, ownerKind, owner, name, rows } = draft
  const { owner: organization } = draft.platform
  const problems: Record<string, string | undefined> = {
    name: name.trim() === '' ? 'Give the trust a name.' : undefined,
    owner: ownerKind !== '' && owner.trim() === '' ? 'Name the owner.' : undefined,
    scope: rows.length === 0 ? 'Say what the keys may use.' : undefined,
  }
  if (isLikeValue(name)) problems.name = LIKE_VALUE
  if (isLikeValue(owner)) problems.owner = LIKE_VALUE
  for (const { field, text } of scopeProblems(rows)) problems[field] = text
  for (const field of claimFields(draft)) {
    const value = values[field.claim] ?? ''
    problems[field.claim] = hasSecret(value) ? LIKE_VALUE : problemOf(field, value)
  }
  if (provider === '') {
    problems.providerName = newProvider.name.trim() === '' ? 'Give the identity provider a name.' : undefined
    if (isLikeValue(newProvider.name)) problems.providerName = LIKE_VALUE
    problems.issuer = /^https:\/\/./.test(newProvider.issuer.trim()) ? undefined : 'The issuer begins with https://.'
    if (organization && (needsOwner(draft) || newProvider.owner.trim() !== '')) {
      problems.organization = problemOf(organization, newProvider.owner)
    }
  }
  return Object.fromEntries(Object.entries(problems).flatMap(([field, text]) => (text ? [[field, text]] : [])))
}

/** What stands in commands of hints for a repository. */
const REPOSITORY = 'OWNER/REPOSITORY'

function problemOf({ label, form, hint }: ClaimField, given = ''): string | undefined {
  const text = given.trim()
  if (text === '') return `${label} is required: without it, the trust would let in more jobs than you mean.`
  if (text.includes('*')) return 'Write one value without *. Patterns are part of the YAML only.'
  if (!form || new RegExp(form[0]).test(text)) return undefined
  const [, repository] = /^(?:https:\/\/github\.com\/)?([\w.-]+\/[\w.-]+?)(?:\.git|\/)?$/.exec(text) ?? []
  if (repository === undefined || !hint.includes(REPOSITORY)) return form[1]
  return `${form[1]} This prints it: ${hint.replace(REPOSITORY, repository)}`
}

/** Returns the claims of the trust. Fields that are still empty give none. */
export function claimsOf(draft: Draft): ClaimEntry[] {
  return claimFields(draft).flatMap((field) => {
    const text = draft.values[field.claim]?.trim() ?? ''
    if (text === '') return []
    const also = Object.entries(field.also ?? {}).map(([claim, value]) => ({ claim, values: [value] }))
    return [{ claim: field.claim, values: [`${field.prefix ?? ''}${text}`] }, ...also]
  })
}

/** Returns the provider, if the draft makes one. */
export function providerObject(draft: Draft): Manifest<Provider['spec']> | undefined {
  const { platform, provider, newProvider } = draft
  if (provider !== '') return undefined
  const { type, issuer, owner, tokenUse } = platform
  const given = newProvider.issuer.trim()
  const organization = newProvider.owner.trim()
  const jwks = newProvider.jwks.trim()
  return manifestOf('IdentityProvider', newProvider.name, {
    issuer: given,
    ...(issuer !== given && type !== 'OIDC' && { type }),
    ...(tokenUse && { tokenUse }),
    ...(jwks !== '' && { jwks }),
    ...(owner && organization !== '' && { claims: [{ claim: owner.claim, values: [organization] }] }),
    ...(newProvider.isForAll && { access: [{ verbs: ['use'], teams: ['*'] }] }),
  })
}

export function trustObject(draft: Draft): Manifest<Trust['spec']> {
  const { provider, newProvider, ownerKind, owner, name, displayName, rows, ttl, tokensOnly } = draft
  return manifestOf('FederatedIdentityCredential', name, {
    ...(displayName.trim() !== '' && { displayName: displayName.trim() }),
    identityProvider: provider || newProvider.name.trim(),
    ...(ownerKind !== '' && { [ownerKind]: owner.trim() }),
    claims: claimsOf(draft),
    scope: scopeOf(rows),
    ttl,
    ...(tokensOnly && { tokensOnly }),
  })
}

/** The fields of the form for members of the objects. */
const PROVIDER_FIELDS = { name: 'providerName', issuer: 'issuer', jwks: 'keys', claims: 'organization' }
const OWNER_FIELDS = { user: 'owner', team: 'owner', subject: 'owner' }
const TRUST_FIELDS = { ...OWNER_FIELDS, name: 'name', ttl: 'ttl', identityProvider: 'provider' }
const FIELDS = {
  provider: new Map(Object.entries(PROVIDER_FIELDS)),
  trust: new Map(Object.entries(TRUST_FIELDS)),
}

/** Returns the field of the form that an error of the server is about, or undefined. */
export function fieldOf(path: string, kind: 'provider' | 'trust', draft: Draft): string | undefined {
  const [, member = '', index] = /^(?:metadata|spec)\.(\w+)(?:\[(\d+)\])?/.exec(path) ?? []
  if (kind === 'trust' && member === 'scope') return rowFieldOf(path, draft.rows) ?? 'scope'
  if (kind === 'provider' || member !== 'claims') return FIELDS[kind].get(member)
  const claim = claimsOf(draft)[Number(index)]?.claim ?? ''
  return claimFields(draft).find((field) => field.claim === claim || Object.hasOwn(field.also ?? {}, claim))?.claim
}

/** Returns the draft that makes a trust like this one, or undefined if the form cannot show all of it. */
export function draftOf({ metadata, spec }: Trust, platform: Platform): Draft | undefined {
  const { identityProvider, claims, scope, ttl = DEFAULT_TTL, displayName = '', tokensOnly = false } = spec
  const ownerKind = (['user', 'team', 'subject'] as const).find((one) => spec[one])
  const boundTo = (claim: string) => claims.find((one) => one.claim === claim)?.values?.[0]
  const choice = platform.choice?.find(({ claim }) => boundTo(claim) !== undefined)?.claim ?? ''
  const fields = claimFields({ platform, choice })
  const draft: Draft = {
    ...draftFor(platform),
    provider: identityProvider,
    choice,
    values: Object.fromEntries(
      fields.map(({ claim, prefix = '' }) => [claim, (boundTo(claim) ?? '').slice(prefix.length)]),
    ),
    ownerKind: ownerKind ?? '',
    owner: (ownerKind && spec[ownerKind]) ?? '',
    name: metadata.name,
    displayName,
    rows: rowsOfScope(scope ?? {}),
    ttl,
    tokensOnly,
  }
  const { description: _, disabled: _disabled, maxKeys: _most, ...shown } = spec
  const inOrder = ({ claims: list, ...rest }: Trust['spec']) => ({
    ...rest,
    claims: list.toSorted((one, other) => one.claim.localeCompare(other.claim)),
  })
  const again = trustObject(draft).spec
  return isSame(inOrder({ ...again, tokensOnly }), inOrder({ ...shown, ttl, tokensOnly })) ? draft : undefined
}

/** Returns the merge patch that makes a trust as the draft says. Whose keys it makes, and for which provider, stays. */
export function trustPatch({ metadata: { uid, resourceVersion }, spec }: Trust, draft: Draft): object {
  const { claims, ttl, scope } = trustObject(draft).spec
  const gone = Object.keys(spec.scope ?? {}).map((list) => [list, null])
  return {
    metadata: { uid, resourceVersion },
    spec: {
      claims,
      ttl,
      tokensOnly: draft.tokensOnly,
      displayName: draft.displayName.trim() || null,
      // A merge patch keeps the lists that it does not name.
      scope: { ...Object.fromEntries(gone), ...scope },
    },
  }
}
