/** Turns answers that are not what was asked for into words. */
import { Failure } from '../runner/failure.ts'
import type { Answer } from './https.ts'

interface Status {
  kind?: unknown
  message?: unknown
  details?: { causes?: { message?: unknown }[] }
}

/** Returns the JSON object of an answer, or undefined for any other text. */
export function objectOf({ text }: Answer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

/** Returns the failure that an answer means. `what` says what was asked for. */
export function refusal(what: string, answer: Answer): Failure {
  return new Failure(`${what} failed: ${reasonOf(answer)}`, passing(answer))
}

/** Reports whether an answer with this code may be another one later: the server was too busy, too slow, or failed. All others are decisions. */
export const mayPass = (code: number): boolean => code === 408 || code === 429 || code >= 500

/** Returns whether, and when, the same request may have another answer. */
export function passing({ code, headers }: Answer): { isPassing: boolean; retryAfter?: number } {
  const retryAfter = Number(headers['retry-after']?.[0])
  return { isPassing: mayPass(code), ...(Number.isSafeInteger(retryAfter) && retryAfter >= 0 && { retryAfter }) }
}

function reasonOf(answer: Answer): string {
  const { code, url, headers } = answer
  const body = objectOf(answer)
  if (body?.kind === 'Status') return statusText(body as Status, code)
  if (typeof body?.error === 'string') return `${code} ${body.error_description ?? body.error}`
  if (code >= 300 && code < 400)
    return `${url} redirects to ${headers.location?.[0] ?? 'another address'}. Give that address as url, if it is the right one`
  if (code === 403 && (body?.message === 'Forbidden' || body?.message === 'Missing Authentication Token'))
    return wrongUrl(answer)
  return `${url} answered ${code}, but not as this API does. url must be the URL of the API, which ends in /kubernetes/management`
}

/** Says that the host is right, and the path in the input `url` is wrong. */
export const wrongUrl = ({ url }: Answer): string =>
  `there is no ${url}: the stage or the path in url is wrong. It is the whole URL of the API, with its stage if there is one: https://HOST/STAGE/kubernetes/management`

function statusText({ message, details }: Status, code: number): string {
  const text = typeof message === 'string' && message !== '' ? message : 'no reason given'
  const causes = Array.isArray(details?.causes) ? details.causes : []
  const more = causes.flatMap(({ message: cause }) =>
    typeof cause === 'string' && cause !== '' && !text.includes(cause) ? [cause] : [],
  )
  const hint = code === 401 ? ['The access key is not valid any more, or belongs to another deployment'] : []
  return [`${code} ${text}`, ...more, ...hint].join('\n')
}
