/** Answers with documents that clients cache. */
import type { ApiRequest, ApiResponse } from '../request.ts'

/** Returns a document that clients cache, or 304 if If-None-Match (RFC 9110) says that they have it already. */
export function respondCached(
  request: ApiRequest,
  etag: string,
  headers: Record<string, string>,
  body: string | Uint8Array,
): ApiResponse {
  const tags = (request.headers['if-none-match'] ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  const isKnown = tags.includes(etag) || tags.includes('*')
  // Send the type in a 304 too: API Gateway would send application/json, and clients would update their cache with it.
  return {
    status: isKnown ? 304 : 200,
    headers: { etag, vary: 'Accept', ...headers },
    warnings: [],
    body: isKnown ? '' : body,
  }
}
