/** Sends requests without an access key: to an identity provider, and to the public endpoints of the API. */
import { objectIn, retryAfterIn } from '../../../core/src/answers.ts'

/** The members of a JSON object; none for everything else. */
export type Answer = Readonly<Record<string, unknown>>

const LIMIT_MS = 30_000

/**
 * Sends a form, or GET without one. Throws if no answer comes. `retryAfter` is in seconds. `keepalive`: even while the page is being closed.
 */
export async function askJSON(
  url: URL,
  form?: Record<string, string> | string,
  { keepalive = false }: { keepalive?: boolean } = {},
): Promise<{ status: number; answer: Answer; retryAfter?: number }> {
  const response = await fetch(url, {
    ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    headers: { accept: 'application/json' },
    cache: 'no-store',
    credentials: 'omit',
    redirect: 'error',
    referrerPolicy: 'no-referrer',
    signal: AbortSignal.timeout(LIMIT_MS),
    keepalive,
  })
  const retryAfter = retryAfterIn(response.headers.get('retry-after'))
  const answer = objectIn(await response.text()) ?? {}
  return { status: response.status, answer, ...(retryAfter !== undefined && { retryAfter }) }
}
