/** Sends requests without an access key: to an identity provider, and to the public endpoints of the API. */

/** The members of a JSON object; none for everything else. */
export type Answer = Readonly<Record<string, unknown>>

const LIMIT_MS = 30_000

/** Sends a form, or GET without one. Throws if no answer comes. `keepalive`: even while the page is being closed. */
export async function askJSON(
  url: URL,
  form?: Record<string, string>,
  { keepalive = false }: { keepalive?: boolean } = {},
): Promise<{ status: number; answer: Answer }> {
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
  return { status: response.status, answer: objectOf(await response.text()) }
}

function objectOf(text: string): Answer {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Answer) : {}
  } catch {
    return {}
  }
}
