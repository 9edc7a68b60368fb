/**
 * Makes the Lambda handler of an endpoint. It converts the event to a request, calls the endpoint, and logs one audit
 * record with metrics.
 */
import type { APIGatewayProxyEvent } from 'aws-lambda'
import { routedPath } from '../../authorization/attributes/requestattributes.ts'
import type { ApiRequest, ApiResponse } from '../../endpoints/request.ts'
import { respondError } from '../../endpoints/respond.ts'
import { scopeWarnings } from '../../endpoints/scopewarnings.ts'
import { checkDeadline, type Deadline, deadlineExceeded } from '../../meta/errors/deadline.ts'
import { faultOf, internalError, StatusError } from '../../meta/errors/status.ts'
import type { Note } from '../../registry/kind.ts'
import { describeError } from '../process/logger.ts'
import { callMetrics, countCalls, faultMetrics, newCalls } from '../process/metrics.ts'
import { createMinimalServer, type MinimalServer } from '../process/minimal.ts'
import { auditRecord, judgementOf } from './audit.ts'
import { isRecorded, reasonOf, refusalOf, userOf } from './authorizercontext.ts'
import { compressBody } from './compression.ts'
import { type LambdaResponse, statusForm, toApiRequest, toLambdaResponse } from './lambdaevents.ts'
import { publicAnswer } from './public.ts'
import { requestDeadline } from './requestdeadline.ts'
import { type LambdaHandler, lambdaHandler } from './runtime.ts'
import { withTimeout } from './timeout.ts'

/** Answers a request, and adds notes to its audit record. */
export type Endpoint<S extends MinimalServer = MinimalServer> = (
  request: ApiRequest,
  server: S,
  notes: Notes,
) => Promise<ApiResponse>
export type Notes = Record<string, Note>

export interface Invocation {
  verb: string
  resource: string
  streams: boolean
}

/** Returns the response, or an error after the deadline. The deadline does not bound streams, which end by themselves. */
async function answerInTime(
  event: APIGatewayProxyEvent,
  deadline: Deadline,
  answer: () => Promise<ApiResponse>,
): Promise<ApiResponse> {
  try {
    checkDeadline(deadline)
    return await withTimeout(deadline(), answer(), deadlineExceeded)
  } catch (error) {
    if (error instanceof StatusError) return respondError(error, statusForm(event))
    throw error
  }
}

/** Runs an endpoint for an event, with the user from the authorizer. Without a user it returns the authorizer's error. */
async function answer<S extends MinimalServer>(
  event: APIGatewayProxyEvent,
  server: S,
  endpoint: Endpoint<S>,
  { notes, about }: { notes: Notes; about: string[] },
): Promise<ApiResponse> {
  const open = await publicAnswer(event, server)
  if (open) {
    notes.access = 'public'
    return open
  }
  const refusal = refusalOf(event)
  if (refusal) {
    const { userAgent } = event.requestContext.identity
    return respondError(refusal, statusForm(event), scopeWarnings(refusal.status, userAgent))
  }
  const { user, warnings } = userOf(event)
  about.push(...warnings)
  Object.assign(notes, { user: user.name, key: user.key.name, keyUid: user.key.uid, ...reasonOf(event) })
  const deadline = requestDeadline(server, event.requestContext.requestTimeEpoch)
  const path = routedPath(event, server.config.basePath)
  const request = toApiRequest(event, { path, user, now: server.now(), deadline })
  return answerInTime(event, deadline, () => endpoint(request, server, notes))
}

/** Returns the Lambda handler of an endpoint. */
export function serveWith<S extends MinimalServer>(
  server: S,
  endpoint: Endpoint<S>,
  { verb, resource, streams }: Invocation,
): LambdaHandler {
  const dimensions = { endpoint: `${resource} ${verb}` }
  const invoke = async (event: APIGatewayProxyEvent): Promise<LambdaResponse> => {
    const began = performance.now()
    const notes: Notes = {}
    const calls = newCalls()
    const { requestId } = event.requestContext
    const failed = (error: unknown): Promise<ApiResponse> => {
      server.log('error', 'request failed', { requestId, error: describeError(error) })
      return respondError(internalError(error), undefined)
    }
    const about: string[] = []
    const answered = await countCalls(calls, () => answer(event, server, endpoint, { notes, about })).catch(failed)
    const response = { ...answered, warnings: [...about, ...answered.warnings] }
    if (!isRecorded(event)) {
      const { status: code } = response
      const { judgement, facts } = judgementOf(notes, code)
      const latencyMs = Math.round(performance.now() - began)
      const fault = code < 400 ? undefined : (response.fault ?? faultOf(code))
      const said = code < 500 ? facts : { ...facts, fault }
      server.log('info', 'audit', auditRecord(event, server.config, { facts: said, judgement, code, latencyMs }), [
        { dimensions, values: { latencyMs } },
        ...faultMetrics(fault, dimensions),
        callMetrics(calls),
      ])
    }
    const compresses = server.config.compressStreams
    return compressBody(toLambdaResponse(response, requestId), event, { streams, compresses })
  }
  return lambdaHandler(invoke, { streams })
}

/** Returns the Lambda handler of an endpoint that answers from the request alone. */
export const serve = (endpoint: Endpoint, invocation: Invocation): LambdaHandler =>
  serveWith(createMinimalServer(process.env), endpoint, invocation)
