/** The functions that serve documents to authenticated users: discovery, OpenAPI and the namespaces that are no objects. */
import { kinds } from '../apis/index.ts'
import {
  aggregatedCore,
  aggregatedGroups,
  aggregatedVersion,
  apiGroup,
  apiGroupList,
  apiResourceList,
  coreResourceList,
  coreVersions,
  etagOf,
  namespaceList,
  namespaceObject,
  verbsOf,
} from '../endpoints/discovery.ts'
import { negotiate } from '../endpoints/negotiation.ts'
import { openApi } from '../endpoints/openapi.ts'
import { type ApiRequest, type ApiResponse, first } from '../endpoints/request.ts'
import { encode, respond, respondStatus } from '../endpoints/respond.ts'
import { routeNotFound } from '../meta/errors.ts'
import { dnsLabelErrors } from '../meta/names.ts'
import type { JsonObject } from '../meta/types.ts'
import type { Endpoint } from './handler.ts'
import type { Server } from './services.ts'

/** The path below the base, without a closing slash. */
const below = ({ path }: ApiRequest, { config }: Server): string => {
  const at = path.indexOf(config.basePath)
  return (at < 0 ? path : path.slice(at + config.basePath.length)).replace(/\/+$/, '') || '/'
}

const plain = (request: ApiRequest, value: JsonObject): Promise<ApiResponse> =>
  respond(200, value, negotiate(request.headers, first(request.query, 'pretty'), { transformable: false }))

/** A document that clients keep: 304 when they have it already. */
async function kept(request: ApiRequest, value: JsonObject, version: string): Promise<ApiResponse> {
  const body = await encode(value, { mediaType: 'application/json', pretty: false })
  const etag = etagOf(body)
  // In a 304 too: API Gateway would call it application/json, and clients take that over for the document they keep.
  const contentType = `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`
  const headers = { etag, vary: 'Accept', 'cache-control': 'public', 'content-type': contentType }
  if (request.headers['if-none-match'] === etag) return { status: 304, headers, warnings: [], body: '' }
  return { status: 200, headers, warnings: [], body }
}

function document(path: string, serverAddress: string): JsonObject | undefined {
  const [root, group, version, name] = path.split('/').slice(1)
  if (root === 'api') {
    if (group === undefined) return coreVersions(serverAddress)
    if (group !== 'v1') return undefined
    if (version === undefined) return coreResourceList()
    if (version !== 'namespaces') return undefined
    if (name === undefined) return namespaceList()
    return dnsLabelErrors(name).length === 0 ? namespaceObject(name) : undefined
  }
  if (group === undefined) return apiGroupList(kinds)
  return version === undefined ? apiGroup(kinds, group) : apiResourceList(kinds, group, version)
}

/** GET below /api and /apis, as far as it is no resource of ours. */
export const discovery: Endpoint = async (request, server) => {
  const path = below(request, server)
  const aggregated = path === '/api' || path === '/apis' ? aggregatedVersion(request.headers.accept ?? '') : undefined
  if (aggregated) {
    return kept(request, path === '/api' ? aggregatedCore(aggregated) : aggregatedGroups(kinds, aggregated), aggregated)
  }
  const found = document(path, new URL(server.config.issuer).host)
  return found ? plain(request, found) : respondStatus(routeNotFound().status, undefined)
}

const openApiOf = (server: Server) =>
  openApi(
    kinds.map((kind) => ({ ...kind, verbs: verbsOf(kind) })),
    { title: 'keyplane', version: 'v1' },
    server.config.basePath,
  )

let documents: ReturnType<typeof openApi> | undefined

const yearSeconds = 365 * 24 * 3600

/** GET below /openapi. v2 is an empty document in protobuf: what kubectl needs to accept kinds that are created only. */
export const openApiDocuments: Endpoint = async (request, server) => {
  documents ??= openApiOf(server)
  const path = below(request, server)
  const json = { 'content-type': 'application/json', vary: 'Accept' }
  if (path === '/openapi/v2') {
    const type = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'
    return { status: 200, headers: { 'content-type': type }, warnings: [], body: '' }
  }
  if (path === '/openapi/v3') return { status: 200, headers: json, warnings: [], body: documents.index }
  const found = documents.documents.get(path.slice('/openapi/v3/'.length))
  if (!found) return respondStatus(routeNotFound().status, undefined)
  const asked = first(request.query, 'hash')
  if (asked !== undefined && asked !== found.hash) {
    const location = `${server.config.basePath}${path}?hash=${found.hash}`
    return { status: 301, headers: { location }, warnings: [], body: '' }
  }
  const forever = {
    etag: `"${found.hash}"`,
    'cache-control': 'public, immutable',
    expires: new Date(request.now.getTime() + yearSeconds * 1000).toUTCString(),
  }
  return { status: 200, headers: { ...json, ...(asked && forever) }, warnings: [], body: found.text }
}
