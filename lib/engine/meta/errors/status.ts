/**
 * Defines the API errors: one constructor for each reason of a Kubernetes Status.
 * Every error intended for a client is a StatusError; any other error becomes a 500 without its text.
 * Source: k8s.io/apimachinery/pkg/api/errors.
 */

import { quote } from '../encoding/gotext.ts'
import { CREDENTIAL } from '../program.ts'
import type { GroupResource, Status, StatusCause, StatusDetails } from '../types.ts'
import { withoutCredentials } from '../value/credentialtext.ts'
import { filled } from '../value/defined.ts'
import { aggregate, type FieldError, limitErrors, MAX_ERROR_TEXT, toCause } from './fielderror.ts'

/** The parties that can cause errors. The program declares the others that it depends on (`declare module`). */
export interface Parties {
  client: true
  server: true
}

/**
 * The party that caused an error, regardless of its code: kube-apiserver answers some client mistakes with 500 or 504.
 * Only faults of the server count as an outage.
 */
export type Fault = keyof Parties

/** An error with a public Status. `cause` and `fault` are only for logs and metrics and never reach a client. */
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

/** Returns the default fault of a response with this code. */
export const faultOf = (code: number): Fault => (code < 500 ? 'client' : 'server')

/** Limits one text of a response, in characters, so that a few texts stay below Lambda's 6 MB even when escaped. */
const MAX_TEXT = 128 * 1024

