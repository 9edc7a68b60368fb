/** What the authorizer hands to the handlers through API Gateway: the user, or why there is none. */
import type { APIGatewayProxyEvent } from 'aws-lambda'
import { decodeCredential, decodeUser } from '../../authentication/usercontext.ts'
import type { UserInfo } from '../../authorization/users/user.ts'
import { badRequest, type StatusError, unauthorized } from '../../meta/errors/status.ts'

/** Flat text only: API Gateway passes on nothing else. */
export type AuthorizerContext =
  /** `reason`: the lines of the scopes that allowed the request, for its audit record. */
  | {
      user: string
      /** Beside the user, which functions of the version before decode strictly. */
      credential: string
      reason: string
    }
  /** A known key that is dead, or no key at all: the 401 says why. */
  | { unauthorized: string }
  /** A path that could be taken for another. */
  | { badRequest: string }

const textOf = (event: APIGatewayProxyEvent, name: string): string | undefined => {
  const value: unknown = event.requestContext.authorizer?.[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** The refusal that the authorizer left to the handler; without a user there always is one. */
export function refusalOf(event: APIGatewayProxyEvent): StatusError | undefined {
  const bad = textOf(event, 'badRequest')
  if (bad !== undefined) return badRequest(bad)
  const dead = textOf(event, 'unauthorized')
  if (dead !== undefined) return unauthorized(dead)
  return textOf(event, 'user') === undefined ? unauthorized() : undefined
}

/** Throws for a context that the authorizer did not write. One of the version before tells no credential. */
export function userOf(event: APIGatewayProxyEvent): UserInfo {
  const credential = textOf(event, 'credential')
  const user = decodeUser(textOf(event, 'user') ?? '')
  return credential === undefined ? user : { ...user, credential: decodeCredential(credential) }
}

/** The note of the rule by which the scopes allowed the request. */
export const reasonOf = (event: APIGatewayProxyEvent): { scope?: string } => {
  const scope = textOf(event, 'reason')
  return scope === undefined ? {} : { scope }
}

/** Whether the authorizer has written the audit record: it does so for all that it gives no user. */
export const isRecorded = (event: APIGatewayProxyEvent): boolean =>
  textOf(event, 'badRequest') !== undefined || textOf(event, 'unauthorized') !== undefined
