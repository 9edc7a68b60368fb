/**
 * Makes the Lambda handlers of endpoints that no authorizer guards. Each request writes one audit record with metrics, and no
 * part of its body but what the endpoint notes.
 */
import type { APIGatewayProxyEvent } from 'aws-lambda'
import type { ApiResponse } from '../../endpoints/request.ts'
import { type Fault, faultOf } from '../../meta/errors/status.ts'
import { describeError, type LogFields } from '../process/logger.ts'
import { callMetrics, countCalls, faultMetrics, type Measured, newCalls } from '../process/metrics.ts'
import type { MinimalServer } from '../process/minimal.ts'
import { auditRecord } from './audit.ts'
import { type LambdaResponse, toLambdaResponse } from './lambdaevents.ts'

export interface PublicAnswer<O extends string> {
  response: ApiResponse
  /** The reason in the audit record. */
  outcome: O
  /** Who caused an error. Absent: derived from the code. */
  fault?: Fault
  /** A failure whose cause only the log may show. */
  error?: unknown
}

/** Adds facts to the audit record. Never pass a secret. */
export type NoteFacts = (facts: LogFields) => void

export interface PublicEndpoint<O extends string> {
  /** As the audit record and the metrics name it. */
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
    const began = performance.now()
    const calls = newCalls()
    const { requestId } = event.requestContext
    const facts: Record<string, LogFields[string]> = {}
    const note: NoteFacts = (more) => void Object.assign(facts, more)
    const { response, outcome, error, ...given } = await countCalls(calls, () => endpoint.answer(event, note))
    if (error !== undefined) server.log('error', 'request failed', { requestId, error: describeError(error) })
    const latencyMs = performance.now() - began
    const code = response.status
    const isDone = code < 400
    const fault = isDone ? undefined : (given.fault ?? faultOf(code))
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
