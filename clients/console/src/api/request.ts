/** Sends requests without an access key to the public endpoints of the API. */
import { objectIn, retryAfterIn } from '../../../core/src/answers.ts'
import { NetworkError } from './status.ts'

/** The members of a JSON object; none for everything else. */
export type Answer = Readonly<Record<string, unknown>>

export const LIMIT_MS = 30_000

/** Keeps requests out of caches, and says nothing of the person to whom they go. */
export const PRIVATE = {
  cache: 'no-store',
  credentials: 'omit',
  redirect: 'error',
  referrerPolicy: 'no-referrer',
} as const

export interface PublicAnswer {
  status: number
  answer: Answer
  /** Seconds. */
  retryAfter: number | undefined
}

/** Sends a form; with `keepalive` even while the page is being closed. Throws a NetworkError if there is no answer. */
export const sendForm = (url: URL, form: string | Record<string, string>, keepalive = false): Promise<PublicAnswer> =>
  post(url, { body: new URLSearchParams(form), keepalive })

/** Sends JSON. Throws a NetworkError if there is no answer. */
export const sendJson = (url: URL, value: object): Promise<PublicAnswer> =>
  post(url, { body: JSON.stringify(value), headers: { 'content-type': 'application/json' } })

async function post(url: URL, { headers, ...more }: RequestInit): Promise<PublicAnswer> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { accept: 'application/json', ...headers },
      ...PRIVATE,
      signal: AbortSignal.timeout(LIMIT_MS),
      ...more,
    })
    const answer = objectIn(await response.text()) ?? {}
    return { status: response.status, answer, retryAfter: retryAfterIn(response.headers.get('retry-after')) }
  } catch (error) {
    throw new NetworkError(error)
  }
}
