/** Sends requests: to the API, and without an access key to its public endpoints. */
import { objectIn, retryAfterIn } from '../../../core/src/answers.ts'
import { NetworkError } from './status.ts'

/** The members of a JSON object; none for everything else. */
export type Answer = Readonly<Record<string, unknown>>

const LIMIT_MS = 30_000

/** Keeps requests out of caches, and says nothing of the person to whom they go. */
const PRIVATE = { cache: 'no-store', credentials: 'omit', redirect: 'error', referrerPolicy: 'no-referrer' } as const

/** Sends a request that has a time limit. Rejects as `fetch` does. */
export const fetchPrivately = (url: URL | string, { signal, ...more }: RequestInit): Promise<Response> => {
  const limit = AbortSignal.timeout(LIMIT_MS)
  return fetch(url, { ...more, ...PRIVATE, signal: signal ? AbortSignal.any([signal, limit]) : limit })
}

/** Returns the answer with its text. Throws a NetworkError if there is none, and an AbortError if the caller ended the request. */
export async function request(url: URL, more: RequestInit): Promise<{ response: Response; text: string }> {
  try {
    const response = await fetchPrivately(url, more)
    return { response, text: await response.text() }
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw new NetworkError(error)
  }
}

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
  const { response, text } = await request(url, {
    method: 'POST',
    headers: { accept: 'application/json', ...headers },
    ...more,
  })
  const retryAfter = retryAfterIn(response.headers.get('retry-after'))
  return { status: response.status, answer: objectIn(text) ?? {}, retryAfter }
}
