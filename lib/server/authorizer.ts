/**
 * Implements the REQUEST authorizer of API Gateway: it authenticates the access key and evaluates the scope chain.
 * It fails closed:
 *
 * - An unknown key is Unauthorized.
 * - A missing, malformed or invalid key passes without a user, so that a handler can explain the 401.
 * - A request that the scope chain does not allow passes without a user as well, with the 403 for the handler to answer. So does the first
 *   use of a value for which the store has no room, with a 507. Reviews pass with their user, and their handlers deny them.
 * - A failure is an error of the gateway.
 */

import type { APIGatewayAuthorizerResult, APIGatewayRequestAuthorizerEvent } from 'aws-lambda'
import type { Attributes, Decision, NonResourceAttributes } from '../access/attributes/attributes.ts'
import { requestAttributes } from '../access/attributes/requestattributes.ts'
import { refuseByScope, type ScopeRefusal } from '../access/scoperefusal.ts'
import { isReview } from '../access/scopes/roles.ts'
import { mayReview } from '../access/users/reviewright.ts'
import type { UserInfo } from '../access/users/user.ts'
import { describeError } from '../engine/meta/errors/describe.ts'
import { forbidden, StatusError } from '../engine/meta/errors/status.ts'
import { forbiddenFor } from '../engine/registry/forbidden.ts'
import { admit } from '../keys/requests/admit.ts'
import { authenticate, type DeadKey } from '../keys/requests/authenticate.ts'
import { bearerToken } from '../keys/requests/bearertoken.ts'
import { encodeUser } from '../keys/requests/encodeuser.ts'
import { type AuthenticatingServer, createAuthenticatingServer } from './authenticating.ts'
import { admitting, authenticationDeps } from './authentication.ts'
import { explainRoute } from './documents/explainroute.ts'
import { MAX_REASON, routingOptions, type UnknownReason, unknownReason } from './lambda/audit.ts'
import { type AuthorizerContext, encodeForbidden } from './lambda/authorizercontext.ts'
import { observe } from './lambda/stages.ts'
import type { LogFields } from './process/logger.ts'
import type { Measured } from './process/metrics.ts'
import { warmUp } from './warmup.ts'

/** API Gateway answers 401 for an error with exactly this text. */
class Unauthorized extends Error {
  constructor() {
    super('Unauthorized')
  }
}

/**
 * The 401 messages for requests without an access key. They need no lookup, so they reveal nothing about stored keys. For
 * an unknown key the gateway always answers with the same message.
 */
const ADVICE: Readonly<Partial<Record<UnknownReason, string>>> = {
  'no bearer token':
    'Unauthorized: the request has no bearer token: send an access key in one header "Authorization: Bearer KEY"',
  'not an access key':
    'Unauthorized: the bearer token is not an access key: it may be truncated, or meant for another server',
}

/**
 * Lets the request reach its handler, which gets nothing but `context`. Resource `*` is safe because results are not cached
 * (TTL 0). There is no Deny: what the gateway would answer cannot contain a Status of ours, because no page of AWS says how
 * its template escapes a text.
 */
const allowed = (principalId: string, context: AuthorizerContext): APIGatewayAuthorizerResult => ({
  principalId,
  policyDocument: {
    Version: '2012-10-17',
    Statement: [{ Action: 'execute-api:Invoke', Effect: 'Allow', Resource: '*' }],
  },
  context: { ...context },
})

/** Methods that change nothing. Clients may repeat such a request if its outcome is unknown. */
const SAFE: readonly string[] = ['GET', 'HEAD']

/** Returns all Authorization headers, in any case. The token is rejected if there are two, because neither is preferred. */
const authorizationHeaders = (event: APIGatewayRequestAuthorizerEvent): string[] =>
  Object.entries(event.multiValueHeaders ?? {}).flatMap(([name, values]) =>
    name.toLowerCase() === 'authorization' ? (values ?? []) : [],
  )

/** Returns the attributes of the request, or the problem of an ambiguous path, which becomes a 400. */
function attributesOf(
  event: APIGatewayRequestAuthorizerEvent,
  server: AuthenticatingServer,
): Attributes | { problem: string } {
  try {
    return requestAttributes(event, routingOptions(server.config))
  } catch (error) {
    if (error instanceof StatusError) return { problem: error.message }
    throw error
  }
}

/** Reports whether the request has the catch-all route, which `notfound.ts` serves. */
const isUnserved = (
  event: APIGatewayRequestAuthorizerEvent,
  attributes: Attributes,
): attributes is NonResourceAttributes => attributes.kind === 'nonresource' && event.resource === '/{proxy+}'

/** Returns the 403 for a request outside the scope. For an unserved path it says so, because no other scope would help. */
function refusalOf(
  event: APIGatewayRequestAuthorizerEvent,
  attributes: Attributes,
  user: UserInfo,
  { decision, server }: { decision: Extract<Decision, { allowed: false }>; server: AuthenticatingServer },
): ScopeRefusal {
  if (!isUnserved(event, attributes)) return refuseByScope(attributes, user, decision, server.scopes)
  const error = forbiddenFor(attributes, user, explainRoute(event.httpMethod, attributes.path))
  return { reason: decision.reason, error }
}

