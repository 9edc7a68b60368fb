/** Asks about values that were found, and reports them. */
import type { KeyLookup } from '../../../core/src/objects.ts'
import type { Api } from './client.ts'
import { paths } from './paths.ts'
import { sendJson } from './request.ts'
import { ApiError } from './status.ts'

/**
 * Reports a value, with where it was found. Possession is the proof, so the request has no access key. The answer does not say whose it was. Throws an ApiError or a
 * NetworkError.
 */
export async function reportLeak(root: URL, value: string, url: string): Promise<void> {
  const { status, answer } = await sendJson(new URL('leaks', root), {
    credentials: [value],
    ...(url !== '' && { url }),
  })
  if (status !== 202) throw new ApiError(status, answer)
}

/** Returns which key has or had the value. It is empty for a key that the person may not see. */
export async function lookUp(api: Api, key: string, signal?: AbortSignal): Promise<KeyLookup> {
  const call = { method: 'POST', body: { spec: { key } }, ...(signal && { signal }) } as const
  const { status = {} } = await api.send<{ status?: KeyLookup }>(paths.lookups, call)
  return status
}
