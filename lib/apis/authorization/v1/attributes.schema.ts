/** What a review asks about. Source: k8s.io/api authorization/v1 ResourceAttributes, NonResourceAttributes. */
import type { Attributes, Target } from '../../../authorization/attributes/attributes.ts'
import { type FieldError, invalid, required } from '../../../meta/errors/fielderror.ts'
import { type FromSchema, list, object, string } from '../../../meta/schema/schema.ts'
import type { ProtobufMessage } from '../../../registry/kind.ts'
import { clusterScoped, namespaced } from '../../resources.ts'

const requirement = object('A requirement of a selector.', {
  key: string('Key.'),
  operator: string('In, NotIn, Exists or DoesNotExist.'),
  values: list('Values.', string('A value.')),
})

const selector = (what: string) =>
  object(what, {
    rawSelector: string('The selector as it was sent.'),
    requirements: list('The parsed selector.', requirement),
  })

export const resourceAttributes = object('A request for resources.', {
  namespace: string('Namespace; empty for cluster-scoped resources and for all namespaces.'),
  verb: string('Verb; * is all.'),
  group: string('API group; * is all.'),
  version: string('API version; * is all.'),
  resource: string('Resource; * is all.'),
  subresource: string('Subresource; empty is none.'),
  name: string('Name of the object; empty is all.'),
  fieldSelector: selector('Limits by fields. They do not widen what is allowed.'),
  labelSelector: selector('Limits by labels. They do not widen what is allowed.'),
})

export const nonResourceAttributes = object('A request for a path.', {
  path: string('URL path.'),
  verb: string('Lower case HTTP method.'),
})

export interface AskedAttributes {
  resourceAttributes?: FromSchema<typeof resourceAttributes>
  nonResourceAttributes?: FromSchema<typeof nonResourceAttributes>
}

/** A selector is either the text or what was read of it. Source: k8s.io/kubernetes pkg/apis/authorization/validation. */
function validateSelector(name: 'fieldSelector' | 'labelSelector', spec: AskedAttributes): FieldError[] {
  const asked = spec.resourceAttributes?.[name]
  if (!asked) return []
  const { rawSelector = '', requirements = [] } = asked
  const path = `spec.resourceAttributes.${name}`
  if (requirements.length === 0) {
    const why = `when ${path} is specified, requirements or rawSelector is required`
    return rawSelector === '' ? [required(`${path}.requirements`, why)] : []
  }
  const both = 'may not specified at the same time as requirements'
  return rawSelector === '' ? [] : [invalid(`${path}.rawSelector`, rawSelector, both)]
}

/** Exactly one of both must be asked, its selectors in one form. */
export function validateAsked(spec: AskedAttributes): FieldError[] {
  const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified'
  if (spec.resourceAttributes && spec.nonResourceAttributes) {
    const text = 'cannot be specified in combination with resourceAttributes'
    return [invalid('spec.nonResourceAttributes', { ...spec.nonResourceAttributes }, text)]
  }
  if (!spec.resourceAttributes && !spec.nonResourceAttributes) return [invalid('spec.resourceAttributes', null, why)]
  return [...validateSelector('fieldSelector', spec), ...validateSelector('labelSelector', spec)]
}

/** The namespace that a request here has: none for what is in none; a Namespace is in the one of its own name. */
function placeOf(group: string, resource: string, name: string, namespace: string): string {
  if (group === '' && resource === 'namespaces') return name
  return clusterScoped.has(resource) ? '' : namespace
}

/**
 * Returns the attributes that a review asks about, at a target: those that the request itself would have. Cluster-scoped
 * resources of this API are judged without the namespace, which kubectl sends for every kind; namespaced ones without a
 * namespace, and all resources at once, are those of all namespaces. Of a connected cluster nobody here knows which is which.
 */
export function toAttributes(spec: AskedAttributes, target: Target): Attributes {
  const { resourceAttributes: asked, nonResourceAttributes: path } = spec
  if (!asked) return { kind: 'nonresource', target, verb: path?.verb ?? '', path: path?.path ?? '' }
  const { verb = '', group = '', resource = '', subresource = '', name = '', namespace = '' } = asked
  const here = target.type === 'Management'
  const place = here ? placeOf(group, resource, name, namespace) : namespace
  const allNamespaces = here && place === '' && (namespaced.has(resource) || resource === '*')
  return {
    kind: 'resource',
    target,
    verb,
    group,
    resource,
    subresource,
    name,
    namespace: place,
    ...(allNamespaces && { allNamespaces }),
  }
}

export const attributesProtobuf: ProtobufMessage = {
  1: {
    name: 'resourceAttributes',
    type: 'message',
    fields: {
      1: { name: 'namespace', type: 'string' },
      2: { name: 'verb', type: 'string' },
      3: { name: 'group', type: 'string' },
      4: { name: 'version', type: 'string' },
      5: { name: 'resource', type: 'string' },
      6: { name: 'subresource', type: 'string' },
      7: { name: 'name', type: 'string' },
    },
  },
  2: {
    name: 'nonResourceAttributes',
    type: 'message',
    fields: { 1: { name: 'path', type: 'string' }, 2: { name: 'verb', type: 'string' } },
  },
}
