/** Serves the documents of discovery, plain and aggregated. */
import { routeNotFound } from '../../meta/errors/status.ts'
import type { JsonObject } from '../../meta/types.ts'
import { own } from '../../meta/value/walk.ts'
import { type DiscoveryOutput, negotiate, negotiateDiscovery } from '../negotiation/accept.ts'
import type { ApiRequest, ApiResponse } from '../request.ts'
import { encodeBody, respond } from '../respond.ts'
import { respondCached } from './cached.ts'

/** The aggregated document of a path in each version, with its tag. */
export type Aggregated = Readonly<Record<DiscoveryOutput['version'], { value: JsonObject; etag: string }>>

/** The documents that depend on the kinds alone, as `documents/discovery.ts` makes them. */
export interface DiscoveryDocuments {
  /** The plain documents by path. */
  documents: Readonly<Record<string, JsonObject>>
  aggregated: Readonly<Record<'/api' | '/apis', Aggregated>>
}

async function respondAggregated(
  request: ApiRequest,
  aggregated: Aggregated,
  output: DiscoveryOutput,
): Promise<ApiResponse> {
  const { version, mediaType } = output
  const { value, etag } = aggregated[version]
  const contentType = `${mediaType};g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`
  const headers = { 'cache-control': 'public', 'content-type': contentType }
  return respondCached(request, etag, headers, await encodeBody(value, output))
}

/** Answers a GET of a document at or below /api and /apis. Throws 404 for other paths. */
export async function answerDiscovery(
  { documents, aggregated }: DiscoveryDocuments,
  request: ApiRequest,
): Promise<ApiResponse> {
  const { path } = request
  if (path === '/api' || path === '/apis') {
    const output = negotiateDiscovery(request)
    if (output) return respondAggregated(request, aggregated[path], output)
  }
  const found = own(documents, path)
  if (!found) throw routeNotFound()
  return respond(200, found, negotiate(request, { transformable: false }))
}
