/** Reports a leaked value. Possession is the proof, so the request has no access key. */
import { sendJson } from './sendform.ts'
import { ApiError } from './status.ts'

/** Reports a value, with where it was found. The answer does not say whose it was. Throws an ApiError or a NetworkError. */
export async function reportLeak(root: URL, value: string, url: string): Promise<void> {
  const { status, answer } = await sendJson(new URL('leaks', root), {
    credentials: [value],
    ...(url !== '' && { url }),
  })
  if (status !== 202) throw new ApiError(status, answer)
}
