/**
 * Lists what every scope allows, even an empty one: self-reviews and API discovery. Kubernetes grants the same to every
 * authenticated user (system:basic-user, system:discovery, system:public-info-viewer).
 */
import { creatorsOf } from '../../kinds.ts'
import type { Attributes } from '../attributes/attributes.ts'

/** Paths with at most a group and its version. Longer paths name a resource, which the scope's lists must allow. */
export const DISCOVERY = /^\/(api(\/[^/]+)?|apis(\/[^/]+){0,2}|openapi(\/.*)?|version|healthz|livez|readyz)\/?$/

const DEFINITIONS = 'apiextensions.k8s.io/customresourcedefinitions'

/** Reports whether every scope allows the request. The reason for it is `every scope`. */
export function everyScopeAllows(attributes: Attributes): boolean {
  if (attributes.target.type !== 'Management') return false
  if (attributes.kind === 'nonresource')
    return ['get', 'head'].includes(attributes.verb) && DISCOVERY.test(attributes.path)
  const { verb, group, resource, subresource } = attributes
  // There are no such objects; clients list them to discover the served resources.
  if (`${group}/${resource}` === DEFINITIONS && subresource === '') return ['get', 'list', 'watch'].includes(verb)
  return verb === 'create' && subresource === '' && creatorsOf(attributes) === 'every scope'
}
