/**
 * Makes the Lambda handlers of endpoints that no authorizer guards. Each request writes one audit record with metrics, and no
 * part of its body but what the endpoint notes.
 */
import type { APIGatewayProxyEvent } from 'aws-lambda'
import type { ApiResponse } from '../../engine/endpoints/request.ts'
import type { LogFields } from '../process/logger.ts'
import type { Measured } from '../process/metrics.ts'
import type { MinimalServer } from '../process/minimal.ts'
import { type LambdaResponse, toLambdaResponse } from './lambdaevents.ts'
import { auditAnswer, observe } from './stages.ts'

export interface PublicAnswer<O extends string> {
  response: ApiResponse
  /** The reason in the audit record. */
  outcome: O
  /** A failure whose cause only the log may show. */
  error?: unknown
}

/** Adds facts to the audit record. Never pass a secret. */
export type NoteFacts = (facts: LogFields) => void

export interface PublicEndpoint<O extends string> {
  /** As the audit record names it. */
  resource: string
  verb: string
  /** Answers a request; never rejects. */
  answer(event: APIGatewayProxyEvent, note: NoteFacts): Promise<PublicAnswer<O>>
  /** Returns the metrics of a request by its outcome. */
  measure(outcome: O, facts: LogFields): readonly Measured[]
}

export type PublicHandler = (event: APIGatewayProxyEvent) => Promise<LambdaResponse>

/** Returns the Lambda handler of an endpoint. */
export function publicHandler<O extends string>(
  server: Pick<MinimalServer, 'config' | 'log'>,
  endpoint: PublicEndpoint<O>,
): PublicHandler {
  const { resource, verb } = endpoint
  return async (event) => {
    const seen = observe(server, event)
    const noted: Record<string, LogFields[string]> = {}
    const note: NoteFacts = (more) => void Object.assign(noted, more)
    const { response, outcome, error } = await seen.run(() => endpoint.answer(event, note))
    if (error !== undefined) seen.failed(error)
    const facts = { verb, resource, path: undefined, ...noted }
    const decision = response.status < 400 ? 'allow' : 'deny'
    const said = { facts, judgement: { decision, reason: outcome } } as const
    auditAnswer(seen, response, said, endpoint.measure(outcome, noted))
    return toLambdaResponse(response, event.requestContext.requestId)
  }
}
