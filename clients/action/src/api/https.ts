/** Sends the requests of a job. */
import { Agent } from 'node:https'
import { type HttpsAnswer, LargeAnswerError, sendHttps } from '../../../core/src/https.ts'
import { networkFailure } from '../../../core/src/networkfailure.ts'
import { Failure } from '../runner/failure.ts'

export interface Request {
  url: string
  method: 'GET' | 'POST'
  headers: Record<string, string>
  body?: string
  /** PEM. If present, only these authorities are trusted. */
  authorities?: string | string[]
}

export interface Answer extends HttpsAnswer {
  /** Scheme, host and path of the request. */
  url: string
}

/** API Gateway ends a request after 29 seconds. */
const TIMEOUT_SECONDS = 35
const MOST_MEBIBYTES = 4

/** Returns the answer, whatever its code. Throws a Failure without one. */
export async function send({ url, headers, ...request }: Request): Promise<Answer> {
  const target = new URL(url)
  const signal = AbortSignal.timeout(TIMEOUT_SECONDS * 1000)
  // Runners of companies are often behind a proxy, which the usual variables name.
  const agent = new Agent({ proxyEnv: process.env })
  const sent = { ...request, url: target, headers: { 'user-agent': 'keyplane-action', ...headers }, signal, agent }
  try {
    const answer = await sendHttps({ ...sent, mostMebibytes: MOST_MEBIBYTES })
    return { ...answer, url: target.origin + target.pathname }
  } catch (error) {
    throw failureOf(error, target, signal.aborted)
  } finally {
    agent.destroy()
  }
}

function failureOf(error: unknown, { host }: URL, isLate: boolean): Failure {
  if (error instanceof LargeAnswerError) return new Failure(error.message, { isPassing: true, cause: error })
  if (isLate)
    return new Failure(`${host} did not answer within ${TIMEOUT_SECONDS} seconds.`, { isPassing: true, cause: error })
  const { kind, text, isPassing } = networkFailure(error, host)
  const hint = 'If the server has an authority of its own, give its certificate as certificate-authority'
  return new Failure(kind === 'untrusted' ? `${text} ${hint}` : text, {
    // The names of a network may be unknown only for a moment.
    isPassing: isPassing || kind === 'unknownHost',
    cause: error,
  })
}
