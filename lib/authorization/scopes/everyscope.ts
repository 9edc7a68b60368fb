/**
 * What every scope allows, the empty one too: to ask who one is and what one may do, and to find out what this API serves.
 * It is what Kubernetes gives to every authenticated user (system:basic-user, system:discovery, system:public-info-viewer).
 */
import { type Attributes, MANAGEMENT_GROUP } from '../attributes/attributes.ts'

const SELF_REVIEWS: ReadonlySet<string> = new Set([
  `${MANAGEMENT_GROUP}/selves`,
  'authentication.k8s.io/selfsubjectreviews',
  'authorization.k8s.io/selfsubjectaccessreviews',
  'authorization.k8s.io/selfsubjectrulesreviews',
])

/** Paths of at most a group and its version: whatever is longer names a resource, and that is for the lists to allow. */
const DISCOVERY = /^\/(api(\/[^/]+)?|apis(\/[^/]+){0,2}|openapi(\/.*)?|version|healthz|livez|readyz)\/?$/

const DEFINITIONS = 'apiextensions.k8s.io/customresourcedefinitions'

/** Whether the request is one of those; its line in a reason is `every scope`. */
export function everyScopeAllows(attributes: Attributes): boolean {
  if (attributes.target.type !== 'Management') return false
  if (attributes.kind === 'nonresource')
    return ['get', 'head'].includes(attributes.verb) && DISCOVERY.test(attributes.path)
  const { verb, group, resource, subresource } = attributes
  // Of which there are none: a way to find out what is served.
  if (`${group}/${resource}` === DEFINITIONS && subresource === '') return ['get', 'list', 'watch'].includes(verb)
  return verb === 'create' && subresource === '' && SELF_REVIEWS.has(`${group}/${resource}`)
}
