/** Routes requests to the demo virtual cluster in kube-apiserver's order: authentication, authorization, handler. */

import { badRequest, methodNotAllowed, notFound, routeNotFound } from '../../../lib/engine/meta/errors/status.ts'
import { withoutTrailingSlashes } from '../../../lib/engine/meta/value/slashes.ts'
import { forbiddenFor } from '../../../lib/engine/registry/forbidden.ts'
import type { ReviewAccess } from './accessreview.ts'
import { type ClusterUser, mayDo, mayRead } from './clusteraccess.ts'
import { DISCOVERY, listOfView, tableOfView, VERSION, type View } from './clustercontent.ts'
import type { CsrApi } from './csrapi.ts'
import { CSR, type JsonMembers } from './csrobject.ts'

export interface ClusterCall {
  method: string
  /** Raw path without the query. */
  path: string
  query: URLSearchParams
  accept: string
  user: ClusterUser
  /** Reads the body; called only after authorization. */
  body(): Promise<JsonMembers>
}

export interface ClusterServices {
  csr: CsrApi
  review: ReviewAccess
  views: ReadonlyMap<string, View>
  /** Uptime of the cluster in kubectl's format. */
  age(): string
  /** RFC 3339, whole seconds. */
  time(): string
}

export interface ClusterAnswer {
  status: number
  body: object | string
}

/** Handles a request. Throws a StatusError when it is refused. */
export async function route(request: ClusterCall, services: ClusterServices): Promise<ClusterAnswer> {
  const target = targetOf(request.path)
  if (!target) return readPath(request, services)
  const verb = verbOf(request, target)
  const { group, resource, subresource, name, namespace } = target
  const full = subresource ? `${resource}/${subresource}` : resource
  const refused = await services.review(request.user, { verb, group, resource: full, name, namespace })
  if (refused !== undefined || !mayDo(request.user, { verb, group, resource: full, name }))
    throw forbiddenFor({ kind: 'resource', verb, ...target }, request.user, refused)
  if (group === CSR.group && resource === CSR.resource) return signingRequest(request, verb, target, services.csr)
  if (full === 'selfsubjectreviews' && group === 'authentication.k8s.io')
    return verb === 'create' ? selfSubjectReview(request, services) : refuse()
  const view = group === '' && subresource === '' ? services.views.get(resource) : undefined
  if (!view) throw routeNotFound()
  return show(request, verb, target, view, services)
}

interface Target {
  group: string
  resource: string
  subresource: string
  name: string
  namespace: string
}

/** Returns undefined for a path that is not a resource path. */
function targetOf(path: string): Target | undefined {
  const [prefix, ...rest] = path.split('/').filter((part) => part !== '')
  const group = prefix === 'apis' ? rest.shift() : ''
  const version = rest.shift()
  if ((prefix !== 'api' && prefix !== 'apis') || group === undefined || version !== 'v1') return undefined
  const namespaced = rest[0] === 'namespaces' && rest.length > 2
  const namespace = namespaced ? decode(rest.splice(0, 2)[1]) : ''
  const [resource, name, ...subresource] = rest
  if (resource === undefined) return undefined
  return { group, resource, name: decode(name), subresource: subresource.join('/'), namespace }
}

function decode(part: string | undefined): string {
  try {
    return decodeURIComponent(part ?? '')
  } catch {
    throw routeNotFound()
  }
}

const VERBS: Readonly<Record<string, string>> = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' }

/** Any value except false counts as true, as in kube-apiserver. */
const isWatch = (query: URLSearchParams): boolean =>
  query.has('watch') && !/^(false|0|f)$/i.test(query.get('watch') ?? '')

function verbOf({ method, query }: ClusterCall, { name }: Target): string {
  if (method === 'GET' || method === 'HEAD') return name ? 'get' : isWatch(query) ? 'watch' : 'list'
  if (method === 'DELETE' && !name) return 'deletecollection'
  return VERBS[method] ?? method.toLowerCase()
}

async function readPath({ method, path, user }: ClusterCall, { review }: ClusterServices): Promise<ClusterAnswer> {
  const trimmed = withoutTrailingSlashes(path) || '/'
  if (method !== 'GET' && method !== 'HEAD') return refuse()
  const refused = await review(user, { path: trimmed })
  if (refused !== undefined || !mayRead(user, trimmed))
    throw forbiddenFor({ kind: 'nonresource', verb: 'get', path: trimmed }, user, refused)
  if (trimmed === '/version') return { status: 200, body: VERSION }
  if (/^\/(health|live|ready)z$/.test(trimmed)) return { status: 200, body: 'ok' }
  const document = DISCOVERY.get(trimmed)
  if (!document) throw routeNotFound()
  return { status: 200, body: document }
}

const refuse = (): never => {
  throw methodNotAllowed()
}

async function signingRequest(
  { user, body, query }: ClusterCall,
  verb: string,
  { name, subresource, namespace }: Target,
  csr: CsrApi,
): Promise<ClusterAnswer> {
  if (namespace) throw routeNotFound()
  if (query.has('dryRun')) throw badRequest('this cluster has no dry runs')
  const mayApprove = (signerName: string) =>
    mayDo(user, { verb: 'approve', group: CSR.group, resource: 'signers', name: signerName })
  if (subresource === 'approval')
    return verb === 'update' ? { status: 200, body: csr.approve(name, await body(), mayApprove) } : refuse()
  if (subresource !== '') throw routeNotFound()
  if (verb === 'create' && !name) {
    const requester = { username: user.name, groups: user.groups, ...(user.uid !== undefined && { uid: user.uid }) }
    return { status: 201, body: await csr.create(await body(), requester) }
  }
  if (verb === 'get') return { status: 200, body: csr.get(name) }
  if (verb === 'list') return { status: 200, body: csr.list() }
  if (verb === 'delete') return { status: 200, body: csr.remove(name, await body()) }
  return refuse()
}

/** Ignores the body, which carries no information and which kubectl sends as protobuf. */
function selfSubjectReview({ user: { name, uid, groups } }: ClusterCall, services: ClusterServices): ClusterAnswer {
  const userInfo = { username: name, ...(uid !== undefined && { uid }), groups }
  return {
    status: 201,
    body: {
      kind: 'SelfSubjectReview',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: { creationTimestamp: services.time() },
      status: { userInfo },
    },
  }
}

function show(
  { accept }: ClusterCall,
  verb: string,
  { resource, name, namespace }: Target,
  view: View,
  { age }: ClusterServices,
): ClusterAnswer {
  const objects = view.objects.filter(
    ({ object: { metadata } }) =>
      (name === '' || metadata.name === name) && (namespace === '' || metadata.namespace === namespace),
  )
  const found = { ...view, objects }
  if (verb === 'get' && objects.length === 0) throw notFound({ group: '', resource }, name)
  if (verb !== 'get' && verb !== 'list') return refuse()
  const ranges = accept.split(',').map((range) => range.trim().split(';'))
  if (ranges.some(([type, ...parameters]) => type === 'application/json' && parameters.includes('as=Table')))
    return { status: 200, body: tableOfView(found, age()) }
  const [first] = objects
  return { status: 200, body: verb === 'get' && first ? first.object : listOfView(found) }
}
