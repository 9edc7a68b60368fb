/** Answers with documents that clients cache. */
import type { ApiRequest, ApiResponse } from '../../endpoints/request.ts'

/** Reports whether If-None-Match (RFC 9110) contains the tag or `*`. */
function isKnown({ headers }: ApiRequest, etag: string): boolean {
  const tags = (headers['if-none-match'] ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags.includes(etag) || tags.includes('*')
}

/** Returns a document that clients cache, or 304 if they have it already. */
export function respondCached(
  request: ApiRequest,
  etag: string,
  headers: Record<string, string>,
  body: string | Uint8Array,
): ApiResponse {
  // Send the type in a 304 too: API Gateway would send application/json, and clients would update their cache with it.
  const known = isKnown(request, etag)
  return {
    status: known ? 304 : 200,
    headers: { etag, vary: 'Accept', ...headers },
    warnings: [],
    body: known ? '' : body,
  }
}
