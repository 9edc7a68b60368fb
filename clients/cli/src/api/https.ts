/** Sends one HTTPS request, and explains in words why it failed. It follows no redirect, because a key must not go elsewhere. */
import { CliError } from '../io/errors.ts'
import { version } from '../io/version.ts'

/** The largest answer that is read. A page of a list is far smaller. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024
/** Longer than API Gateway lets a request run. */
const SILENCE_MILLISECONDS = 45_000

export interface HttpsRequest {
  url: URL
  method: string
  headers: Record<string, string>
  body: string | undefined
  certificateAuthority: string | undefined
  signal: AbortSignal
}

export interface HttpsAnswer {
  code: number
  headers: NodeJS.Dict<string[]>
  text: string
}

/** Reports that no answer came. */
export class NetworkError extends CliError {
  override readonly name = 'NetworkError'
  /** Whether the failure may pass by itself, unlike that of a certificate. */
  readonly passing: boolean

  constructor(
    message: string,
    { cause, hint, passing }: { cause: unknown; hint: string | undefined; passing: boolean },
  ) {
    super(message, { cause, unavailable: true, ...(hint !== undefined && { hint }) })
    this.passing = passing
  }
}

/** Sends a request. Throws a NetworkError when no whole answer arrives. */
export async function sendHttps({
  url,
  method,
  headers,
  body,
  certificateAuthority,
  signal,
}: HttpsRequest): Promise<HttpsAnswer> {
  // Loading TLS takes longer than all the rest of a command that answers from a file.
  const https = await import('node:https')
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => reject(signal.aborted ? signal.reason : explained(error, url))
    const request = https.request(
      url,
      {
        method,
        // Even if NODE_TLS_REJECT_UNAUTHORIZED says otherwise.
        rejectUnauthorized: true,
        signal,
        timeout: SILENCE_MILLISECONDS,
        ...(certificateAuthority !== undefined && { ca: certificateAuthority }),
        headers: {
          'user-agent': `keyplane/${version} (${process.platform}/${process.arch})`,
          ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
          ...headers,
        },
      },
      (response) => {
        const chunks: Buffer[] = []
        let size = 0
        response.on('data', (chunk: Buffer) => {
          size += chunk.length
          if (size > MAX_ANSWER_BYTES) request.destroy(new CliError(`${url.origin} sends more than 64 MiB.`))
          else chunks.push(chunk)
        })
        response.on('error', fail)
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString()
          resolve({ code: response.statusCode ?? 0, headers: response.headersDistinct, text })
        })
      },
    )
    request.on('timeout', () => request.destroy(Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' })))
    request.on('error', fail)
    request.end(body)
  })
}

/** Codes of OpenSSL for a chain without a trusted root. */
const UNTRUSTED = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
])

function explained(error: unknown, url: URL): CliError {
  if (error instanceof CliError) return error
  const { code = '', message } = error as NodeJS.ErrnoException
  const { host } = url
  const passing = !/CERT|SIGNATURE|EPROTO|ERR_SSL|ENOTFOUND/.test(code)
  const because = (text: string, hint?: string) => new NetworkError(text, { cause: error, hint, passing })
  if (UNTRUSTED.has(code)) {
    return because(
      `The certificate of ${host} is not signed by an authority that this machine trusts.`,
      'If the server has an authority of its own, log in with its certificate: keyplane login URL --ca FILE',
    )
  }
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID') {
    return because(
      `The certificate of ${host} has expired or is not valid yet.`,
      'Check the clock of this machine, then tell the administrators of the server.',
    )
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return because(
      `The certificate of ${host} is for another host.`,
      'Check the URL: it must have a name for which the certificate was made.',
    )
  }
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_'))
    return because(`${host} does not speak HTTPS on this port.`, 'Check the port in the URL.')
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return because(`The host ${host} cannot be found.`, 'Check the URL and the network.')
  if (code === 'ECONNREFUSED') return because(`Nothing listens at ${host}.`, 'Check the URL, and that the server runs.')
  if (code === 'ETIMEDOUT') return because(`${host} did not answer in time.`, 'Check the network, then try again.')
  if (code === 'ECONNRESET') return because(`${host} closed the connection before it answered.`, 'Try again.')
  return because(`The request to ${host} failed: ${message}`)
}
