/**
 * Routes that no other function serves: 405 where the path is one of ours and the method is not, else 404. Unknown
 * resources of this API's own version get the plain text with which kube-apiserver answers for custom resources, all
 * else a Status.
 */
import { kinds } from '../apis/index.ts'
import { OwnedAccessKey } from '../apis/management/v1/ownedaccesskey.ts'
import { negotiateStatus } from '../endpoints/negotiation.ts'
import { type ApiResponse, first } from '../endpoints/request.ts'
import { respondStatus } from '../endpoints/respond.ts'
import { methodNotAllowed, methodNotSupported, routeNotFound, type StatusError } from '../meta/errors.ts'
import { groupResource, groupVersion } from '../registry/kind.ts'
import type { Endpoint } from './handler.ts'

const text: ApiResponse = {
  status: 404,
  headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
  warnings: [],
  body: '404 page not found\n',
}

const verbs: Readonly<Record<string, string>> = {
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
  GET: 'get',
}

/** What is wrong with a request below a group version that is served; undefined = no such resource. */
function refusalOf(groupVersionText: string, steps: readonly string[], method: string): StatusError | undefined {
  const namespaced = steps[0] === 'namespaces' && steps.length > 2
  const [plural, name, subresource, more] = namespaced ? steps.slice(2) : steps
  const own = kinds.filter((kind) => groupVersion(kind) === groupVersionText && kind.plural === plural)
  const kind = own.find((one) => one.subresource === undefined && (one.scope === 'Namespaced') === namespaced)
  if (!kind) return undefined
  if (kind.archetype === 'virtual') return name === undefined ? methodNotAllowed() : routeNotFound()
  const known = [undefined, 'status', ...own.map((one) => one.subresource)]
  if (more !== undefined || !known.includes(subresource)) return routeNotFound()
  const verb = verbs[method]
  return verb && name !== undefined ? methodNotSupported(groupResource(kind), verb) : methodNotAllowed()
}

export const notFound: Endpoint = async ({ path, method, headers, query }, { config }) => {
  const output = negotiateStatus(headers, first(query, 'pretty'))
  const at = path.indexOf(`${config.basePath}/`)
  const [root, group, version, ...steps] = at < 0 ? [] : path.slice(at + config.basePath.length + 1).split('/')
  const groupVersionText = `${group}/${version}`
  const refusal = root === 'apis' && steps.length > 0 ? refusalOf(groupVersionText, steps, method) : undefined
  if (refusal) return respondStatus(refusal.status, output)
  // Manifests often begin with their namespace: it needs no making, and cannot be made.
  const isNamespace = root === 'api' && groupVersionText === 'v1/namespaces' && steps.length < 2
  if (isNamespace && method !== 'GET') return respondStatus(methodNotAllowed().status, output)
  const ours = root === 'apis' && groupVersionText === groupVersion(OwnedAccessKey) && steps.length > 0
  return ours ? text : respondStatus(routeNotFound().status, output)
}
