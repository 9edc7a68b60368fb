/**
 * Makes the Lambda handler of an endpoint. It converts the event to a request, calls the endpoint, and logs one audit
 * record with metrics.
 */
import type { APIGatewayProxyEvent } from 'aws-lambda'
import { routedPath } from '../../access/attributes/requestattributes.ts'
import { scopeWarnings } from '../../access/scopewarnings.ts'
import type { ApiRequest, ApiResponse } from '../../engine/endpoints/request.ts'
import { respondError } from '../../engine/endpoints/respond.ts'
import type { Notes } from '../../engine/endpoints/run.ts'
import { internalError, StatusError } from '../../engine/meta/errors/status.ts'
import { createMinimalServer, type MinimalServer } from '../process/minimal.ts'
import { judgementOf } from './audit.ts'
import { isRecorded, reasonOf, refusalOf, userOf } from './authorizercontext.ts'
import { compressBody } from './compression.ts'
import { type LambdaResponse, statusForm, toApiRequest, toLambdaResponse } from './lambdaevents.ts'
import { publicAnswer } from './public.ts'
import { inTime } from './requestdeadline.ts'
import { type LambdaHandler, lambdaHandler } from './runtime.ts'
import { auditAnswer, observe } from './stages.ts'

/** Answers a request, and adds notes to its audit record. */
export type Endpoint<S extends MinimalServer = MinimalServer> = (
  request: ApiRequest,
  server: S,
  notes: Notes,
) => Promise<ApiResponse>

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
  const path = routedPath(event, server.config.basePath)
  try {
    // The deadline does not bound streams, which end by themselves.
    return await inTime(server, event.requestContext.requestTimeEpoch, (deadline) =>
      endpoint(toApiRequest(event, { path, user, now: server.now(), deadline }), server, notes),
    )
  } catch (error) {
    if (error instanceof StatusError) return respondError(error, statusForm(event))
    throw error
  }
}

/** Returns the Lambda handler of an endpoint. */
export function serveWith<S extends MinimalServer>(
  server: S,
  endpoint: Endpoint<S>,
  { streams }: { streams: boolean },
): LambdaHandler {
  const invoke = async (event: APIGatewayProxyEvent): Promise<LambdaResponse> => {
    const seen = observe(server, event)
    const notes: Notes = {}
    const about: string[] = []
    const answered = await seen
      .run(() => answer(event, server, endpoint, { notes, about }))
      .catch((error: unknown) => {
        seen.failed(error)
        return respondError(internalError(error), undefined)
      })
    const response = { ...answered, warnings: [...about, ...answered.warnings] }
    if (!isRecorded(event)) auditAnswer(seen, response, judgementOf(notes, response.status))
    const compresses = server.config.compressStreams
    const { requestId } = event.requestContext
    return compressBody(toLambdaResponse(response, requestId), event, { streams, compresses })
  }
  return lambdaHandler(invoke, { streams })
}

/** Returns the Lambda handler of an endpoint that answers from the request alone. */
export const serve = (endpoint: Endpoint, output: { streams: boolean }): LambdaHandler =>
  serveWith(createMinimalServer(process.env), endpoint, output)
