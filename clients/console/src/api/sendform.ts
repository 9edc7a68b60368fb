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

export interface FormAnswer {
  status: number
  answer: Answer
  /** Seconds. */
  retryAfter: number | undefined
}

/** Sends a form; with `keepalive` even while the page is being closed. Throws a NetworkError if there is no answer. */
export async function sendForm(
  url: URL,
  form: string | Record<string, string>,
  keepalive = false,
): Promise<FormAnswer> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      body: new URLSearchParams(form),
      headers: { accept: 'application/json' },
      ...PRIVATE,
      signal: AbortSignal.timeout(LIMIT_MS),
      keepalive,
    })
    const answer = objectIn(await response.text()) ?? {}
    return { status: response.status, answer, retryAfter: retryAfterIn(response.headers.get('retry-after')) }
  } catch (error) {
    throw new NetworkError(error)
  }
}
