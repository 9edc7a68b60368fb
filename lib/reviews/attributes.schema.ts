/**
 * Defines the request that an access review describes. Source: k8s.io/api authorization/v1 ResourceAttributes,
 * NonResourceAttributes.
 */
import { type FromSchema, list, object, string } from '../engine/meta/schema/schema.ts'

const requirement = object('A requirement of a selector.', {
  key: string('Label key or field name.'),
  operator: string('In, NotIn, Exists or DoesNotExist.'),
  values: list('Values of the requirement.', string('A value.')),
})

const selector = (what: string) =>
  object(what, {
    rawSelector: string('The selector as text.'),
    requirements: list('The parsed selector.', requirement),
  })

export const resourceAttributes = object('A request for a resource.', {
  namespace: string('Namespace; empty for cluster-scoped resources and for all namespaces.'),
  verb: string('Verb; * means all.'),
  group: string('API group; * means all.'),
  version: string('API version; * means all.'),
  resource: string('Resource; * means all.'),
  subresource: string('Subresource; empty means the resource itself.'),
  name: string('Name of the object; empty means all.'),
  fieldSelector: selector('Field selector of the request. It never allows more.'),
  labelSelector: selector('Label selector of the request. It never allows more.'),
})

export const nonResourceAttributes = object('A request for a URL path.', {
  path: string('URL path.'),
  verb: string('HTTP method in lowercase.'),
})

export interface AskedAttributes {
  resourceAttributes?: FromSchema<typeof resourceAttributes>
  nonResourceAttributes?: FromSchema<typeof nonResourceAttributes>
}
