/**
 * The error alphabet of the API: one constructor for each reason of a Kubernetes Status.
 * Every error that may reach a client is a StatusError; anything else becomes a 500 without its text.
 * Source: k8s.io/apimachinery/pkg/api/errors.
 */

import { quoted } from '../encoding/gotext.ts'
import type { GroupResource, Status, StatusCause, StatusDetails } from '../types.ts'
import { withoutCredentials } from '../value/credentials.ts'
import { aggregate, type FieldError, MOST_TOLD, toCause, told } from './fielderror.ts'

/**
 * Whose failure an error is, whatever its code says: kube-apiserver answers some mistakes of clients with 500 or 504. Only
 * what is the server's is an outage.
 */
export type Fault = 'client' | 'server' | 'virtualCluster'

/** A failure with a public Status. `cause` and `fault` are for log and metrics only and never reach a client. */
export class StatusError extends Error {
  readonly status: Status & { code: number }
  readonly fault: Fault

  constructor(status: Status & { code: number }, cause?: unknown, fault = faultOf(status.code)) {
    super(status.message ?? '', { cause })
    this.name = 'StatusError'
    this.status = status
    this.fault = fault
  }
}

/** Returns whose failure an answer with this code is, where nothing else is known of it. */
export const faultOf = (code: number): Fault => (code < 500 ? 'client' : 'server')

/** In characters: what one text of an answer may have, so that a few of them stay below Lambda's 6 MB, however escaped. */
const MAX_TEXT = 128 * 1024

/** Messages quote what clients sent, and clients send credentials where none belong. */
const cut = (text: string): string =>
  withoutCredentials(text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)} ...` : text)

/** A name as messages show it. */
const shownName = (name: string): string => quoted(cut(name))

const cutCause = (cause: StatusCause): StatusCause => ({
  ...cause,
  ...(cause.message !== undefined && { message: cut(cause.message) }),
  ...(cause.field !== undefined && { field: cut(cause.field) }),
})

const cutDetails = (details: StatusDetails): StatusDetails => ({
  ...(Object.fromEntries(
    Object.entries(details).map(([name, value]) => [name, typeof value === 'string' ? cut(value) : value]),
  ) as StatusDetails),
  ...(details.causes && { causes: told(details.causes, 4 * MAX_TEXT).map(cutCause) }),
})

function failure(
  code: number,
  reason: string | undefined,
  message: string,
  details?: StatusDetails,
  cause?: unknown,
  fault?: Fault,
) {
  const status: Status & { code: number } = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: cut(message),
    ...(reason !== undefined && { reason }),
    ...(details !== undefined && { details: cutDetails(details) }),
    code,
  }
  return new StatusError(status, cause, fault)
}

/** `ownedaccesskeys.management.platform`, or the bare resource in the core group. */
const qualified = ({ group, resource }: GroupResource): string => (group ? `${resource}.${group}` : resource)

const named = ({ group, resource }: GroupResource, name: string): StatusDetails => ({
  ...(name && { name }),
  ...(group && { group }),
  kind: resource,
})

/** 400. `cause` is for the log. */
export const badRequest = (message: string, cause?: unknown): StatusError =>
  failure(400, 'BadRequest', message, undefined, cause)

/** 401. `message` says more only where that helps the holder of a known key ("access key has expired"). */
export const unauthorized = (message = 'Unauthorized'): StatusError => failure(401, 'Unauthorized', message)

/** 401 of a request that outlasts what it was allowed with: its key has been revoked, rotated or narrowed. */
export const keyChanged = (): StatusError =>
  unauthorized('access key has been changed or deleted since the request was allowed')

/** 403 of a validating admission rule: `<resource> "<name>" is forbidden: <why>`. */
export const forbiddenResource = (gr: GroupResource, name: string, why: string): StatusError =>
  failure(
    403,
    'Forbidden',
    `${qualified(gr)}${name ? ` ${shownName(name)}` : ''} is forbidden: ${why}`,
    named(gr, name),
  )

/** 403 for a path that is no resource. */
export const forbiddenPath = (why: string): StatusError => failure(403, 'Forbidden', `forbidden: ${why}`, {})

/** 404 of an object, also of one that this user may not see. */
export const notFound = (gr: GroupResource, name: string): StatusError =>
  failure(404, 'NotFound', `${qualified(gr)} ${shownName(name)} not found`, named(gr, name))

/** `hint` follows what kube-apiserver says. */
const hinted = (message: string, hint: string | undefined): string => (hint ? `${message}: ${hint}` : message)

/** 404 of a route that nobody serves. */
export const routeNotFound = (hint?: string): StatusError =>
  failure(404, 'NotFound', hinted('the server could not find the requested resource', hint), {})

export const methodNotAllowed = (hint?: string): StatusError =>
  failure(405, 'MethodNotAllowed', hinted('the server does not allow this method on the requested resource', hint), {})

/** 405 for a method that no path of a custom resource has: `create is not supported on resources of kind "…"`. */
export const methodNotSupported = (gr: GroupResource, verb: string): StatusError =>
  failure(405, 'MethodNotAllowed', `${verb} is not supported on resources of kind "${qualified(gr)}"`, {
    group: gr.group,
    kind: gr.resource,
  })

export const notAcceptable = (accepted: readonly string[]): StatusError =>
  failure(406, 'NotAcceptable', `only the following media types are accepted: ${accepted.join(', ')}`)

export const alreadyExists = (gr: GroupResource, name: string): StatusError =>
  failure(409, 'AlreadyExists', `${qualified(gr)} ${shownName(name)} already exists`, named(gr, name))

export const beingDeleted = (gr: GroupResource, name: string): StatusError =>
  failure(
    409,
    'AlreadyExists',
    `object is being deleted: ${qualified(gr)} ${shownName(name)} already exists`,
    named(gr, name),
  )

/** The generated name exists, after all attempts (specification section 7); says what the last of them said. */
export const generatedNameExists = ({ status: { message, details } }: StatusError): StatusError =>
  failure(409, 'AlreadyExists', `${message}, the server was not able to generate a unique name for the object`, {
    ...details,
    retryAfterSeconds: 1,
  })

/** 409 of an optimistic lock. `gr.resource` is the Kind for failed delete preconditions, else the plural. */
export const conflict = (gr: GroupResource, name: string, why: string): StatusError =>
  failure(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${qualified(gr)} ${shownName(name)}: ${why}`,
    named(gr, name),
  )

