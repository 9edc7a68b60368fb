/** Makes and starts the Lambda handlers of the OAuth endpoints, which are public. */
import type { APIGatewayProxyEvent } from 'aws-lambda'
import type { Deadline } from '../../engine/meta/errors/deadline.ts'
import { toStatusError } from '../../engine/registry/storageerrors.ts'
import { StorageError } from '../../engine/storage/errors.ts'
import { errorAnswer } from '../../federation/oauth/answers.ts'
import type { OAuthCall } from '../../federation/oauth/call.ts'
import { OAuthError, unavailable } from '../../federation/oauth/oautherror.ts'
import type { Outcome } from '../../federation/oauth/outcomes.ts'
import { table } from '../../keys/ownedaccesskey.table.ts'
import { headersOf } from '../lambda/lambdaevents.ts'
import { posted } from '../lambda/publicbody.ts'
import {
  type NoteFacts,
  type PublicAnswer,
  type PublicEndpoint,
  type PublicHandler,
  publicHandler,
} from '../lambda/publicendpoint.ts'
import { createServer, type Server } from '../server.ts'
import { warmUp } from '../warmup.ts'
import { readForm } from './readform.ts'

export interface OAuthEndpoint<S extends Server> extends Omit<PublicEndpoint<Outcome>, 'answer'> {
  answer(call: OAuthCall, server: S): Promise<Pick<PublicAnswer<Outcome>, 'response' | 'outcome'>>
}

/** Returns the Lambda handler of an endpoint. */
function oauthHandler<S extends Server>(server: S, endpoint: OAuthEndpoint<S>): PublicHandler {
  const work = async (event: APIGatewayProxyEvent, note: NoteFacts, deadline: Deadline) => {
    const form = readForm(event)
    const { requestId } = event.requestContext
    return endpoint.answer({ requestId, headers: headersOf(event), form, now: server.now(), deadline, note }, server)
  }
  return publicHandler<Outcome>(server, { ...endpoint, answer: posted(server, work, refuse) })
}

async function refuse(error: unknown, _event: unknown, note: NoteFacts): Promise<PublicAnswer<Outcome>> {
  const refusal = toOAuthError(error)
  const { cause, claim, reason } = refusal
  if (claim !== undefined) note({ claim })
  // This service does not cause the outage of an issuer.
  const isOfIssuer = reason === 'keys_unavailable' || reason === 'key_unknown'
  return {
    response: { ...errorAnswer(refusal), ...(isOfIssuer && { fault: 'issuer' }) },
    outcome: reason,
    ...(cause !== undefined && { error: cause }),
  }
}

/** Seconds until a client may try again. The backoff of the store has already waited some. */
const RETRY_AFTER = 5

/** Renders any failure as an error of OAuth. The cause is for the log. */
function toOAuthError(error: unknown): OAuthError {
  if (error instanceof OAuthError) return error
  const { status, cause = error } = toStatusError(error)
  if (status.code === 405) return new OAuthError('invalid_request', 'method', 'this endpoint accepts POST only')
  // Without Retry-After: somebody must make room first.
  if (status.code === 507) return unavailable('storage', String(status.message), { cause })
  if (cause instanceof StorageError && cause.code !== 'Undecided') {
    const why = 'the store of this service is not available: try again'
    return unavailable('storage', why, { retryAfter: RETRY_AFTER, cause })
  }
  if (status.code !== 504) return unavailable('failed', 'this service failed to answer the request', { cause })
  const isUnknown = 'it is not known whether the request was done: try again with a new subject token'
  const why = cause instanceof StorageError ? isUnknown : 'the request was not completed in time'
  return unavailable('storage', why, { cause })
}

/** Returns the Lambda handler of an endpoint, whose server `complete` makes. */
export async function startEndpoint<S extends Server>(
  endpoint: OAuthEndpoint<S>,
  complete: (server: Server) => S,
): Promise<PublicHandler> {
  const server = createServer(process.env)
  await warmUp(server, process.env, table)
  return oauthHandler(complete(server), endpoint)
}
