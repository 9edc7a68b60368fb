/** Serves the OpenAPI documents to authenticated users. */

import { routeNotFound } from '../../meta/errors/status.ts'
import { own } from '../../meta/value/walk.ts'
import { negotiateOpenApiV2 } from '../negotiation/accept.ts'
import { type ApiRequest, type ApiResponse, queryValue } from '../request.ts'
import { respondCached } from './cached.ts'

/** The documents, as `documents/openapi.ts` makes them. A hash is that of the text. */
export interface OpenApiDocuments {
  /** The document at /openapi/v3. */
  index: string
  /** The documents below it by path. */
  documents: Readonly<Record<string, { text: string; hash: string }>>
  /** The document at /openapi/v2. `protobuf` has a character for each byte. */
  v2: { text: string; protobuf: string; hash: string }
}

const yearSeconds = 365 * 24 * 3600

const protobufType = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'

/** Returns the OpenAPI v2 document. JSON and protobuf have different tags. */
function openApiV2Document(request: ApiRequest, { text, protobuf, hash }: OpenApiDocuments['v2']): ApiResponse {
  if (negotiateOpenApiV2(request.headers) === 'json')
    return respondCached(request, `"${hash}"`, { 'content-type': 'application/json' }, text)
  const body = Buffer.from(protobuf, 'latin1')
  return respondCached(request, `"${hash}-protobuf"`, { 'content-type': protobufType }, body)
}

/** Answers a GET below /openapi. Throws 404 for other documents. */
export async function answerOpenApi(
  { index, documents, v2 }: OpenApiDocuments,
  request: ApiRequest,
): Promise<ApiResponse> {
  const { path } = request
  if (path === '/openapi/v2') return openApiV2Document(request, v2)
  const json = { 'content-type': 'application/json', vary: 'Accept' }
  if (path === '/openapi/v3') return { status: 200, headers: json, warnings: [], body: index }
  const found = own(documents, path.slice('/openapi/v3/'.length))
  if (!found) throw routeNotFound()
  const asked = queryValue(request.query, 'hash')
  const etag = `"${found.hash}"`
  if (asked && asked !== found.hash) {
    // A relative location, because a gateway may serve the API under another path.
    return { status: 301, headers: { location: `?hash=${found.hash}`, etag, ...json }, warnings: [], body: '' }
  }
  const forever = {
    'cache-control': 'public, immutable',
    expires: new Date(request.now.getTime() + yearSeconds * 1000).toUTCString(),
  }
  return respondCached(request, etag, { ...json, ...(asked && forever) }, found.text)
}