/** Shortens a text and redacts credentials: messages quote client input, which may contain credentials by mistake. */
const cut = (text: string): string =>
  withoutCredentials(text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)} ...` : text)

/** Quotes a name for a message. */
const shownName = (name: string): string => quote(cut(name))

/** Cuts each text of an object. */
const cutTexts = <T extends object>(texts: T): T =>
  Object.fromEntries(
    Object.entries(texts).map(([name, value]) => [name, typeof value === 'string' ? cut(value) : value]),
  ) as T

const cutDetails = (details: StatusDetails): StatusDetails => ({
  ...cutTexts(details),
  ...(details.causes && { causes: limitErrors(details.causes, 4 * MAX_TEXT).map(cutTexts) }),
})

/** What only logs and metrics have of an error. */
interface Origin {
  cause?: unknown
  fault?: Fault
}

function failure(
  code: number,
  reason: string | undefined,
  message: string,
  details?: StatusDetails,
  { cause, fault }: Origin = {},
): StatusError {
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

/** Returns `lamps.example.test`, or only the resource in the core group. */
const qualified = ({ group, resource }: GroupResource): string => (group ? `${resource}.${group}` : resource)

/** Returns the failure of a request for one object. */
function failureOf(
  code: number,
  reason: string,
  gr: GroupResource,
  name: string,
  message: (subject: string) => string,
): StatusError {
  const { group, resource } = gr
  return failure(code, reason, message(`${qualified(gr)} ${shownName(name)}`), {
    ...filled({ name, group }),
    kind: resource,
  })
}

/** Returns a 400. Only the log contains `cause`. */
export const badRequest = (message: string, cause?: unknown): StatusError =>
  failure(400, 'BadRequest', message, undefined, { cause })

/** Returns a 401. `message` gives details only to the holder of a known credential, such as that it has expired. */
export const unauthorized = (message = 'Unauthorized'): StatusError => failure(401, 'Unauthorized', message)

/** Returns the 401 for a running request whose credential was revoked, replaced or restricted after authorization. */
export const credentialChanged = (): StatusError =>
  unauthorized(`${CREDENTIAL} has been changed or deleted since the request was allowed`)

/** Returns the 403 of a validating admission rule: `<resource> "<name>" is forbidden: <why>`. */
export const forbiddenResource = (gr: GroupResource, name: string, why: string): StatusError =>
  failureOf(403, 'Forbidden', gr, name, (subject) => `${name ? subject : qualified(gr)} is forbidden: ${why}`)

/** Returns the 403 of a request that is forbidden whatever it asks for. */
export const forbidden = (why: string): StatusError => failure(403, 'Forbidden', why, {})

/** Returns the 403 for a non-resource path. */
export const forbiddenPath = (why: string): StatusError => failure(403, 'Forbidden', `forbidden: ${why}`, {})

/** Returns the 404 for an object that does not exist or that the user may not see. */
export const notFound = (gr: GroupResource, name: string): StatusError =>
  failureOf(404, 'NotFound', gr, name, (subject) => `${subject} not found`)

/** Appends `hint` to kube-apiserver's message. */
const hinted = (message: string, hint: string | undefined): string => (hint ? `${message}: ${hint}` : message)

/** Returns the 404 for an unknown route. */
export const routeNotFound = (hint?: string): StatusError =>
  failure(404, 'NotFound', hinted('the server could not find the requested resource', hint), {})

export const methodNotAllowed = (hint?: string): StatusError =>
  failure(405, 'MethodNotAllowed', hinted('the server does not allow this method on the requested resource', hint), {})

/** Returns the 405 for a method that no custom resource supports: `create is not supported on resources of kind "…"`. */
export const methodNotSupported = (gr: GroupResource, verb: string): StatusError =>
  failure(405, 'MethodNotAllowed', `${verb} is not supported on resources of kind "${qualified(gr)}"`, {
    group: gr.group,
    kind: gr.resource,
  })

export const notAcceptable = (accepted: readonly string[]): StatusError =>
  failure(406, 'NotAcceptable', `only the following media types are accepted: ${accepted.join(', ')}`)

export const alreadyExists = (gr: GroupResource, name: string): StatusError =>
  failureOf(409, 'AlreadyExists', gr, name, (subject) => `${subject} already exists`)

export const beingDeleted = (gr: GroupResource, name: string): StatusError =>
  failureOf(409, 'AlreadyExists', gr, name, (subject) => `object is being deleted: ${subject} already exists`)

/** Returns the 409 after the last attempt to generate a unique name (specification section 7), with that attempt's message. */
export const generatedNameExists = ({ status: { message, details } }: StatusError): StatusError =>
  failure(409, 'AlreadyExists', `${message}, the server was not able to generate a unique name for the object`, {
    ...details,
    retryAfterSeconds: 1,
  })

/** Returns the 409 of an optimistic lock. `gr.resource` is the Kind for failed delete preconditions, otherwise the plural. */
export const conflict = (gr: GroupResource, name: string, why: string): StatusError =>
  failureOf(409, 'Conflict', gr, name, (subject) => `Operation cannot be fulfilled on ${subject}: ${why}`)

/** Explains why a write with an outdated resourceVersion fails. */
export const MODIFIED = 'the object has been modified; please apply your changes to the latest version and try again'

/** Returns the 409 of a server-side apply, whose details contain only the causes. */
export const applyConflict = (message: string, causes: StatusCause[]): StatusError =>
  failure(409, 'Conflict', message, { causes })

/** Returns the 410 for a resourceVersion that is too old. With `token`, a client can continue a list inconsistently. */
export function expired(message: string, token?: string): StatusError {
  const error = failure(410, 'Expired', message)
  if (token !== undefined) error.status.metadata.continue = token
  return error
}

export const requestEntityTooLarge = (message: string): StatusError =>
  failure(413, 'RequestEntityTooLarge', `Request entity too large: ${message}`)

/** Returns a 415. Appends `advice` to kube-apiserver's message. */
export function unsupportedMediaType(accepted: readonly string[], advice = ''): StatusError {
  const types = `accepted media types include: ${accepted.join(', ')}`
  const message = `the body of the request was in an unknown format - ${types}${advice && `; ${advice}`}`
  return failure(415, 'UnsupportedMediaType', message)
}

/**
 * Returns a 422 with as many causes as fit into one response. `kind` is the Kind of the object, or `CreateOptions` in
 * group `meta.k8s.io` for options.
 */
export function invalidObject(group: string, kind: string, name: string, errors: readonly FieldError[]): StatusError {
  const some = limitErrors(errors, MAX_ERROR_TEXT)
  const what = `${group ? `${kind}.${group}` : kind} ${shownName(name)} is invalid: ${aggregate(some)}`
  return failure(422, 'Invalid', some.length === errors.length ? what : `${what} and more`, {
    ...filled({ name, group, kind }),
    causes: some.map(toCause),
  })
}

/** Returns the 422 for a JSON patch that cannot be applied. It hides the reason, as kube-apiserver does. */
export const unprocessable = (): StatusError =>
  failure(422, 'Invalid', 'the server rejected our request due to an error in our request', {})

export const tooManyRequests = (message: string, retryAfterSeconds: number): StatusError =>
  failure(429, 'TooManyRequests', message, { retryAfterSeconds })

/** Returns a 500 that does not reveal its cause. */
export const internalError = (cause: unknown): StatusError =>
  failure(
    500,
    'InternalError',
    'Internal error occurred: the request could not be completed; the cause is in the server log',
    { causes: [{ message: 'the request could not be completed; the cause is in the server log' }] },
    { cause },
  )

/** Returns a 500 without reason or details, kube-apiserver's response to client mistakes that have no API reason. */
export const plainError = (message: string): StatusError =>
  failure(500, undefined, message, undefined, { fault: 'client' })

export const badGateway = (message: string, cause?: unknown): StatusError =>
  failure(502, 'ServiceUnavailable', message, undefined, { cause })

export const serviceUnavailable = (message: string, retryAfterSeconds?: number, cause?: unknown): StatusError =>
  failure(503, 'ServiceUnavailable', message, retryAfterSeconds === undefined ? undefined : { retryAfterSeconds }, {
    cause,
  })

/**
 * Returns the 507 for a write that was certainly not made, because the store has no room. It has no Retry-After: somebody must make
 * room first. The reason is not one of Kubernetes, whose clients show any reason.
 */
export const insufficientStorage = (message: string, cause?: unknown): StatusError =>
  failure(507, 'InsufficientStorage', `the disk of the server is full: ${message}`, undefined, { cause })

/** Returns the 504 for a request with an unknown outcome, which may still take effect: check the object before a retry. */
export const undecided = (message: string, cause?: unknown): StatusError =>
  timeout(message, { retryAfterSeconds: 1 }, cause)

/** Returns the 504 for a resourceVersion in the future, which this server has not issued. */
export const tooLargeResourceVersion = (asked: string, current: string, retryAfterSeconds: number): StatusError =>
  failure(
    504,
    'Timeout',
    `Timeout: Too large resource version: ${asked}, current: ${current}`,
    {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds,
    },
    { fault: 'client' },
  )

/** Returns a 504; the outcome is unknown. */
export const timeout = (message: string, details?: StatusDetails, cause?: unknown): StatusError =>
  failure(504, 'Timeout', `Timeout: ${message}`, details, { cause })
