/** Turns answers that are not what was asked for into words. */
import {
  causesOf,
  isStatus,
  isUnknownPath,
  mayPass,
  messageOf,
  objectIn,
  retryAfterIn,
  type Status,
} from '../../../core/src/answers.ts'
import { Failure } from '../runner/failure.ts'
import type { Answer } from './https.ts'

/** Returns the JSON object of an answer, or undefined for any other text. */
export const objectOf = ({ text }: Answer): Record<string, unknown> | undefined => objectIn(text)

/** Returns the failure that an answer means. `what` says what was asked for. */
export function refusal(what: string, answer: Answer): Failure {
  return new Failure(`${what} failed: ${reasonOf(answer)}`, passing(answer))
}

/** Returns whether, and when, the same request may have another answer. */
export function passing({ code, headers }: Answer): { isPassing: boolean; retryAfter?: number } {
  const retryAfter = retryAfterIn(headers['retry-after']?.[0])
  return { isPassing: mayPass(code), ...(retryAfter !== undefined && { retryAfter }) }
}

function reasonOf(answer: Answer): string {
  const { code, url, headers } = answer
  const body = objectOf(answer)
  if (isStatus(body)) return statusText(body, code)
  if (typeof body?.error === 'string') return `${code} ${body.error_description ?? body.error}`
  if (code >= 300 && code < 400)
    return `${url} redirects to ${headers.location?.[0] ?? 'another address'}. Give that address as url, if it is the right one`
  if (isUnknownPath(code, body)) return wrongUrl(answer)
  return `${url} answered ${code}, but not as this API does. url must be the URL of the API, which ends in /kubernetes/management`
}

/** Says that the host is right, and the path in the input `url` is wrong. */
export const wrongUrl = ({ url }: Answer): string =>
  `there is no ${url}: the stage or the path in url is wrong. It is the whole URL of the API, with its stage if there is one: https://HOST/STAGE/kubernetes/management`

function statusText(status: Status, code: number): string {
  const text = messageOf(status) ?? 'no reason given'
  const hint = code === 401 ? ['The access key is no longer valid, or belongs to another deployment'] : []
  return [`${code} ${text}`, ...causesOf(status, text), ...hint].join('\n')
}
