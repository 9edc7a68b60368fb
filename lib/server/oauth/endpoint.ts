/** Makes the Lambda handlers of the OAuth endpoints, which are public. */
import type { APIGatewayProxyEvent } from 'aws-lambda'
import { internalContext } from '../../controllers/internalcontext.ts'
import type { ApiResponse } from '../../endpoints/request.ts'
import { checkDeadline, type Deadline, deadlineExceeded } from '../../meta/errors/deadline.ts'
import type { RequestContext } from '../../registry/kind.ts'
import { toStatusError } from '../../registry/storageerrors.ts'
import { StorageError } from '../../storage/errors.ts'
import { headersOf } from '../lambda/lambdaevents.ts'
import { type NoteFacts, type PublicAnswer, type PublicHandler, publicHandler } from '../lambda/publicendpoint.ts'
import { requestDeadline } from '../lambda/requestdeadline.ts'
import { withTimeout } from '../lambda/timeout.ts'
import type { LogFields } from '../process/logger.ts'
import type { Measured } from '../process/metrics.ts'
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
  note: NoteFacts
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

/** Returns the Lambda handler of an endpoint. */
export const oauthHandler = <S extends Server>(server: S, endpoint: OAuthEndpoint<S>): PublicHandler =>
  publicHandler<Outcome>(server, { ...endpoint, answer: (event, note) => answer(event, server, endpoint, note) })

async function answer<S extends Server>(
  event: APIGatewayProxyEvent,
  server: S,
  endpoint: OAuthEndpoint<S>,
  note: NoteFacts,
): Promise<PublicAnswer<Outcome>> {
  if (event.httpMethod !== 'POST') return { response: wrongMethodAnswer(), outcome: 'method' }
  const { requestId, requestTimeEpoch } = event.requestContext
  try {
    const deadline = requestDeadline(server, requestTimeEpoch)
    checkDeadline(deadline)
    const form = readForm(event)
    const call = { requestId, headers: headersOf(event), form, now: server.now(), deadline, note }
    return await withTimeout(deadline(), endpoint.answer(call, server), deadlineExceeded)
  } catch (error) {
    const refusal = toOAuthError(error)
    const { cause, claim, reason } = refusal
    if (claim !== undefined) note({ claim })
    return {
      response: errorAnswer(refusal),
      outcome: reason,
      // This service does not cause the outage of an issuer.
      ...((reason === 'keys_unavailable' || reason === 'key_unknown') && { fault: 'issuer' }),
      ...(cause !== undefined && { error: cause }),
    }
  }
}

/** Seconds until a client may try again. The backoff of the store has already waited some. */
const RETRY_AFTER = 5

/** Renders any failure as an error of OAuth. The cause is for the log. */
function toOAuthError(error: unknown): OAuthError {
  if (error instanceof OAuthError) return error
  const { status, cause = error } = toStatusError(error)
  if (cause instanceof StorageError && cause.code !== 'Undecided') {
    const why = 'the store of this service is not available: try again'
    return unavailable('storage', why, { retryAfter: RETRY_AFTER, cause })
  }
  if (status.code !== 504) return unavailable('failed', 'this service failed to answer the request', { cause })
  const isUnknown = 'it is not known whether the request was done: try again with a new subject token'
  const why = cause instanceof StorageError ? isUnknown : 'the request was not completed in time'
  return unavailable('storage', why, { cause })
}
