/** Serves discovery to authenticated users, and single namespaces, which are not stored. */
import { Namespace, namespaceObject } from '../../clusters/namespace.ts'
import { answerDiscovery, type DiscoveryDocuments } from '../../engine/endpoints/discovery/discovery.ts'
import { negotiate } from '../../engine/endpoints/negotiation/accept.ts'
import type { ApiRequest, ApiResponse } from '../../engine/endpoints/request.ts'
import { respondObject } from '../../engine/endpoints/respond.ts'
import { notFound } from '../../engine/meta/errors/status.ts'
import { dnsLabelErrors } from '../../engine/meta/object/names.ts'
import type { JsonObject } from '../../engine/meta/types.ts'
import { groupResource } from '../../engine/registry/kind.ts'
import type { Endpoint } from '../lambda/serve.ts'
import { CustomResourceDefinition, definitionsPath } from './customresourcedefinition.ts'

/** Returns the document at /api. */
function coreVersions(serverAddress: string): JsonObject {
  return {
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  }
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
    if (path.startsWith(`${definitionsPath}/`)) {
      throw notFound(groupResource(CustomResourceDefinition), path.slice(definitionsPath.length + 1))
    }
    if (path.startsWith(namespacesPath)) return answerNamespace(request, server.config.issuer)
    const plain = path === '/api' ? { '/api': coreVersions(new URL(server.config.issuer).host) } : documents
    return answerDiscovery({ aggregated, documents: plain }, request)
  }
