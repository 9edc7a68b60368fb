/** Sends HTTPS requests, and says in words why one failed. It follows no redirect, because a key must not go elsewhere. */
import https from 'node:https'
import { Failure, messageOf } from '../runner/failure.ts'

export interface Request {
  url: string
  method: 'GET' | 'POST'
  headers: Record<string, string>
  body?: string
  /** PEM. If present, only these authorities are trusted. */
  authorities?: string | string[]
}

export interface Answer {
  /** Scheme, host and path of the request. */
  url: string
  code: number
  headers: NodeJS.Dict<string[]>
  text: string
}

/** API Gateway ends a request after 29 seconds. */
const TIMEOUT_MS = 35_000
const MAX_BYTES = 4 * 1024 * 1024

/** Returns the answer, whatever its code. Throws a Failure without one. */
export async function send({ url, method, headers, body, authorities }: Request): Promise<Answer> {
  const target = new URL(url)
  // Runners of companies are often behind a proxy, which the usual variables name.
  const agent = new https.Agent({
    proxyEnv: process.env,
    // Even if NODE_TLS_REJECT_UNAUTHORIZED says otherwise.
    rejectUnauthorized: true,
    ...(authorities !== undefined && { ca: authorities }),
  })
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    return await new Promise<Answer>((resolve, reject) => {
      const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
      const sent = https.request(
        target,
        { method, agent, signal, headers: { 'user-agent': 'keyplane-action', ...length, ...headers } },
        (response) => {
          const chunks: Buffer[] = []
          let size = 0
          response.on('data', (chunk: Buffer) => {
            size += chunk.length
            if (size > MAX_BYTES) sent.destroy(new Error('the answer is larger than 4 MiB'))
            else chunks.push(chunk)
          })
          response.on('error', reject)
          response.on('end', () => {
            const { statusCode = 0, headersDistinct } = response
            const text = Buffer.concat(chunks).toString()
            resolve({ url: target.origin + target.pathname, code: statusCode, headers: headersDistinct, text })
          })
        },
      )
      sent.on('error', (error) => reject(signal.aborted ? new Error('no answer within 35 seconds') : error))
      sent.end(body)
    })
  } catch (error) {
    throw unreachable(target, error)
  } finally {
    agent.destroy()
  }
}

/** Codes of OpenSSL for a chain that does not end in a trusted authority. */
const UNTRUSTED = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
])

function unreachable({ host }: URL, error: unknown): Failure {
  const { code = '' } = error as NodeJS.ErrnoException
  if (UNTRUSTED.has(code)) {
    return new Failure(
      `the certificate of ${host} is not signed by an authority that this job trusts (${code}). If the server has an authority of its own, give its certificate as certificate-authority`,
      { cause: error },
    )
  }
  if (/CERT|ERR_SSL|EPROTO/.test(code))
    return new Failure(`no TLS connection to ${host}: ${messageOf(error)}`, { cause: error })
  return new Failure(`${host} cannot be reached: ${messageOf(error) || code}`, { isPassing: true, cause: error })
}
