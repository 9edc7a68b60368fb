/**
 * Makes the Lambda handlers of the OAuth endpoints. They are public: no authorizer runs before them. Each request writes
 * one audit record with metrics, and no part of its form but what the endpoint notes.
 */
import type { APIGatewayProxyEvent } from 'aws-lambda'
import { internalContext } from '../../controllers/internalcontext.ts'
import type { ApiResponse } from '../../endpoints/request.ts'
import { checkDeadline, type Deadline, deadlineExceeded } from '../../meta/errors/deadline.ts'
import { type Fault, faultOf, StatusError } from '../../meta/errors/status.ts'
import type { RequestContext } from '../../registry/kind.ts'
import { StorageError } from '../../storage/errors.ts'
import { auditRecord } from '../lambda/audit.ts'
import { headersOf, type LambdaResponse, toLambdaResponse } from '../lambda/lambdaevents.ts'
import { requestDeadline } from '../lambda/requestdeadline.ts'
import { withTimeout } from '../lambda/timeout.ts'
import { describeError, type LogFields } from '../process/logger.ts'
import { callMetrics, countCalls, faultMetrics, type Measured, newCalls } from '../process/metrics.ts'
import type { Server } from '../server.ts'
import { errorAnswer, wrongMethodAnswer } from './answers.ts'
import { type Form, readForm } from './form.ts'
import { OAuthError, type RefusalReason, unavailable } from './oautherror.ts'

/** What an endpoint did, for the audit record and the metrics. */
export type Outcome = 'exchanged' | 'accepted' | 'revoked' | 'nothing_revoked' | RefusalReason

/** A request to an OAuth endpoint. */
export interface OAuthCall {
  requestId: string
  headers: Readonly<Record<string, string>>
  form: Form
  now: Date
  deadline: Deadline
  /** Adds facts to the audit record. Never pass a token or a key. */
  note(facts: LogFields): void
}

/** Returns the context in which the server writes for a call, with full access. */
export const writeContext = ({ now, deadline }: Pick<OAuthCall, 'now' | 'deadline'>): RequestContext =>
  internalContext('system:exchange', now, deadline)

export interface OAuthEndpoint<S extends Server> {
  /** As the audit record and the metrics name it. */
  resource: string
  verb: string
  answer(call: OAuthCall, server: S): Promise<{ response: ApiResponse; outcome: Outcome }>
  /** Returns the metrics of a request by its outcome. */
  measure(outcome: Outcome, facts: LogFields): readonly Measured[]
}

export type OAuthHandler = (event: APIGatewayProxyEvent) => Promise<LambdaResponse>

/** Returns the Lambda handler of an endpoint. */
export function oauthHandler<S extends Server>(server: S, endpoint: OAuthEndpoint<S>): OAuthHandler {
  const { resource, verb } = endpoint
  return async (event) => {
    const began = performance.now()
    const calls = newCalls()
    const { requestId } = event.requestContext
    const facts: Record<string, LogFields[string]> = {}
    const { response, outcome, error } = await countCalls(calls, () => answer(event, server, endpoint, facts))
    if (error !== undefined) server.log('error', 'request failed', { requestId, error: describeError(error) })
    const latencyMs = performance.now() - began
    const code = response.status
    const fault = faultOfOutcome(outcome, code)
    const isDone = code < 400
    const record = auditRecord(event, server.config, {
      facts: { verb, resource, path: undefined, ...facts, ...(code >= 500 && { fault }) },
      judgement: { decision: isDone ? 'allow' : 'deny', reason: outcome },
      code,
      latencyMs,
    })
    const dimensions = { endpoint: `${resource} ${verb}` }
    server.log('info', 'audit', record, [
      { dimensions, values: { latencyMs: Math.round(latencyMs) } },
      ...faultMetrics(fault, dimensions),
      ...endpoint.measure(outcome, facts),
      callMetrics(calls),
    ])
    return toLambdaResponse(response, requestId)
  }
}

/** Returns who caused an error. This service does not cause the outage of an issuer. */
function faultOfOutcome(outcome: Outcome, code: number): Fault | undefined {
  if (code < 400) return undefined
  return outcome === 'keys_unavailable' ? 'issuer' : faultOf(code)
}

interface Answered {
  response: ApiResponse
  outcome: Outcome
  /** A failure whose cause only the log may show. */
  error?: unknown
}

async function answer<S extends Server>(
  event: APIGatewayProxyEvent,
  server: S,
  endpoint: OAuthEndpoint<S>,
  facts: Record<string, LogFields[string]>,
): Promise<Answered> {
  if (event.httpMethod !== 'POST') return { response: wrongMethodAnswer(), outcome: 'method' }
  const { requestId, requestTimeEpoch } = event.requestContext
  try {
    const deadline = requestDeadline(server, requestTimeEpoch)
    checkDeadline(deadline)
    const form = readForm(event)
    const note = (more: LogFields) => void Object.assign(facts, more)
    const call = { requestId, headers: headersOf(event), form, now: server.now(), deadline, note }
    return await withTimeout(deadline(), endpoint.answer(call, server), deadlineExceeded)
  } catch (error) {
    const refusal = toOAuthError(error)
    if (refusal.claim !== undefined) facts.claim = refusal.claim
    const { cause } = refusal
    return { response: errorAnswer(refusal), outcome: refusal.reason, ...(cause !== undefined && { error: cause }) }
  }
}

/** Seconds until a client may try again. The backoff of the store has already waited some. */
const RETRY_AFTER = 5

/** Returns the error for any failure. The cause is for the log. */
function toOAuthError(error: unknown): OAuthError {
  if (error instanceof OAuthError) return error
  if (error instanceof StorageError) return fromStorage(error)
  const cause = error instanceof StatusError ? (error.cause ?? error) : error
  if (error instanceof StatusError && error.status.code === 504)
    return unavailable('storage', 'the request was not completed in time', { cause })
  return unavailable('failed', 'this service failed to answer the request', { cause })
}

function fromStorage(error: StorageError): OAuthError {
  if (error.code === 'Undecided') {
    const why = 'it is not known whether the request was done: try again with a new subject token'
    return unavailable('storage', why, { cause: error })
  }
  const why = 'the store of this service is not available: try again'
  return unavailable('storage', why, { retryAfter: RETRY_AFTER, cause: error })
}
