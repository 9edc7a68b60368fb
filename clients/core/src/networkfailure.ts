/** Explains in words why no answer has come. */

/** Codes of OpenSSL for a chain without a trusted root. */
const UNTRUSTED = [
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
]

export type FailureKind =
  | 'untrusted'
  | 'expired'
  | 'otherHost'
  | 'notHttps'
  | 'unknownHost'
  | 'notListening'
  | 'silent'
  | 'closed'
  | 'other'

export interface NetworkFailure {
  kind: FailureKind
  /** A sentence. */
  text: string
  /** Whether the failure may pass by itself, unlike that of a certificate. */
  isPassing: boolean
}

/** Returns what an error of `sendHttps` to a host means. */
export function networkFailure(error: unknown, host: string): NetworkFailure {
  const { code = '', message } = error as NodeJS.ErrnoException
  const failure = (kind: FailureKind, text: string): NetworkFailure => ({
    kind,
    text,
    isPassing: !/CERT|SIGNATURE|EPROTO|ERR_SSL|ENOTFOUND/.test(code),
  })
  if (UNTRUSTED.includes(code))
    return failure('untrusted', `The certificate of ${host} is not signed by an authority that this machine trusts.`)
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID')
    return failure('expired', `The certificate of ${host} has expired or is not valid yet.`)
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return failure('otherHost', `The certificate of ${host} is for another host.`)
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_'))
    return failure('notHttps', `${host} does not speak HTTPS on this port.`)
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return failure('unknownHost', `The host ${host} cannot be found.`)
  if (code === 'ECONNREFUSED') return failure('notListening', `Nothing listens at ${host}.`)
  if (code === 'ETIMEDOUT') return failure('silent', `${host} did not answer in time.`)
  if (code === 'ECONNRESET') return failure('closed', `${host} closed the connection before it answered.`)
  return failure('other', `The request to ${host} failed: ${message}`)
}
