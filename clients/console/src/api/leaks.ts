/** Reports a leaked value. Possession is the proof, so the request has no access key. */
import { objectIn } from '../../../core/src/answers.ts'
import { LIMIT_MS, PRIVATE } from './sendform.ts'
import { ApiError, NetworkError } from './status.ts'

/** Reports a value, with where it was found. The answer does not say whose it was. Throws an ApiError or a NetworkError. */
export async function reportLeak(root: URL, value: string, url: string): Promise<void> {
  const { status, text } = await send(new URL('leaks', root), { credentials: [value], ...(url !== '' && { url }) })
  if (status !== 202) throw new ApiError(status, objectIn(text) ?? {})
}

async function send(url: URL, body: object): Promise<{ status: number; text: string }> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      ...PRIVATE,
      signal: AbortSignal.timeout(LIMIT_MS),
    })
    return { status: response.status, text: await response.text() }
  } catch (error) {
    throw new NetworkError(error)
  }
}
