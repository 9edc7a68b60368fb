/** Serves documents to authenticated users: discovery, OpenAPI and single namespaces, which are not stored. */
import { CustomResourceDefinition, definitionsPath } from '../../apis/apiextensions/v1/customresourcedefinition.ts'
import { Namespace, namespaceObject } from '../../apis/core/v1/namespace.ts'
import { kinds } from '../../apis/index.ts'
import {
  aggregatedGroups,
  apiGroup,
  apiGroupList,
  apiResourceList,
  coreVersions,
  verbsOf,
} from '../../endpoints/discovery.ts'
import {
  type DiscoveryOutput,
  negotiate,
  negotiateDiscovery,
  negotiateOpenApiV2,
} from '../../endpoints/negotiation/accept.ts'
import { type ApiRequest, type ApiResponse, queryValue } from '../../endpoints/request.ts'
import { encodeBody, respond, respondObject } from '../../endpoints/respond.ts'
import { stringify } from '../../meta/encoding/json.ts'
import { notFound, routeNotFound } from '../../meta/errors/status.ts'
import { dnsLabelErrors } from '../../meta/object/names.ts'
import type { JsonObject } from '../../meta/types.ts'
import { etagOf } from '../../openapi/etag.ts'
import { openApi } from '../../openapi/openapi.ts'
import { openApiV2 } from '../../openapi/v2.ts'
import { groupResource, type ServedKind } from '../../registry/kind.ts'
import type { Endpoint } from '../lambda/serve.ts'
import { lazy } from '../process/lazy.ts'

/** The kinds that discovery lists at /apis and at /api. */
const listed: readonly ServedKind[] = [...kinds, CustomResourceDefinition]
const core: readonly ServedKind[] = [Namespace]

const plain = (request: ApiRequest, value: JsonObject): Promise<ApiResponse> =>
  respond(200, value, negotiate(request, { transformable: false }))

/** Reports whether If-None-Match (RFC 9110) contains the tag or `*`. */
function isKnown({ headers }: ApiRequest, etag: string): boolean {
  const tags = (headers['if-none-match'] ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags.includes(etag) || tags.includes('*')
}

/** Returns a document that clients cache, or 304 if they have it already. */
function respondCached(
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

async function respondAggregated(request: ApiRequest, path: string, output: DiscoveryOutput): Promise<ApiResponse> {
  const { version, mediaType } = output
  const value = aggregatedGroups(path === '/api' ? core : listed, version)
  const contentType = `${mediaType};g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`
  const headers = { 'cache-control': 'public', 'content-type': contentType }
  return respondCached(request, etagOf(stringify(value)), headers, await encodeBody(value, output))
}

/** Returns the document at a path that starts with /api or /apis, or undefined if there is none. */
function document(path: string, serverAddress: string): JsonObject | undefined {
  const [root, group, version, more] = path.split('/').slice(1)
  if (more !== undefined) return undefined
  if (root === 'api') {
    if (group === undefined) return coreVersions(serverAddress)
    return version === undefined ? apiResourceList(core, '', group) : undefined
  }
  if (group === undefined) return apiGroupList(listed)
  return version === undefined ? apiGroup(listed, group) : apiResourceList(listed, group, version)
}

const namespacesPath = `/api/v1/${Namespace.plural}/`

/** Returns the Namespace of the name in the path, which exists if the name is valid. Throws 404. */
function answerNamespace(request: ApiRequest, issuer: string): Promise<ApiResponse> {
  const name = request.path.slice(namespacesPath.length)
  if (dnsLabelErrors(name).length > 0) throw notFound(groupResource(Namespace), name)
  return respondObject(request, Namespace, namespaceObject(name, issuer), negotiate(request), 200, [])
}

/** Serves GET below /api and /apis, except for the resources of this API. */
export const answerDiscovery: Endpoint = async (request, server) => {
  const { path } = request
  if (path === '/api' || path === '/apis') {
    const output = negotiateDiscovery(request)
    if (output) return respondAggregated(request, path, output)
  }
  if (path.startsWith(`${definitionsPath}/`)) {
    throw notFound(groupResource(CustomResourceDefinition), path.slice(definitionsPath.length + 1))
  }
  if (path.startsWith(namespacesPath)) return answerNamespace(request, server.config.issuer)
  const found = document(path, new URL(server.config.issuer).host)
  if (!found) throw routeNotFound()
  return plain(request, found)
}

const openApiKinds = [...core, ...listed].map((kind) => ({ ...kind, verbs: verbsOf(kind) }))
const info = {
  title: 'keyplane',
  version: 'v1',
  license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
}

let documents: ReturnType<typeof openApi> | undefined
const openApiV2Of = lazy(() => openApiV2(openApiKinds, info))

const yearSeconds = 365 * 24 * 3600

const protobufType = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'

/** Returns the OpenAPI v2 document. JSON and protobuf have different tags. */
function openApiV2Document(request: ApiRequest): ApiResponse {
  const { text, protobuf, hash } = openApiV2Of()
  if (negotiateOpenApiV2(request.headers) === 'json')
    return respondCached(request, `"${hash}"`, { 'content-type': 'application/json' }, text)
  return respondCached(request, `"${hash}-protobuf"`, { 'content-type': protobufType }, protobuf)
}

/** Serves GET below /openapi. */
export const answerOpenApi: Endpoint = async (request) => {
  const { path } = request
  if (path === '/openapi/v2') return openApiV2Document(request)
  documents ??= openApi(openApiKinds, info)
  const json = { 'content-type': 'application/json', vary: 'Accept' }
  if (path === '/openapi/v3') return { status: 200, headers: json, warnings: [], body: documents.index }
  const found = documents.documents.get(path.slice('/openapi/v3/'.length))
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