/** The outcomes of an authorization, for the metrics. */
type AuthorizationOutcome = 'allowed' | 'denied' | 'dead' | 'source' | 'malformed' | 'unknown' | 'failed'

/** Writes the audit record of a request that reaches no handler with a user. */
type Refused = (outcome: AuthorizationOutcome, code: number, reason: string, who?: LogFields) => void

interface Authorized {
  result: APIGatewayAuthorizerResult
  /** For the metrics of a request whose handler writes the audit record. */
  outcome: AuthorizationOutcome
}

async function authorizeRequest(
  event: APIGatewayRequestAuthorizerEvent,
  server: AuthenticatingServer,
  refused: Refused,
): Promise<Authorized> {
  const { requestId } = event.requestContext
  const retry = SAFE.includes(event.httpMethod) ? { retryAfter: '1' } : {}
  const allow = (principalId: string, context: AuthorizerContext, outcome: AuthorizationOutcome = 'allowed') => ({
    result: allowed(principalId, { ...context, ...retry }),
    outcome,
  })
  const touchFailed = (error: unknown) =>
    server.log('error', 'last activity not written', { requestId, error: describeError(error) })
  const token = bearerToken(authorizationHeaders(event))
  const refuseUnknown = () => {
    const reason = unknownReason(token)
    refused('unknown', 401, reason)
    const advice = ADVICE[reason]
    if (advice === undefined) throw new Unauthorized()
    return allow('anonymous', { unauthorized: advice })
  }
  const refuseDead = ({ dead, key }: DeadKey) => {
    refused('dead', 401, dead, { user: key.user, key: key.name, keyUid: key.uid })
    return allow(key.name, { unauthorized: dead })
  }
  const { sourceIp, userAgent } = event.requestContext.identity
  const source = { ip: sourceIp, ...(userAgent && { userAgent }) }
  const deps = authenticationDeps(server, touchFailed)
  const result = await authenticate(token, deps, source)
  if ('unknown' in result) return refuseUnknown()
  if ('dead' in result) return refuseDead(result)
  if ('outside' in result) {
    const { outside, key } = result
    refused('source', 403, outside, { user: key.user, key: key.name, keyUid: key.uid })
    return allow(key.name, { forbidden: encodeForbidden(forbidden(outside).status) })
  }
  const { user, credential, warnings } = result
  const { name, uid } = user.key
  const who = { user: user.name, key: name, keyUid: uid }
  const attributes = attributesOf(event, server)
  if ('problem' in attributes) {
    refused('malformed', 400, attributes.problem, who)
    return allow(user.name, { badRequest: attributes.problem })
  }
  const purpose = isUnserved(event, attributes) ? 'unserved' : 'request'
  const verdict = await admit(result, { attributes, isRecorded: true }, purpose, admitting(server, deps)).catch(
    (error: unknown) => {
      if (error instanceof StatusError && error.status.code === 507) return error
      throw error
    },
  )
  if (verdict instanceof StatusError) {
    refused('failed', 507, verdict.message, who)
    return allow(user.name, { forbidden: encodeForbidden(verdict.status) })
  }
  const { decision, ended } = verdict
  if (ended) {
    return 'unknown' in ended ? refuseUnknown() : refuseDead({ ...ended, key: { name, uid, user: user.name } })
  }
  // The handler of a review denies it in the form of a review: a cluster may take an error for no opinion.
  if (!decision.allowed && !isReview(attributes)) {
    const { reason, error } = refusalOf(event, attributes, user, { decision, server })
    refused('denied', 403, reason, who)
    return allow(user.name, { forbidden: encodeForbidden(error.status) })
  }
  const reason = decision.reason.slice(0, MAX_REASON)
  const isDenied = !decision.allowed || mayReview(user, attributes, server.scopes)?.allowed === false
  const context = { ...encodeUser({ ...user, credential }, warnings), reason }
  return allow(user.name, context, isDenied ? 'denied' : 'allowed')
}

export async function authorizerHandler() {
  const server = createAuthenticatingServer(process.env)
  await warmUp(server, process.env)
  return async (event: APIGatewayRequestAuthorizerEvent): Promise<APIGatewayAuthorizerResult> => {
    const seen = observe(server, event)
    const measured = (outcome: AuthorizationOutcome): Measured[] => [
      { dimensions: { authorization: outcome }, values: { authorizations: 1 } },
    ]
    let isRecorded = false
    const refused: Refused = (outcome, code, reason, facts = {}) => {
      isRecorded = true
      seen.audit({ facts, judgement: { decision: 'deny', reason }, code }, measured(outcome))
    }
    try {
      const { result, outcome } = await seen.run(() => authorizeRequest(event, server, refused))
      const { requestId } = event.requestContext
      if (!isRecorded) seen.log('authorization', { requestId }, measured(outcome))
      return result
    } catch (error) {
      if (!(error instanceof Unauthorized)) {
        seen.failed(error, 'authorizer failed')
        refused('failed', 503, 'the authorizer failed')
      }
      throw error
    }
  }
}
