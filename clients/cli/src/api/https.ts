/** Sends the requests of this program, and explains to its user why one failed. */
import { type HttpsAnswer, LargeAnswerError, sendHttps } from '../../../core/src/https.ts'
import {
  type FailureKind,
  leftOutProxy,
  type NetworkFailure,
  networkFailure,
} from '../../../core/src/networkfailure.ts'
import { CliError } from '../io/errors.ts'
import { version } from '../io/version.ts'

/** A page of a list is far smaller. */
const MOST_MEBIBYTES = 64

interface Sent {
  url: URL
  method: string
  headers: Record<string, string>
  body: string | undefined
  certificateAuthority: string | undefined
  signal: AbortSignal
}

/** Reports that no answer came. */
export class NetworkError extends CliError {
  override readonly name = 'NetworkError'
  /** Whether the failure may pass by itself, unlike that of a certificate. */
  readonly passing: boolean
  /** Whether the server was silent for so long that a person must not wait for that several times. */
  readonly isSilence: boolean

  constructor({ kind, text, isPassing }: NetworkFailure, cause: unknown) {
    const leftOut = UNREACHED.includes(kind) ? leftOutProxy(process.env) : undefined
    const hint = leftOut ?? HINTS[kind]
    super(text, { cause, unavailable: true, ...(hint !== undefined && { hint }) })
    this.passing = isPassing
    this.isSilence = kind === 'silent'
  }
}

/** What may be due to a proxy that the request should have gone through. */
const UNREACHED: readonly FailureKind[] = ['unknownHost', 'notListening', 'silent', 'closed', 'proxy', 'other']

const HINTS: Partial<Record<FailureKind, string>> = {
  untrusted:
    'If the server has an authority of its own, name its certificate: keyplane login URL --ca FILE, or KEYPLANE_CA=FILE.',
  expired: 'Check the clock of this machine, then tell the administrators of the server.',
  otherHost: 'Check the URL: it must have a name for which the certificate was made.',
  notHttps: 'Check the port in the URL.',
  unknownHost: 'Check the URL and the network.',
  notListening: 'Check the URL, and that the server runs.',
  silent: 'Check the network, then try again.',
  closed: 'Try again.',
  proxy: 'Check HTTPS_PROXY, or name the hosts that need no proxy in NO_PROXY.',
}

/** Sends a request. Throws a NetworkError when no whole answer arrives. */
export async function send({ certificateAuthority, ...request }: Sent): Promise<HttpsAnswer> {
  const headers = { 'user-agent': `keyplane/${version} (${process.platform}/${process.arch})`, ...request.headers }
  try {
    return await sendHttps({ ...request, headers, authorities: certificateAuthority, mostMebibytes: MOST_MEBIBYTES })
  } catch (error) {
    if (request.signal.aborted) throw error
    if (error instanceof LargeAnswerError) throw new CliError(error.message)
    throw new NetworkError(networkFailure(error, request.url.host), error)
  }
}
