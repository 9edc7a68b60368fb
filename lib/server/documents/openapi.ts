/** Serves the OpenAPI documents to authenticated users. */
import { negotiateOpenApiV2 } from '../../endpoints/negotiation/accept.ts'
import { type ApiRequest, type ApiResponse, queryValue } from '../../endpoints/request.ts'
import { routeNotFound } from '../../meta/errors/status.ts'
import { own } from '../../meta/value/walk.ts'
import type { Endpoint } from '../lambda/serve.ts'
import { respondCached } from './cached.ts'
import { documents, index, v2 } from './openapi.built.ts'

const yearSeconds = 365 * 24 * 3600

const protobufType = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'

/** Returns the OpenAPI v2 document. JSON and protobuf have different tags. */
function openApiV2Document(request: ApiRequest): ApiResponse {
  const { text, protobuf, hash } = v2
  if (negotiateOpenApiV2(request.headers) === 'json')
    return respondCached(request, `"${hash}"`, { 'content-type': 'application/json' }, text)
  const body = Buffer.from(protobuf, 'latin1')
  return respondCached(request, `"${hash}-protobuf"`, { 'content-type': protobufType }, body)
}

/** Serves GET below /openapi. */
export const answerOpenApi: Endpoint = async (request) => {
  const { path } = request
  if (path === '/openapi/v2') return openApiV2Document(request)
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
