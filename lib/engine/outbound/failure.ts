/** Classifies the failures of outgoing requests, without text from the other side. */
import { own } from '../meta/value/walk.ts'

export type OutboundFailure =
  | 'refused'
  | 'unknown-host'
  | 'unroutable'
  | 'untrusted'
  | 'wrong-name'
  | 'expired-certificate'
  | 'tls'
  | 'reset'
  | 'timeout'
  /** The answer is not HTTP. */
  | 'garbage'
  | 'too-large'

/** A request without an answer. The message and the cause quote nothing of the other side. */
export class OutboundError extends Error {
  readonly failure: OutboundFailure

  constructor(failure: OutboundFailure, cause?: unknown) {
    super(failure, { cause })
    this.name = 'OutboundError'
    this.failure = failure
  }
}

/** Returns the failure that an error of Node's client stands for. */
export function outboundError(error: unknown): OutboundError {
  if (error instanceof OutboundError) return error
  return new OutboundError(codeFailure((error as NodeJS.ErrnoException).code ?? ''), withoutMessage(error))
}

/**
 * Returns the error without text from the other side. For example, the message for a name mismatch lists all names of
 * the certificate.
 */
function withoutMessage(error: unknown): unknown {
  const { code = 'no code', syscall } = error as NodeJS.ErrnoException
  return syscall === undefined ? new Error(code) : error
}

/** Maps Node's error codes: from the system, OpenSSL's verification (X509_V_ERR_…), TLS and the HTTP parser. */
function codeFailure(code: string): OutboundFailure {
  const known = own(BY_CODE, code)
  if (known) return known
  if (code.startsWith('HPE_')) return 'garbage'
  return /^(ERR_SSL|ERR_TLS|EPROTO|CERT_|CRL_|UNABLE_)/.test(code) ? 'tls' : 'unroutable'
}

const BY_CODE: Readonly<Record<string, OutboundFailure>> = {
  ECONNREFUSED: 'refused',
  ENOTFOUND: 'unknown-host',
  EAI_AGAIN: 'unknown-host',
  ETIMEDOUT: 'timeout',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  ERR_STREAM_PREMATURE_CLOSE: 'reset',
  ERR_TLS_CERT_ALTNAME_INVALID: 'wrong-name',
  CERT_HAS_EXPIRED: 'expired-certificate',
  CERT_NOT_YET_VALID: 'expired-certificate',
  SELF_SIGNED_CERT_IN_CHAIN: 'untrusted',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'untrusted',
  UNABLE_TO_GET_ISSUER_CERT: 'untrusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'untrusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'untrusted',
  CERT_SIGNATURE_FAILURE: 'untrusted',
  CERT_UNTRUSTED: 'untrusted',
}
