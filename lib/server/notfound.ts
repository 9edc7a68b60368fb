/**
 * Routes that no other function serves: what kube-apiserver says of custom resources there, 405 where a document is
 * written, else 404. Unknown resources of this API's own version get the plain text with which kube-apiserver answers
 * for custom resources, all else a Status.
 */
import { kinds } from '../apis/index.ts'
import { OwnedAccessKey } from '../apis/management/v1/ownedaccesskey.ts'
import { patchType } from '../endpoints/bodies.ts'
import { negotiateStatus } from '../endpoints/negotiation.ts'
import { first } from '../endpoints/request.ts'
import { pageNotFound, respondStatus } from '../endpoints/respond.ts'
import {
  badRequest,
  methodNotAllowed,
  methodNotSupported,
  notFound as objectNotFound,
  routeNotFound,
  StatusError,
} from '../meta/errors.ts'
import { groupVersion } from '../meta/groupversion.ts'
import { groupResource } from '../registry/kind.ts'
import { isDocument } from './documents.ts'
import type { Endpoint } from './handler.ts'

const verbs: Readonly<Record<string, string>> = {
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
  GET: 'get',
}

type Headers = Readonly<Record<string, string>>

/** Throws what is wrong with a request below a group version that is served, unless there is no such resource. */
function refuse(groupVersionText: string, steps: readonly string[], method: string, headers: Headers): void {
  const namespaced = steps[0] === 'namespaces' && steps.length > 2
  const [plural, name, subresource, more] = namespaced ? steps.slice(2) : steps
  const own = kinds.filter((kind) => groupVersion(kind) === groupVersionText && kind.plural === plural)
  const kind = own.find((one) => one.subresource === undefined && (one.scope === 'Namespaced') === namespaced)
  if (!kind || (namespaced && steps[1] === '')) return
  if (kind.archetype === 'virtual') throw name === undefined ? methodNotAllowed() : routeNotFound()
  const resource = groupResource(kind)
  if (name === undefined) {
    if (method === 'PATCH') patchType(headers)
    if (method === 'PATCH' || method === 'PUT') throw badRequest('name must be provided')
  }
  if (more !== undefined) throw routeNotFound()
  if (own.some((one) => one.subresource !== undefined && one.subresource === subresource)) throw methodNotAllowed()
  if (subresource !== undefined && subresource !== 'status') throw objectNotFound(resource, name ?? '')
  // A method that is no verb is refused without one.
  throw methodNotSupported(resource, verbs[method] ?? '')
}

export const notFound: Endpoint = async ({ path, method, headers, query }, { config }) => {
  const output = negotiateStatus(headers, first(query, 'pretty'))
  const at = path.indexOf(`${config.basePath}/`)
  const below = at < 0 ? '' : path.slice(at + config.basePath.length).replace(/\/+$/, '')
  const [root, group, version, ...steps] = below.slice(1).split('/')
  const groupVersionText = `${group}/${version}`
  try {
    if (root === 'apis' && steps.length > 0) refuse(groupVersionText, steps, method, headers)
  } catch (error) {
    if (error instanceof StatusError) return respondStatus(error.status, output)
    throw error
  }
  // Manifests often begin with their namespace: it needs no making, and cannot be made.
  if (isDocument(below) && method !== 'GET') return respondStatus(methodNotAllowed().status, output)
  const ours = root === 'apis' && groupVersionText === groupVersion(OwnedAccessKey) && steps.length > 0
  return ours ? pageNotFound : respondStatus(routeNotFound().status, output)
}
