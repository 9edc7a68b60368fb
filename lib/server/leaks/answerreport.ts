/** Answers reports of leaks. Possession is the proof: anyone who can present a value can revoke it, without any other right. */

import type { APIGatewayProxyEvent } from 'aws-lambda'
import type { ApiResponse } from '../../engine/endpoints/request.ts'
import { respondError } from '../../engine/endpoints/respond.ts'
import type { Deadline } from '../../engine/meta/errors/deadline.ts'
import { requestEntityTooLarge } from '../../engine/meta/errors/status.ts'
import { toStatusError } from '../../engine/registry/storageerrors.ts'
import { StorageError } from '../../engine/storage/errors.ts'
import { OwnedAccessKey } from '../../keys/ownedaccesskey.ts'
import { statusForm } from '../lambda/lambdaevents.ts'
import { posted } from '../lambda/publicbody.ts'
import {
  type NoteFacts,
  type PublicAnswer,
  type PublicEndpoint,
  type PublicHandler,
  publicHandler,
} from '../lambda/publicendpoint.ts'
import type { Measured } from '../process/metrics.ts'
import { createServer, type Server } from '../server.ts'
import { warmUp } from '../warmup.ts'
import { endValues } from './endvalues.ts'
import { findValues, possibleKeys } from './findvalues.ts'
import { decodeBody, readBody, readReport } from './report.ts'

/** What became of a report, for the audit record and the metrics. */
type Outcome = 'reported' | 'method' | 'malformed' | 'storage' | 'failed'

/** The most texts of one report that are looked up. */
const MOST = 50

export function leakEndpoint(server: Server): PublicEndpoint<Outcome> {
  return {
    resource: 'leaks',
    verb: 'create',
    answer: posted<Outcome>(server, (...request) => report(server, ...request), refuse),
    measure: (outcome, { count, reviewers }): Measured[] => [
      { dimensions: { leakReport: measuredOutcome(outcome) }, values: { leakReports: 1 } },
      { values: { leakedKeys: Number(count ?? 0) } },
      ...(Array.isArray(reviewers) ? [{ values: { leakedReviewKeys: reviewers.length } }] : []),
    ],
  }
}

/** The outcomes as metrics show them. AWS bills each value of a dimension. */
function measuredOutcome(outcome: Outcome): 'accepted' | 'malformed' | 'failed' {
  if (outcome === 'reported') return 'accepted'
  return outcome === 'method' || outcome === 'malformed' ? 'malformed' : 'failed'
}

async function refuse(error: unknown, event: APIGatewayProxyEvent): Promise<PublicAnswer<Outcome>> {
  const refusal = toStatusError(error)
  const { code } = refusal.status
  if (code === 405) {
    const response = await respondError(refusal, undefined)
    return { response: { ...response, headers: { ...response.headers, allow: 'POST' } }, outcome: 'method' }
  }
  const response = await respondError(refusal, statusForm(event))
  if (code < 500) return { response, outcome: 'malformed' }
  const outcome = error instanceof StorageError ? 'storage' : 'failed'
  return { response, outcome, error: refusal.cause ?? refusal }
}

async function report(
  server: Server,
  event: APIGatewayProxyEvent,
  note: NoteFacts,
  deadline: Deadline,
): Promise<PublicAnswer<Outcome>> {
  const findings = readReport(decodeBody(readBody(event)))
  const texts = possibleKeys(findings.map(({ text }) => text))
  note({ reported: texts.length })
  if (texts.length > MOST) throw requestEntityTooLarge(`limit is ${MOST} credentials`)
  const values = await findValues(server, texts)
  await endValues(server, { findings, values, requestId: event.requestContext.requestId, deadline, note })
  return { response: acceptedAnswer, outcome: 'reported' }
}

/** The answer to every report that was read, whichever texts it has. */
const acceptedAnswer: ApiResponse = { status: 202, headers: {}, warnings: [], body: '' }

/** Returns the Lambda handler of the endpoint. */
export async function leakHandler(): Promise<PublicHandler> {
  const server = createServer(process.env)
  await warmUp(server, process.env, OwnedAccessKey.table)
  return publicHandler(server, leakEndpoint(server))
}
