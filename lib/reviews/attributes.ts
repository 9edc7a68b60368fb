/** Validates and reads the request that an access review describes. */
import type { Attributes, Target } from '../access/attributes/attributes.ts'
import { type FieldError, invalid, required } from '../engine/meta/errors/fielderror.ts'
import { message, type ProtobufMessage, textFields } from '../engine/registry/protobuf.ts'
import { clusterScoped, namespaced } from '../kinds.ts'
import type { AskedAttributes } from './attributes.schema.ts'

/**
 * Validates that a selector is either text or a list of requirements. Source: k8s.io/kubernetes
 * pkg/apis/authorization/validation.
 */
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

/** Validates that the review describes exactly one request, and each selector in one form. */
export function validateAsked(spec: AskedAttributes): FieldError[] {
  const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified'
  if (spec.resourceAttributes && spec.nonResourceAttributes) {
    const text = 'cannot be specified in combination with resourceAttributes'
    return [invalid('spec.nonResourceAttributes', { ...spec.nonResourceAttributes }, text)]
  }
  if (!spec.resourceAttributes && !spec.nonResourceAttributes) return [invalid('spec.resourceAttributes', null, why)]
  return [...validateSelector('fieldSelector', spec), ...validateSelector('labelSelector', spec)]
}

/** Returns the namespace of a request to this API: a Namespace is in itself, and other cluster-scoped objects are in none. */
function placeOf(group: string, resource: string, name: string, namespace: string): string {
  if (group === '' && resource === 'namespaces') return name
  return clusterScoped.has(resource) ? '' : namespace
}

/**
 * Returns the attributes that the described request would have at a target. kubectl sends a namespace for every kind, so
 * it is ignored for cluster-scoped resources of this API. Without a namespace, namespaced resources and `*` mean all
 * namespaces. For a connected cluster the namespace is kept, because its resources are unknown here.
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
  1: message(
    'resourceAttributes',
    textFields('namespace', 'verb', 'group', 'version', 'resource', 'subresource', 'name'),
  ),
  2: message('nonResourceAttributes', textFields('path', 'verb')),
}
