/** Defines the context that the authorizer passes to handlers through API Gateway: the user, or why there is no user. */
import type { APIGatewayProxyEvent } from 'aws-lambda'
import { badRequest, StatusError, unauthorized } from '../../engine/meta/errors/status.ts'
import type { Status } from '../../engine/meta/types.ts'
import { decodeUser, MAX_CONTEXT, type UserContext, type UserTexts } from '../../keys/requests/usercontext.ts'

/** What the gateway itself reads: infra/stack/responses.ts. */
interface ForGateway {
  /** Value of `Retry-After` if the handler function cannot be invoked. Absent for methods that are not safe to repeat. */
  retryAfter?: string
}

/** Contains only strings at the top level: API Gateway passes on nothing else. */
export type AuthorizerContext = ForGateway & ForHandler

type ForHandler =
  /** `reason` names the lines of the scopes that allowed the request, for the audit record. */
  | (UserTexts & { reason: string })
  /** Message of the 401 for an invalid key or a missing one. */
  | { unauthorized: string }
  /** Message of the 400 for an ambiguous path. */
  | { badRequest: string }
  /** The 403 for a request that no scope allows, or a 507, from `encodeForbidden`. There is no user. */
  | { forbidden: string }

const textOf = (event: APIGatewayProxyEvent, name: string): string | undefined => {
  const value: unknown = event.requestContext.authorizer?.[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Length to which the message of a 403 is cut if the whole Status is too long for the context. */
const SHORT_MESSAGE = 1024

/**
 * Encodes a refusal as base64url JSON, because no page of AWS says how API Gateway passes on quotes and non-ASCII characters.
 * A long path makes it long: then its message is cut and its details are omitted, so that the request is still refused.
 */
export function encodeForbidden(status: Status): string {
  const text = encodeStatus(status)
  if (text.length <= MAX_CONTEXT) return text
  const { details: _, message = '', ...rest } = status
  return encodeStatus({ ...rest, message: `${message.slice(0, SHORT_MESSAGE)} ...` })
}

const encodeStatus = (status: Status): string => Buffer.from(JSON.stringify(status)).toString('base64url')

/** Decodes a 403 or a 507. Throws for anything else, so that the request fails and no other Status is answered. */
function decodeForbidden(text: string): StatusError {
  const status = JSON.parse(Buffer.from(text, 'base64url').toString()) as Status & { code: number }
  if (status.code !== 403 && status.code !== 507) throw new Error('the authorizer does not refuse with this code')
  return new StatusError(status)
}

/** The errors that the authorizer leaves to the handler, by the member of the context that has them. The first one counts. */
const REFUSALS = { forbidden: decodeForbidden, badRequest, unauthorized }

/** Returns the error that the authorizer left to the handler. Without a user there is always one. */
export function refusalOf(event: APIGatewayProxyEvent): StatusError | undefined {
  for (const [name, errorOf] of Object.entries(REFUSALS)) {
    const text = textOf(event, name)
    if (text !== undefined) return errorOf(text)
  }
  return textOf(event, 'user') === undefined ? unauthorized() : undefined
}

/** Returns the user and the warnings about the access key. Throws if the authorizer did not write the context. */
export const userOf = (event: APIGatewayProxyEvent): UserContext => decodeUser(event.requestContext.authorizer ?? {})

/** Returns the note that names the rule by which the scopes allowed the request. */
export const reasonOf = (event: APIGatewayProxyEvent): { scope?: string } => {
  const scope = textOf(event, 'reason')
  return scope === undefined ? {} : { scope }
}

/** Reports whether the authorizer wrote the audit record, as it does for every request without a user. */
export const isRecorded = (event: APIGatewayProxyEvent): boolean =>
  Object.keys(REFUSALS).some((name) => textOf(event, name) !== undefined)
