/** Sends one HTTPS request. It follows no redirect, because a key must not go elsewhere. */
import type { Agent } from 'node:https'

export interface HttpsRequest {
  url: URL
  method: string
  headers: Record<string, string>
  body?: string | undefined
  /** PEM. If present, only these authorities are trusted. */
  authorities?: string | string[] | undefined
  signal: AbortSignal
  agent?: Agent
  /** The name in the certificate, if it is not the host of the URL. */
  serverName?: string | undefined
  /** The largest answer that is read, in MiB. */
  mostMebibytes: number
}

export interface HttpsAnswer {
  code: number
  headers: NodeJS.Dict<string[]>
  text: string
}

/** How long nothing may arrive. Longer than API Gateway lets a request run. */
const SILENCE_MILLISECONDS = 45_000

/** Says that an answer is larger than it may be. */
export class LargeAnswerError extends Error {
  override readonly name = 'LargeAnswerError'
}

/** Returns the answer, whatever its code. Rejects with the reason of the signal, a LargeAnswerError, or the error of the network (`networkFailure`). */
export async function sendHttps({
  url,
  method,
  headers,
  body,
  authorities,
  signal,
  agent,
  serverName,
  mostMebibytes,
}: HttpsRequest): Promise<HttpsAnswer> {
  // Loading TLS takes longer than all the rest of a command that answers from a file.
  const https = await import('node:https')
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => {
      clearTimeout(limit)
      reject(signal.aborted ? signal.reason : error)
    }
    const request = https.request(
      url,
      {
        method,
        // Even if NODE_TLS_REJECT_UNAUTHORIZED says otherwise.
        rejectUnauthorized: true,
        signal,
        ...(agent && { agent }),
        ...(serverName && { servername: serverName }),
        ...(authorities !== undefined && { ca: authorities }),
        headers: { ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }), ...headers },
      },
      (response) => {
        const chunks: Buffer[] = []
        let size = 0
        response.on('data', (chunk: Buffer) => {
          limit.refresh()
          size += chunk.length
          if (size <= mostMebibytes * 1024 * 1024) chunks.push(chunk)
          else request.destroy(new LargeAnswerError(`${url.origin} sends more than ${mostMebibytes} MiB.`))
        })
        response.on('error', fail)
        response.on('end', () => {
          clearTimeout(limit)
          const text = Buffer.concat(chunks).toString()
          resolve({ code: response.statusCode ?? 0, headers: response.headersDistinct, text })
        })
      },
    )
    // With the timeout of a request in Node.js, a connection without an answer to TLS ends after twice the time. The limit begins after
    // the request, which throws for a header or an authority that cannot be sent: otherwise it would keep the process alive.
    const limit = setTimeout(
      () => request.destroy(Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' })),
      SILENCE_MILLISECONDS,
    )
    request.on('error', fail)
    request.end(body)
  })
}
