/**
 * Exchanges an ID token for an access key (RFC 8693). The checks run in the order of their costs: what is malformed costs no
 * read, and an unknown client one. Until the signature and the tenancy have held, every refusal has the same text.
 */

import { timeOfIssue } from '../../access/users/ends.ts'
import { effectiveUser } from '../../access/users/identity.ts'
import { execCredential } from '../../engine/endpoints/execcredential.ts'
import type { ApiResponse } from '../../engine/endpoints/request.ts'
import { rfc3339, unixSeconds } from '../../engine/meta/encoding/time.ts'
import type { JsonObject } from '../../engine/meta/types.ts'
import { rulesOf } from '../catalogue.ts'
import { table as trustTable } from '../federatedidentitycredential.values.ts'
import { table as providerTable } from '../identityprovider.values.ts'
import { type IdToken, MalformedIdToken, parseIdToken, replayId } from '../idtoken.ts'
import type { IssuerKeys } from '../issuerkeys.ts'
import { jsonAnswer, textAnswer, yamlAnswer } from '../oauth/answers.ts'
import type { OAuthCall } from '../oauth/call.ts'
import { malformed, notAccepted, OAuthError, unavailable } from '../oauth/oautherror.ts'
import type { Outcome } from '../oauth/outcomes.ts'
import { type Provider, tokenUseOf, toProvider } from '../provider.ts'
import { type Trust, toTrust } from '../trust.ts'
import { recordedClaims } from './exchangedkey.ts'
import type { ExchangeServer } from './exchangeserver.ts'
import type { exchangeForTarget as ExchangeForTarget } from './exchangetoken.ts'
import { grantOf } from './grant.ts'
import { exchangeForKey } from './makekey.ts'
import { mapUser } from './mappeduser.ts'
import {
  ACCESS_TOKEN_TYPE,
  type ExchangeParameters,
  isForTargets,
  JWT_TYPE,
  mayBeSeveral,
  readParameters,
} from './parameters.ts'
import { isRefusal } from './refusals.ts'
import { nameOf, type Targets } from './target.ts'
import { checkClaims, checkMoment, checkTarget, checkTenancy } from './tokenchecks.ts'
import { negotiateToken, type TokenForm } from './tokenform.ts'

/** Answers an exchange. Throws the OAuthError of the first check that fails. */
export async function exchange(
  asked: OAuthCall,
  server: ExchangeServer,
): Promise<{ response: ApiResponse; outcome: Outcome }> {
  const { config, issuerKeys, refusals } = server
  const { note } = asked
  const form = negotiateToken(asked.headers)
  if (form === undefined) throw malformed(FORMS)
  const request = readParameters(asked.form, config)
  const { targets } = request
  const isTargeted = isForTargets(targets)
  if (form === 'kubeConfig' && !isTargeted) throw malformed('a kube config needs a target: set audience or resource')
  if (form !== 'kubeConfig' && mayBeSeveral(targets)) throw malformed(SEVERAL)
  note({
    federatedIdentityCredential: request.client.name,
    ...(request.isDryRun && { dryRun: true }),
    ...(isTargeted && { target: targetFact(targets) }),
  })
  const token = readIdToken(request.subjectToken)
  note({ issuer: token.issuer, tokenHash: shownHash(token) })

  const trust = await readTrust(server, request)
  const provider = await readProvider(server, trust)
  note({ identityProvider: provider.name })
  checkTarget(token, provider, config.issuer)
  await checkSignature(issuerKeys, provider, token, trust)
  checkTenancy(token, provider, trust)
  noteToken(asked, token, provider)
  try {
    return await exchangeProven(asked, server, { request, form, token, trust, provider })
  } catch (error) {
    if (isRefusal(error) && !request.isDryRun) await refusals.note(trust, token, error)
    throw error
  }
}

/** A request whose ID token the issuer has signed for the tenant of the trust. */
interface Proven {
  request: ExchangeParameters
  form: TokenForm
  token: IdToken
  trust: Trust
  provider: Provider
}

/** Answers the exchange of such a token. Throws the OAuthError of what the trust refuses, or of what failed. */
async function exchangeProven(
  asked: OAuthCall,
  server: ExchangeServer,
  { request, form, token, trust, provider }: Proven,
): Promise<{ response: ApiResponse; outcome: Outcome }> {
  const { config } = server
  const { note } = asked
  const { targets, isDryRun, scope } = request
  const isTargeted = isForTargets(targets)
  const now = await timeOfIssue(lastEndOf(trust, provider), asked.now, server.sleep)
  const call = { ...asked, now }
  checkMoment(token, provider, now, config.rejectIdTokensBefore)
  checkClaims(token, provider, trust)
  if (trust.spec.tokensOnly && !isTargeted) throw targetRequired()
  const { claimMappings } = trust.spec
  const mapped = claimMappings && mapUser(token, claimMappings)
  const limits = { exchange: config.maxExchangeTtlSeconds, key: config.maxKeyTtlSeconds }
  const grant = grantOf(trust, provider, request.scope?.parsed, limits)
  const use = tokenUseOf(provider.spec)

  const exchanged = { trust, provider, token, grant, ...(mapped && { mapped }) }
  // The audit record is lost when the function is killed.
  const announce = (key: { name: string; uid: string }) => {
    note(key)
    server.log('info', 'exchange', { requestId: call.requestId, ...key, tokenHash: shownHash(token) })
  }
  note({ user: effectiveUser({ spec: { ...trust.spec, ...mapped }, creator: trust.creator }).name })
  const making = { use, isDryRun, announce }
  const { expires: until, issued } = isTargeted
    ? await exchangeForTarget(server, call, exchanged, { ...making, targets, form, scopeText: scope?.text })
    : await exchangeForKey(server, call, exchanged, making)
  const expires = issued?.expires ?? new Date(until * 1000)
  note({ credential: isTargeted ? 'token' : 'access key', expires: rfc3339(expires) })
  // As RFC 6749 names it.
  const granted = { expires_in: unixSeconds(expires) - unixSeconds(now), ...(scope && { scope: scope.text }) }
  if (isDryRun || !issued) return { response: jsonAnswer({ accepted: true, ...granted }), outcome: 'accepted' }
  const type = isTargeted ? JWT_TYPE : ACCESS_TOKEN_TYPE
  return { response: grantAnswer({ type, expires, ...issued }, granted, form), outcome: 'exchanged' }
}