/** Why a write loses that names a resourceVersion which is not the stored one. */
export const MODIFIED = 'the object has been modified; please apply your changes to the latest version and try again'

/** 409 of a server-side apply: details hold nothing but the causes. */
export const applyConflict = (message: string, causes: StatusCause[]): StatusError =>
  failure(409, 'Conflict', message, { causes })

/** 410: the asked resourceVersion is no longer known. `token` lets a list go on, inconsistently. */
export function expired(message: string, token?: string): StatusError {
  const error = failure(410, 'Expired', message)
  if (token !== undefined) error.status.metadata.continue = token
  return error
}

export const requestEntityTooLarge = (message: string): StatusError =>
  failure(413, 'RequestEntityTooLarge', `Request entity too large: ${message}`)

/** 415. `advice` follows what kube-apiserver says. */
export function unsupportedMediaType(accepted: readonly string[], advice = ''): StatusError {
  const types = `accepted media types include: ${accepted.join(', ')}`
  const message = `the body of the request was in an unknown format - ${types}${advice && `; ${advice}`}`
  return failure(415, 'UnsupportedMediaType', message)
}

/**
 * 422 with the first causes, as many as an answer shows. `kind` is the Kind for objects (`CreateOptions` in group
 * `meta.k8s.io` for options).
 */
export function invalidObject(group: string, kind: string, name: string, errors: readonly FieldError[]): StatusError {
  const some = told(errors, MOST_TOLD)
  const what = `${group ? `${kind}.${group}` : kind} ${shownName(name)} is invalid: ${aggregate(some)}`
  return failure(422, 'Invalid', some.length === errors.length ? what : `${what} and more`, {
    ...(name && { name }),
    ...(group && { group }),
    ...(kind && { kind }),
    causes: some.map(toCause),
  })
}

/** 422 of a JSON patch that cannot be applied: the reason stays hidden, as in kube-apiserver. */
export const unprocessable = (): StatusError =>
  failure(422, 'Invalid', 'the server rejected our request due to an error in our request', {})

export const tooManyRequests = (message: string, retryAfterSeconds: number): StatusError =>
  failure(429, 'TooManyRequests', message, { retryAfterSeconds })

/** 500 that says nothing of its cause. */
export const internalError = (cause: unknown): StatusError =>
  failure(
    500,
    'InternalError',
    'Internal error occurred: the request could not be completed; the cause is in the server log',
    { causes: [{ message: 'the request could not be completed; the cause is in the server log' }] },
    cause,
  )

/** 500 without reason or details: what kube-apiserver answers to mistakes of clients that have no reason in its API. */
export const plainError = (message: string): StatusError =>
  failure(500, undefined, message, undefined, undefined, 'client')

export const badGateway = (message: string, cause?: unknown): StatusError =>
  failure(502, 'ServiceUnavailable', message, undefined, cause)

export const serviceUnavailable = (message: string, retryAfterSeconds?: number, cause?: unknown): StatusError =>
  failure(
    503,
    'ServiceUnavailable',
    message,
    retryAfterSeconds === undefined ? undefined : { retryAfterSeconds },
    cause,
  )

/** 504 of a request that may have been done, or may be done yet: whoever sends it again must look first. */
export const undecided = (message: string, cause?: unknown): StatusError =>
  timeout(message, { retryAfterSeconds: 1 }, cause)

/** 504 where a client asks for a resourceVersion that is not there yet: one that it did not get from here. */
export const tooLargeResourceVersion = (asked: string, current: string, retryAfterSeconds: number): StatusError =>
  failure(
    504,
    'Timeout',
    `Timeout: Too large resource version: ${asked}, current: ${current}`,
    {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds,
    },
    undefined,
    'client',
  )

/** 504. Nothing is known of the outcome. */
export const timeout = (message: string, details?: StatusDetails, cause?: unknown): StatusError =>
  failure(504, 'Timeout', `Timeout: ${message}`, details, cause)
