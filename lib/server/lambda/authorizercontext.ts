/** Defines the context that the authorizer passes to handlers through API Gateway: the user, or why there is no user. */
import type { APIGatewayProxyEvent } from 'aws-lambda'
import { decodeCredential, decodeUser } from '../../authentication/usercontext.ts'
import type { UserInfo } from '../../authorization/users/user.ts'
import { badRequest, type StatusError, unauthorized } from '../../meta/errors/status.ts'

/** Contains only strings at the top level: API Gateway passes on nothing else. */
export type AuthorizerContext =
  /** `reason` names the lines of the scopes that allowed the request, for the audit record. */
  | {
      user: string
      /** Separate from the user, because functions of the previous version decode the user strictly. */
      credential: string
      reason: string
    }
  /** Message of the 401 for an invalid key or a missing one. */
  | { unauthorized: string }
  /** Message of the 400 for an ambiguous path. */
  | { badRequest: string }

const textOf = (event: APIGatewayProxyEvent, name: string): string | undefined => {
  const value: unknown = event.requestContext.authorizer?.[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Returns the error that the authorizer left to the handler. Without a user there is always one. */
export function refusalOf(event: APIGatewayProxyEvent): StatusError | undefined {
  const bad = textOf(event, 'badRequest')
  if (bad !== undefined) return badRequest(bad)
  const dead = textOf(event, 'unauthorized')
  if (dead !== undefined) return unauthorized(dead)
  return textOf(event, 'user') === undefined ? unauthorized() : undefined
}

/** Returns the user. Throws if the authorizer did not write the context. The previous version wrote no credential. */
export function userOf(event: APIGatewayProxyEvent): UserInfo {
  const credential = textOf(event, 'credential')
  const user = decodeUser(textOf(event, 'user') ?? '')
  return credential === undefined ? user : { ...user, credential: decodeCredential(credential) }
}

/** Returns the note that names the rule by which the scopes allowed the request. */
export const reasonOf = (event: APIGatewayProxyEvent): { scope?: string } => {
  const scope = textOf(event, 'reason')
  return scope === undefined ? {} : { scope }
}

/** Reports whether the authorizer wrote the audit record, as it does for every request without a user. */
export const isRecorded = (event: APIGatewayProxyEvent): boolean =>
  textOf(event, 'badRequest') !== undefined || textOf(event, 'unauthorized') !== undefined