/** Loads what tokens of clusters need for the first exchange with a target: most deployments start with keys. */
const exchangeForTarget: typeof ExchangeForTarget = async (...asked) =>
  (await import('./exchangetoken.ts')).exchangeForTarget(...asked)

/** Returns the last second of which what keys of the exchange have issued is dead, in unix seconds. */
const lastEndOf = ({ ended: ofTrust = -1 }: Trust, { ended: ofProvider = -1 }: Provider): number =>
  Math.max(ofTrust, ofProvider)

const targetRequired = (): OAuthError => {
  const why =
    'this client_id gives tokens of clusters only (spec.tokensOnly): set audience to clusters/NAME or virtualclusters/PROJECT/NAME'
  return new OAuthError('invalid_target', 'target_required', why)
}

const FORMS =
  'Accept must allow application/json, text/plain, an ExecCredential of client.authentication.k8s.io version v1 or v1beta1, or with a target application/yaml;as=KubeConfig'

const SEVERAL =
  'several targets, and clusters/*, need a form that has room for several tokens: set Accept to application/yaml;as=KubeConfig'

/** Returns what the audit record says about the targets before they are read. */
function targetFact(targets: Targets): string | string[] {
  if (typeof targets === 'string') return targets
  const [first, ...others] = targets.map(nameOf)
  return first !== undefined && others.length === 0 ? first : targets.map(nameOf)
}

/** How much of the hash of a token is shown: enough to find it again. */
const SHOWN_HASH = 16

const shownHash = (token: IdToken): string => replayId(token).slice(0, SHOWN_HASH)

function readIdToken(text: string): IdToken {
  try {
    return parseIdToken(text)
  } catch (error) {
    if (error instanceof MalformedIdToken) throw malformed(error.message)
    throw error
  }
}

/** Reads the trust that the client names. It is never cached, so that a revoked trust ends at once. */
async function readTrust({ storage }: Pick<ExchangeServer, 'storage'>, { client }: ExchangeParameters): Promise<Trust> {
  const stored = await storage.get(trustTable, client.name)
  if (stored === undefined) throw notAccepted('unknown_client')
  const trust = toTrust(stored)
  if (trust.uid !== client.uid) throw notAccepted('uid_mismatch')
  if (trust.deleted || trust.spec.disabled) throw notAccepted('client_disabled')
  return trust
}

/** Reads the provider of the trust. A provider that was deleted and made again has another uid. */
async function readProvider(
  { storage }: Pick<ExchangeServer, 'storage'>,
  { spec, providerUid }: Trust,
): Promise<Provider> {
  const stored = await storage.get(providerTable, spec.identityProvider)
  const provider = stored && toProvider(stored)
  if (provider?.uid !== providerUid) throw notAccepted('provider_missing')
  if (provider.deleted || provider.spec.disabled) throw notAccepted('provider_disabled')
  return provider
}

/**
 * Only who sends a token that could be of the trust learns that its key, or every key, is not known: others would learn that the
 * trust exists.
 */
async function checkSignature(issuerKeys: IssuerKeys, provider: Provider, token: IdToken, trust: Trust): Promise<void> {
  const verdict = await issuerKeys.verify(provider, token)
  if (verdict === 'invalid') throw notAccepted('signature')
  if (verdict === 'valid') return
  checkTenancy(token, provider, trust)
  const { unknown, retryAfter } = verdict
  if (unknown === 'key') {
    const why = `the key that the subject token names is not known yet, and the keys of its issuer are read again in ${retryAfter} s`
    throw unavailable('key_unknown', why, { retryAfter })
  }
  const why = 'the public keys of the issuer of the subject token cannot be read: try again later'
  throw unavailable('keys_unavailable', why, { retryAfter })
}

/** Notes what the token says. Call it only when the signature and the tenancy have held. */
function noteToken({ note }: OAuthCall, token: IdToken, { spec }: Provider): void {
  const { jti } = token.claims
  const claims = recordedClaims(token, rulesOf(spec))
  note({
    subject: token.subject,
    ...(typeof jti === 'string' && { tokenId: jti }),
    ...(claims.length > 0 && { claims: claims.map(([name, value]) => `${name}=${value}`) }),
  })
}

interface Granted {
  type: string
  text: string
  expires: Date
  warnings: readonly string[]
}

/** Returns the answer with the credential, in the form that the client asked for. */
function grantAnswer({ type, text, expires, warnings }: Granted, granted: JsonObject, form: TokenForm): ApiResponse {
  const answer =
    form === 'text'
      ? textAnswer(text)
      : form === 'kubeConfig'
        ? yamlAnswer(text)
        : form === 'json'
          ? jsonAnswer({ access_token: text, issued_token_type: type, token_type: 'Bearer', ...granted })
          : jsonAnswer(execCredential({ expirationTimestamp: rfc3339(expires), token: text }, form.execCredential))
  return { ...answer, warnings }
}
