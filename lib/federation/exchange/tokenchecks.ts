/** Compares an ID token with its provider and its trust. Every function throws the OAuthError of what does not fit. */

import type { JsonObject, JsonValue } from '../../engine/meta/types.ts'
import { own } from '../../engine/meta/value/walk.ts'
import { concernsTenant, rulesOf } from '../catalogue.ts'
import { type ClaimEntry, claimText, isLeftOut, unmetEntry } from '../claims.ts'
import { checkTimes, type IdToken } from '../idtoken.ts'
import { type IssuerType, longestLife } from '../issuers.ts'
import { notAccepted, OAuthError, quoteName, quoteValue } from '../oauth/oautherror.ts'
import type { RefusalReason } from '../oauth/outcomes.ts'
import { algorithmsOf, audienceOf, type Provider, typeOf } from '../provider.ts'
import type { Trust } from '../trust.ts'

/** Checks that the token is made by this issuer for this API. Its signature is not verified yet. */
export function checkTarget({ issuer, audience, alg }: IdToken, { spec }: Provider, ownIssuer: string): void {
  if (issuer !== spec.issuer) throw notAccepted('issuer')
  if (audience !== audienceOf(spec, ownIssuer)) throw notAccepted('audience')
  if (!algorithmsOf(spec).includes(alg)) throw notAccepted('algorithm')
}

/** Checks the claims that say whose token it is. Strangers with tokens of a shared issuer learn nothing more than this. */
export function checkTenancy({ claims }: IdToken, { spec }: Provider, trust: Trust): void {
  const rules = rulesOf(spec)
  const { tenancy, owner } = rules
  // A token belongs to one tenant. A list of tenants would match the entries of each of them.
  if ([...tenancy, ...owner].some((claim) => Array.isArray(own(claims, claim)))) throw notAccepted('tenancy')
  if (unmetEntry(spec.claims ?? [], claims)) throw notAccepted('provider_claims')
  const bound = trust.spec.claims.filter((entry) => concernsTenant(entry, rules))
  // A trust of an earlier version may bind none, if that version did not know the issuer.
  if ((bound.length === 0 && tenancy.length > 0) || unmetEntry(bound, claims)) throw notAccepted('tenancy')
}

/** Checks the times. `rejectedBefore` is a Unix time: records of tokens from before it may be lost. */
export function checkMoment(token: IdToken, { spec }: Provider, now: Date, rejectedBefore: number): void {
  const problem = checkTimes(token, now, { longest: longestLife(typeOf(spec)), maxTokenAge: spec.maxTokenAge })
  if (problem !== undefined) throw new OAuthError('invalid_request', problem.reason, problem.message)
  if (token.issuedAt >= rejectedBefore) return
  const why = 'the subject token was issued before this service was restored: get a new one from the issuer'
  throw new OAuthError('invalid_request', 'before_restore', why)
}

/**
 * Checks the other claims of the trust, and why the job runs. Only an entry of the trust accepts more reasons than the usual
 * ones: entries of the provider narrow all its trusts, and were checked with the tenancy. The error names the claim and its
 * value, never the expected ones.
 */
export function checkClaims({ claims }: IdToken, { spec }: Provider, trust: Trust): void {
  refuseServiceAccounts(claims, typeOf(spec))
  const { events } = rulesOf(spec)
  const isBound = (claim: string) => trust.spec.claims.some((entry) => entry.claim === claim)
  const implied: ClaimEntry[] =
    events && !isBound(events.claim) ? [{ claim: events.claim, values: events.accepted }] : []
  const unmet = unmetEntry([...implied, ...trust.spec.claims], claims)
  if (!unmet) return
  if (isLeftOut(claims, unmet.claim)) throw leftOut(unmet.claim)
  const reason = implied.includes(unmet) ? 'event' : 'claim'
  throw claimError(reason, unmet.claim, own(claims, unmet.claim))
}

/** The claim that a kube-apiserver writes into every token of a service account. */
const OF_KUBERNETES = 'kubernetes.io'

/**
 * Throws for a token of a service account, unless the provider is of the type whose rules are for them. What a token says never
 * changes the type: an administrator does.
 */
function refuseServiceAccounts(claims: JsonObject, type: IssuerType): void {
  if (type === 'Kubernetes' || !Object.hasOwn(claims, OF_KUBERNETES)) return
  const why = `the subject token is of a service account of Kubernetes, and its identity provider has the type ${type}: set spec.type: Kubernetes`
  throw new OAuthError('invalid_request', 'claim', why, { claim: OF_KUBERNETES })
}

/** Returns the error for a claim that the issuer keeps elsewhere, so that nobody takes it for a person without groups. */
export const leftOut = (claim: string): OAuthError =>
  new OAuthError(
    'invalid_request',
    'claim',
    `the issuer has left claim ${quoteName(claim)} out of the subject token, which only names it (_claim_names): it has too many values`,
    { claim },
  )

function claimError(reason: RefusalReason, claim: string, value: JsonValue | undefined): OAuthError {
  const text = claimText(value)
  const name = quoteName(claim)
  return new OAuthError(
    'invalid_request',
    reason,
    text !== undefined
      ? `claim ${name} is ${quoteValue(text)}, which this client_id does not accept`
      : value === undefined || value === null
        ? `the subject token has no claim ${name}, which this client_id requires`
        : `claim ${name} has no value that this client_id accepts`,
    { claim },
  )
}
