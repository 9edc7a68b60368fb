/** Defines the context that the authorizer passes to handlers through API Gateway: the user, or why there is no user. */
import type { APIGatewayProxyEvent } from 'aws-lambda'
import {
  decodeAncestors,
  decodeCredential,
  decodeFederation,
  decodeSourceCIDRs,
  decodeUser,
  decodeWarnings,
  MAX_CONTEXT,
} from '../../authentication/requests/usercontext.ts'
import type { UserInfo } from '../../authorization/users/user.ts'
import { badRequest, StatusError, unauthorized } from '../../meta/errors/status.ts'
import type { Status } from '../../meta/types.ts'

/** What the gateway itself reads: infra/gateway.yml. */
interface ForGateway {
  /** Value of `Retry-After` if the handler function cannot be invoked. Absent for methods that are not safe to repeat. */
  retryAfter?: string
}

/** Contains only strings at the top level: API Gateway passes on nothing else. */
export type AuthorizerContext = ForGateway & ForHandler

type ForHandler =
  /** `reason` names the lines of the scopes that allowed the request, for the audit record. */
  | {
      user: string
      /** Separate from the user, whose text has a limit. */
      credential: string
      /** Present when an exchange made the key; separate for the same reason. */
      federation?: string
      /** Present when another key made the key. */
      ancestors?: string
      /** Present when the key may be used only from some addresses. */
      sourceCIDRs?: string
      /** Present when the response has warnings about the access key. */
      warnings?: string
      reason: string
    }
  /** Message of the 401 for an invalid key or a missing one. */
  | { unauthorized: string }
  /** Message of the 400 for an ambiguous path. */
  | { badRequest: string }
  /**
   * The 403 for a request that no scope allows, from `encodeForbidden`. There is no user.
   */
  | { forbidden: string }

const textOf = (event: APIGatewayProxyEvent, name: string): string | undefined => {
  const value: unknown = event.requestContext.authorizer?.[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Length to which the message of a 403 is cut if the whole Status is too long for the context. */
const SHORT_MESSAGE = 1024

/**
 * Encodes a 403 as base64url JSON, because no page of AWS says how API Gateway passes on quotes and non-ASCII characters.
 * A long path makes it long: then its message is cut and its details are omitted, so that the request is still refused.
 */
export function encodeForbidden(status: Status): string {
  const text = encodeStatus(status)
  if (text.length <= MAX_CONTEXT) return text
  const { details: _, message = '', ...rest } = status
  return encodeStatus({ ...rest, message: `${message.slice(0, SHORT_MESSAGE)} ...` })
}

const encodeStatus = (status: Status): string => Buffer.from(JSON.stringify(status)).toString('base64url')

/** Decodes a 403. Throws for anything else, so that the request fails and no other Status is answered. */
function decodeForbidden(text: string): StatusError {
  const status = JSON.parse(Buffer.from(text, 'base64url').toString()) as Status & { code: number }
  if (status.code !== 403) throw new Error('the refusal from the authorizer is no 403')
  return new StatusError(status)
}

/** Returns the error that the authorizer left to the handler. Without a user there is always one. */
export function refusalOf(event: APIGatewayProxyEvent): StatusError | undefined {
  const forbidden = textOf(event, 'forbidden')
  if (forbidden !== undefined) return decodeForbidden(forbidden)
  const bad = textOf(event, 'badRequest')
  if (bad !== undefined) return badRequest(bad)
  const dead = textOf(event, 'unauthorized')
  if (dead !== undefined) return unauthorized(dead)
  return textOf(event, 'user') === undefined ? unauthorized() : undefined
}

/** Returns the user. Throws if the authorizer did not write the context. */
export function userOf(event: APIGatewayProxyEvent): UserInfo {
  const credential = textOf(event, 'credential')
  const federation = textOf(event, 'federation')
  const ancestors = textOf(event, 'ancestors')
  const sourceCIDRs = textOf(event, 'sourceCIDRs')
  return {
    ...decodeUser(textOf(event, 'user') ?? ''),
    ...(credential !== undefined && { credential: decodeCredential(credential) }),
    ...(federation !== undefined && { federation: decodeFederation(federation) }),
    ...(ancestors !== undefined && { ancestors: decodeAncestors(ancestors) }),
    ...(sourceCIDRs !== undefined && { sourceCIDRs: decodeSourceCIDRs(sourceCIDRs) }),
  }
}

/** Returns the warnings about the access key. A response without a user has none. */
export function warningsOf(event: APIGatewayProxyEvent): readonly string[] {
  const warnings = textOf(event, 'warnings')
  return warnings === undefined ? [] : decodeWarnings(warnings)
}

/** Returns the note that names the rule by which the scopes allowed the request. */
export const reasonOf = (event: APIGatewayProxyEvent): { scope?: string } => {
  const scope = textOf(event, 'reason')
  return scope === undefined ? {} : { scope }
}

/** Reports whether the authorizer wrote the audit record, as it does for every request without a user. */
export const isRecorded = (event: APIGatewayProxyEvent): boolean =>
  (['forbidden', 'badRequest', 'unauthorized'] as const).some((name) => textOf(event, name) !== undefined)
