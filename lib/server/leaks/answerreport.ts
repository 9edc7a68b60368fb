/** Answers reports of leaks. Possession is the proof: anyone who can present a value can revoke it, without any other right. */

import { createHash } from 'node:crypto'
import type { APIGatewayProxyEvent } from 'aws-lambda'
import { OwnedAccessKey } from '../../apis/management/v1/ownedaccesskey.ts'
import type { ApiResponse } from '../../endpoints/request.ts'
import { respondError } from '../../endpoints/respond.ts'
import { stringify } from '../../meta/encoding/json.ts'
import type { Deadline } from '../../meta/errors/deadline.ts'
import { requestEntityTooLarge, serviceUnavailable } from '../../meta/errors/status.ts'
import { publicDestinations } from '../../outbound/addresses.ts'
import { toStatusError } from '../../registry/storageerrors.ts'
import { StorageError } from '../../storage/errors.ts'
import { headersOf, statusForm } from '../lambda/lambdaevents.ts'
import { posted } from '../lambda/publicbody.ts'
import {
  type NoteFacts,
  type PublicAnswer,
  type PublicEndpoint,
  type PublicHandler,
  publicHandler,
} from '../lambda/publicendpoint.ts'
import { withParts } from '../process/lazy.ts'
import { describeError } from '../process/logger.ts'
import type { Measured } from '../process/metrics.ts'
import { createServer, type Server } from '../server.ts'
import { warmUp } from '../warmup.ts'
import { endValues } from './endvalues.ts'
import { findValues, possibleKeys } from './findvalues.ts'
import { createPartnerKeys, type PartnerKeys, type Reporter } from './partnerkeys.ts'
import { decodeBody, type Finding, readBody, readPartnerReport, readReport } from './report.ts'

type LeakServer = Server & { partnerKeys: PartnerKeys }

/** What became of a report, for the audit record and the metrics. */
type Outcome = 'reported' | 'method' | 'malformed' | 'storage' | 'failed'

/** The most texts of one report that are looked up. */
const MOST: Readonly<Record<Reporter, number>> = { github: 1000, anybody: 50, unknown: 50 }

/** Seconds after which GitHub may repeat a report that could not be verified. */
const RETRY_AFTER = 300

export function leakEndpoint(server: LeakServer): PublicEndpoint<Outcome> {
  const respond = posted<Outcome>(server, (...request) => report(server, ...request), refuse)
  return {
    resource: 'leaks',
    verb: 'create',
    answer(event, note) {
      if (isOfPartner(event)) note({ subresource: 'github' })
      return respond(event, note)
    },
    measure: (outcome, { count }): Measured[] => [
      { dimensions: { leakReport: measuredOutcome(outcome) }, values: { leakReports: 1 } },
      { values: { leakedKeys: Number(count ?? 0) } },
    ],
  }
}

const isOfPartner = ({ resource }: APIGatewayProxyEvent): boolean => resource.endsWith('/github')

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
  server: LeakServer,
  event: APIGatewayProxyEvent,
  note: NoteFacts,
  deadline: Deadline,
): Promise<PublicAnswer<Outcome>> {
  const isPartner = isOfPartner(event)
  const bytes = readBody(event)
  const body = decodeBody(bytes)
  const findings = isPartner ? readPartnerReport(body) : readReport(body)
  const texts = possibleKeys(findings.map(({ text }) => text))
  const reporter = isPartner ? await server.partnerKeys.reporterOf(bytes, headersOf(event)) : 'anybody'
  note({ source: reporter, reported: texts.length })
  if (texts.length > MOST[reporter]) {
    if (reporter === 'unknown') throw serviceUnavailable('the keys of GitHub are not available', RETRY_AFTER)
    throw requestEntityTooLarge(`limit is ${MOST[reporter]} credentials`)
  }
  const values = await findValues(server, texts)
  await endValues(server, { findings, values, requestId: event.requestContext.requestId, deadline, note })
  const isValue = (text: string) => values.has(text)
  return { response: reporter === 'github' ? labelledAnswer(findings, isValue) : acceptedAnswer, outcome: 'reported' }
}

/** The answer to every report that was read, whichever texts it has. */
const acceptedAnswer: ApiResponse = { status: 202, headers: {}, warnings: [], body: '' }

/**
 * Returns the answer to a signed report of GitHub, which collects how many of its findings are right. `isValue` reports
 * whether a text is or was a value of a key. The answer has the hashes of the texts.
 */
function labelledAnswer(findings: readonly Finding[], isValue: (text: string) => boolean): ApiResponse {
  const labels = findings.map(({ text, type = '' }) => ({
    token_hash: createHash('sha256').update(text).digest('hex'),
    token_type: type,
    label: isValue(text) ? 'true_positive' : 'false_positive',
  }))
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    warnings: [],
    body: `${stringify(labels)}\n`,
  }
}

/** Returns the server with the keys of GitHub, which it remembers for the life of the process. */
function leakServer(server: Server): LeakServer {
  const { config, log } = server
  const partnerKeys = createPartnerKeys({
    // Only signed reports need it.
    get url() {
      return config.leakKeysUrl
    },
    destinations: publicDestinations,
    timeout: (ms) => AbortSignal.timeout(ms),
    now: Date.now,
    failed: (error) => log('error', 'keys of leak reports not fetched', { error: describeError(error) }),
  })
  return withParts(server, { partnerKeys })
}

/** Returns the Lambda handler of the endpoint. */
export async function leakHandler(): Promise<PublicHandler> {
  const server = createServer(process.env)
  await warmUp(server, process.env, OwnedAccessKey.table)
  return publicHandler(server, leakEndpoint(leakServer(server)))
}
