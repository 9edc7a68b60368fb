/** Sends requests to the API with the access key of the session. */
import { objectIn, type Status } from '../../../core/src/answers.ts'
import { warningsIn } from '../../../core/src/warnings.ts'
import { request } from './request.ts'
import { ApiError } from './status.ts'

export interface Call {
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** With PATCH, a list is sent as a JSON patch, and an object as a merge patch. Otherwise sent as JSON. */
  body?: object
  dryRun?: boolean
  signal?: AbortSignal
  /** Called with the texts of the Warning headers of the answer, which the person is not told then. */
  onWarnings?(texts: readonly string[]): void
}

export interface Api {
  /**
   * Sends a request to a path below the API, such as `apis/management.platform/v1/ownedaccesskeys`. Throws an ApiError for a
   * refusal, a NetworkError without an answer, and an AbortError after `signal`.
   */
  send<T>(path: string, call?: Call): Promise<T>
}

export interface ApiSettings {
  /** URL of the API, with a slash at its end. */
  root: URL
  key: string
  /** Called with the message of a 401: the key is no longer valid. */
  onEnd?(message: string): void
  /** Called with the time of the server in milliseconds, in whole seconds. */
  onTime?(time: number): void
  /** Called with the texts of the Warning headers of an answer, and whether the request only read. */
  onWarnings?(texts: readonly string[], isRead: boolean): void
}

export function createApi({ root, key, onEnd, onTime, onWarnings }: ApiSettings): Api {
  return {
    async send(path, { method = 'GET', body, dryRun = false, signal, onWarnings: take = onWarnings } = {}) {
      const url = new URL(path, root)
      if (dryRun) url.searchParams.set('dryRun', 'All')
      const { response, text } = await request(url, {
        method,
        headers: {
          accept: 'application/json',
          authorization: `Bearer ${key}`,
          ...(body && { 'content-type': typeOf(method, body) }),
        },
        ...(body && { body: JSON.stringify(body) }),
        ...(signal && { signal }),
      })
      const answer = objectIn(text)
      const time = Date.parse(response.headers.get('date') ?? '')
      if (!Number.isNaN(time)) onTime?.(time)
      take?.(warningsIn([response.headers.get('warning') ?? '']), method === 'GET')
      if (response.ok && answer !== undefined) return answer as never
      const status = (answer ?? {}) as Partial<Status>
      if (response.status === 401) onEnd?.(status.message ?? '')
      throw new ApiError(response.status, status)
    },
  }
}

function typeOf(method: string, body: object): string {
  if (method !== 'PATCH') return 'application/json'
  return Array.isArray(body) ? 'application/json-patch+json' : 'application/merge-patch+json'
}
