/**
 * Answers requests to routes that no other function serves. Resources get the errors of kube-apiserver for custom
 * resources, writes to documents get 405, and everything else gets 404. Unknown resources in this API's own group version
 * get a plain-text 404, as from kube-apiserver for custom resources. All others get a Status that explains what is served.
 */

import { patchType, patchTypes } from '../../engine/endpoints/negotiation/bodies.ts'
import { pageNotFound } from '../../engine/endpoints/respond.ts'
import {
  badRequest,
  methodNotAllowed,
  methodNotSupported,
  notFound as objectNotFound,
  routeNotFound,
} from '../../engine/meta/errors/status.ts'
import { groupVersion } from '../../engine/meta/groupversion.ts'
import { dnsLabelErrors } from '../../engine/meta/object/names.ts'
import { groupResource } from '../../engine/registry/kind.ts'
import { KINDS, kindRows } from '../../kinds.ts'
import type { Endpoint } from '../lambda/serve.ts'
import { CustomResourceDefinition, definitionsPath } from './customresourcedefinition.ts'
import { explainRoute } from './explainroute.ts'

const verbs: Readonly<Record<string, string>> = {
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
  GET: 'get',
}

type Headers = Readonly<Record<string, string>>

/** Throws the error for a request to a served resource. Returns if the group version has no such resource. */
function refuse(
  groupVersionText: string,
  steps: readonly string[],
  { method, headers, hint }: { method: string; headers: Headers; hint: string },
): void {
  const namespaced = steps[0] === 'namespaces' && steps.length > 2
  const [plural, name, subresource, more] = namespaced ? steps.slice(2) : steps
  const own = kindRows.filter((one) => groupVersion(one) === groupVersionText && one.plural === plural)
  const served = own.find((one) => one.subresource === undefined && (one.scope === 'Namespaced') === namespaced)
  if (!served || (namespaced && steps[1] === '')) return
  if (served.archetype === 'virtual') throw name === undefined ? methodNotAllowed(hint) : routeNotFound(hint)
  const resource = groupResource(served)
  if (name === undefined) {
    if (method === 'PATCH') patchType(headers, patchTypes)
    if (method === 'PATCH' || method === 'PUT') throw badRequest('name must be provided')
  }
  if (more !== undefined) throw routeNotFound(hint)
  if (own.some((one) => one.subresource !== undefined && one.subresource === subresource)) throw methodNotAllowed(hint)
  if (subresource !== undefined && subresource !== 'status') throw objectNotFound(resource, name ?? '')
  // For an unknown method, the error contains no verb.
  throw methodNotSupported(resource, verbs[method] ?? '')
}

/** The group versions that discovery lists. */
const listedVersions: readonly string[] = [...kindRows.map(groupVersion), groupVersion(CustomResourceDefinition)]

/** Reports whether a path below the base is that of a read-only document, which `documents.ts` or `public.ts` serves. */
function isDocument(path: string): boolean {
  if (/^\/(version|openapi\/v[23]|apis?|api\/v1(\/namespaces)?)$/.test(path)) return true
  const [, namespace] = /^\/api\/v1\/namespaces\/([^/]+)$/.exec(path) ?? []
  if (namespace !== undefined) return dnsLabelErrors(namespace).length === 0
  if (path.replace(/\/[^/]+$/, '') === definitionsPath || path === definitionsPath) return true
  const [, group] = /^\/apis\/([^/]+(?:\/[^/]+)?)$/.exec(path) ?? []
  return listedVersions.some((one) => one === group || one.split('/')[0] === group)
}

export const answerNotFound: Endpoint = async ({ path, method, headers }) => {
  const hint = explainRoute(method, path)
  const [root, group, version, ...steps] = path.slice(1).split('/')
  const groupVersionText = `${group}/${version}`
  if (root === 'apis' && steps.length > 0) refuse(groupVersionText, steps, { method, headers, hint })
  // Manifests often start with their namespace, which exists already and cannot be created.
  if (isDocument(path) && method !== 'GET') throw methodNotAllowed(hint)
  const isOwn = groupVersionText === groupVersion(KINDS.OwnedAccessKey)
  if (root === 'apis' && isOwn && steps.length > 0) return pageNotFound
  throw routeNotFound(hint)
}
