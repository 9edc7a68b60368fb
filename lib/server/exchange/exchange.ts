/**
 * Exchanges an ID token for an access key (RFC 8693). The checks run in the order of their costs: what is malformed costs no
 * read, and an unknown client one. Until the signature and the tenancy have held, every refusal has the same text.
 */
import { FederatedIdentityCredential } from '../../apis/management/v1/federation/federatedidentitycredential.ts'
import { table as providerTable } from '../../apis/management/v1/federation/identityprovider.values.ts'
import { effectiveUser } from '../../authorization/users/identity.ts'
import { execCredential } from '../../endpoints/execcredential.ts'
import { negotiateToken, type TokenForm } from '../../endpoints/negotiation/accept.ts'
import type { ApiResponse } from '../../endpoints/request.ts'
import { rulesOf } from '../../federation/catalogue.ts'
import { type IdToken, MalformedIdToken, parseIdToken, replayId } from '../../federation/idtoken.ts'
import type { IssuerKeys } from '../../federation/issuerkeys.ts'
import { type Provider, tokenUseOf, toProvider } from '../../federation/provider.ts'
import { type Trust, toTrust } from '../../federation/trust.ts'
import { rfc3339 } from '../../meta/encoding/time.ts'
import type { JsonObject } from '../../meta/types.ts'
import { jsonAnswer, textAnswer } from '../oauth/answers.ts'
import type { OAuthCall, Outcome } from '../oauth/endpoint.ts'
import { malformed, notAccepted, unavailable } from '../oauth/oautherror.ts'
import type { Server } from '../server.ts'
import { recordedClaims } from './exchangedkey.ts'
import { grantOf } from './grant.ts'
import { makeKey } from './makekey.ts'
import { mapUser } from './mappeduser.ts'
import { ACCESS_TOKEN_TYPE, type ExchangeParameters, readParameters } from './parameters.ts'
import { checkUnused } from './replay.ts'
import { checkClaims, checkMoment, checkTarget, checkTenancy } from './tokenchecks.ts'

export type ExchangeServer = Server & { issuerKeys: IssuerKeys }

/** Answers an exchange. Throws the OAuthError of the first check that fails. */
export async function exchange(
  call: OAuthCall,
  server: ExchangeServer,
): Promise<{ response: ApiResponse; outcome: Outcome }> {
  const { config, storage, issuerKeys } = server
  const { now, note } = call
  const form = negotiateToken(call.headers)
  if (form === undefined) throw malformed(FORMS)
  const request = readParameters(call.form)
  note({ federatedIdentityCredential: request.client.name, ...(request.isDryRun && { dryRun: true }) })
  const token = readIdToken(request.subjectToken)
  const tokenHash = replayId(token).slice(0, SHOWN_HASH)
  note({ issuer: token.issuer, tokenHash })

  const trust = await readTrust(server, request)
  const provider = await readProvider(server, trust)
  note({ identityProvider: provider.name })
  checkTarget(token, provider, config.issuer)
  await checkSignature(issuerKeys, provider, token, trust)
  checkTenancy(token, provider, trust)
  noteToken(call, token, provider)

  checkMoment(token, provider, now, config.rejectIdTokensBefore)
  checkClaims(token, provider, trust)
  const { claimMappings } = trust.spec
  const mapped = claimMappings && mapUser(token, claimMappings)
  const limits = { exchange: config.maxExchangeTtlSeconds, key: config.maxKeyTtlSeconds }
  const grant = grantOf(trust, provider, request.scope?.parsed, limits)
  const use = tokenUseOf(provider.spec)
  if (use === 'Once' && request.isDryRun) await checkUnused(storage, token)

  const { isDryRun } = request
  const exchanged = { trust, provider, token, grant, ...(mapped && { mapped }) }
  // The audit record is lost when the function is killed.
  const announce = (key: { name: string; uid: string }) => {
    note(key)
    server.log('info', 'exchange', { requestId: call.requestId, ...key, tokenHash })
  }
  const { key, expires } = await makeKey(server, call, exchanged, { use, isDryRun, announce })
  // As RFC 6749 names it.
  const granted = { expires_in: grant.ttl, ...(request.scope && { scope: request.scope.text }) }
  note({
    user: effectiveUser({ spec: { ...trust.spec, ...mapped }, creator: trust.creator }).name,
    credential: 'access key',
    expires: rfc3339(expires),
  })
  if (isDryRun) return { response: jsonAnswer({ accepted: true, ...granted }), outcome: 'accepted' }
  return { response: grantAnswer(key, expires, granted, form), outcome: 'exchanged' }
}

const FORMS =
  'Accept must allow application/json, text/plain, or an ExecCredential of client.authentication.k8s.io version v1 or v1beta1'

/** How much of the hash of a token is shown: enough to find it again. */
const SHOWN_HASH = 16

function readIdToken(text: string): IdToken {
  try {
    return parseIdToken(text)
  } catch (error) {
    if (error instanceof MalformedIdToken) throw malformed(error.message)
    throw error
  }
}

/** Reads the trust that the client names. It is never cached, so that a revoked trust ends at once. */
async function readTrust({ storage }: Pick<Server, 'storage'>, { client }: ExchangeParameters): Promise<Trust> {
  const stored = await storage.get(FederatedIdentityCredential.table, client.name)
  if (stored === undefined) throw notAccepted('unknown_client')
  const trust = toTrust(stored)
  if (trust.uid !== client.uid) throw notAccepted('uid_mismatch')
  if (trust.deleted || trust.spec.disabled) throw notAccepted('client_disabled')
  return trust
}

/** Reads the provider of the trust. A provider that was deleted and made again has another uid. */
async function readProvider({ storage }: Pick<Server, 'storage'>, { spec, providerUid }: Trust): Promise<Provider> {
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

/** Returns the answer with the access key, in the form that the client asked for. */
function grantAnswer(key: string, expires: Date, granted: JsonObject, form: TokenForm): ApiResponse {
  if (form === 'text') return textAnswer(key)
  if (form !== 'json') {
    return jsonAnswer(execCredential({ expirationTimestamp: rfc3339(expires), token: key }, form.execCredential))
  }
  return jsonAnswer({ access_token: key, issued_token_type: ACCESS_TOKEN_TYPE, token_type: 'Bearer', ...granted })
}
