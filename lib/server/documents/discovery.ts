/** Serves discovery to authenticated users, and single namespaces, which are not stored. */

import { Namespace, namespaceObject } from '../../clusters/namespace.ts'
import { type DiscoveryOutput, negotiate, negotiateDiscovery } from '../../engine/endpoints/negotiation/accept.ts'
import type { ApiRequest, ApiResponse } from '../../engine/endpoints/request.ts'
import { encodeBody, respond, respondObject } from '../../engine/endpoints/respond.ts'
import { notFound, routeNotFound } from '../../engine/meta/errors/status.ts'
import { dnsLabelErrors } from '../../engine/meta/object/names.ts'
import type { JsonObject } from '../../engine/meta/types.ts'
import { own } from '../../engine/meta/value/walk.ts'
import { groupResource } from '../../engine/registry/kind.ts'
import type { Endpoint } from '../lambda/serve.ts'
import { respondCached } from './cached.ts'
import { CustomResourceDefinition, definitionsPath } from './customresourcedefinition.ts'

/** An aggregated document, and its tag. */
interface Aggregated {
  value: JsonObject
  etag: string
}

/** The documents that depend on the kinds alone, which the build makes (infra/made/discovery.ts). */
interface DiscoveryDocuments {
  /** The plain documents at /apis and below, and below /api, by path. */
  documents: Readonly<Record<string, JsonObject>>
  aggregated: Readonly<Record<'/api' | '/apis', Readonly<Record<DiscoveryOutput['version'], Aggregated>>>>
}

/** Returns the document at /api. */
function coreVersions(serverAddress: string): JsonObject {
  return {
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  }
}

async function respondAggregated(
  request: ApiRequest,
  aggregated: DiscoveryDocuments['aggregated']['/api'],
  output: DiscoveryOutput,
): Promise<ApiResponse> {
  const { version, mediaType } = output
  const { value, etag } = aggregated[version]
  const contentType = `${mediaType};g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`
  const headers = { 'cache-control': 'public', 'content-type': contentType }
  return respondCached(request, etag, headers, await encodeBody(value, output))
}

const namespacesPath = `/api/v1/${Namespace.plural}/`

/** Returns the Namespace of the name in the path, which exists if the name is valid. Throws 404. */
function answerNamespace(request: ApiRequest, issuer: string): Promise<ApiResponse> {
  const name = request.path.slice(namespacesPath.length)
  if (dnsLabelErrors(name).length > 0) throw notFound(groupResource(Namespace), name)
  return respondObject(request, Namespace, namespaceObject(name, issuer), negotiate(request), 200, [])
}

/** Returns the endpoint for GET below /api and /apis, except for the resources of this API. */
export const discoveryEndpoint =
  ({ aggregated, documents }: DiscoveryDocuments): Endpoint =>
  async (request, server) => {
    const { path } = request
    if (path === '/api' || path === '/apis') {
      const output = negotiateDiscovery(request)
      if (output) return respondAggregated(request, aggregated[path], output)
    }
    if (path.startsWith(`${definitionsPath}/`)) {
      throw notFound(groupResource(CustomResourceDefinition), path.slice(definitionsPath.length + 1))
    }
    if (path.startsWith(namespacesPath)) return answerNamespace(request, server.config.issuer)
    const found = path === '/api' ? coreVersions(new URL(server.config.issuer).host) : own(documents, path)
    if (!found) throw routeNotFound()
    return respond(200, found, negotiate(request, { transformable: false }))
  }
