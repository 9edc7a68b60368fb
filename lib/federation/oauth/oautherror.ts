/** Defines the errors of the OAuth endpoints (RFC 6749 section 5.2, RFC 7009 section 2.2.1), and quotes values of clients in their descriptions. */
import { withoutCredentials } from '../../engine/meta/value/credentialtext.ts'
import type { RefusalReason } from './outcomes.ts'

type ErrorCode =
  | 'invalid_request'
  | 'unsupported_grant_type'
  | 'invalid_scope'
  | 'invalid_target'
  | 'unsupported_token_type'
  | 'temporarily_unavailable'

interface Details {
  /** Seconds after which the client may repeat the request. Absent: it must not repeat it unchanged. */
  retryAfter?: number
  /** The claim that was not accepted, for the audit record. */
  claim?: string
  cause?: unknown
}

/** An error of an OAuth endpoint. The description is for the client, the reason for the audit record. */
export class OAuthError extends Error {
  readonly code: ErrorCode
  readonly reason: RefusalReason
  readonly retryAfter?: number
  readonly claim?: string

  constructor(code: ErrorCode, reason: RefusalReason, description: string, { retryAfter, claim, cause }: Details = {}) {
    super(printable(description), { cause })
    this.name = 'OAuthError'
    this.code = code
    this.reason = reason
    if (retryAfter !== undefined) this.retryAfter = retryAfter
    if (claim !== undefined) this.claim = claim
  }
}

/** Returns the error of a request that this service cannot read. Nothing was read from the store. */
export const malformed = (description: string): OAuthError =>
  new OAuthError('invalid_request', 'malformed', description)

/**
 * Returns the one error for every refusal before the signature and the tenancy have held. It does not reveal which trusts,
 * audiences or keys exist.
 */
export const notAccepted = (reason: RefusalReason): OAuthError =>
  new OAuthError('invalid_request', reason, 'the subject token is not accepted for this client_id')

/** Returns the error for an exchange whose key somebody has ended. */
export const endedBefore = (): OAuthError =>
  new OAuthError('invalid_request', 'ended', 'the access of the subject token was ended: get a new one from the issuer')

/** Returns the error of a request that was not done because of this service or the issuer. */
export const unavailable = (reason: RefusalReason, description: string, details: Details = {}): OAuthError =>
  new OAuthError('temporarily_unavailable', reason, description, details)

/** Maximum length of a description in characters. */
const LONGEST = 512

/** Returns the characters that RFC 6749 allows in a description, without credentials. */
const printable = (text: string): string =>
  withoutCredentials(text.slice(0, 16 * LONGEST))
    .replaceAll('"', "'")
    .replace(/[^ -~]|\\/g, '?')
    .slice(0, LONGEST)

/** Maximum length of a quoted value in characters. */
const LONGEST_VALUE = 128

/**
 * Returns a value of the client in single quotes. An attacker may choose it, such as the name of a branch, and it appears in
 * the log of a CI job. So every character with a meaning to a shell or a CI system is percent-encoded.
 */
export function quoteValue(value: string): string {
  const short = [...withoutCredentials(value.slice(0, 16 * LONGEST_VALUE))].slice(0, LONGEST_VALUE).join('')
  const safe = short
    .toWellFormed()
    .replace(/[^\w .,:/@+=<>{}*~-]/gu, (one) =>
      [...Buffer.from(one)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
    )
  return `'${safe}${short.length < value.length ? '...' : ''}'`
}

/** Returns the name of a claim, in quotes if it has unusual characters. The owner of a trust chooses the name. */
export const quoteName = (claim: string): string => (/^[\w./:-]+$/.test(claim) ? claim : quoteValue(claim))
