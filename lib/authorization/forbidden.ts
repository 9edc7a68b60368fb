/** The 403 of a request that nobody allowed, in the words of kube-apiserver. Source: k8s.io/apiserver responsewriters.Forbidden. */
import { forbiddenPath, forbiddenResource, type StatusError } from '../meta/errors.ts'
import { shown } from '../meta/field.ts'
import type { Attributes } from './attributes.ts'

/** `reason` is appended as it is; '' = none, as kube-apiserver answers where no authorizer gives one. */
export function forbiddenFor(attributes: Attributes, user: { name: string }, reason = ''): StatusError {
  const why = escapeHtml(`User ${shown(user.name)} cannot ${attributes.verb} ${object(attributes)}`)
  const message = reason ? `${why}: ${reason}` : why
  return attributes.kind === 'nonresource'
    ? forbiddenPath(message)
    : forbiddenResource({ group: attributes.group, resource: attributes.resource }, attributes.name, message)
}

function object(attributes: Attributes): string {
  if (attributes.kind === 'nonresource') return `path ${shown(attributes.path)}`
  const { group, resource, subresource, namespace } = attributes
  const named = shown(subresource ? `${resource}/${subresource}` : resource)
  const where = namespace ? `in the namespace ${shown(namespace)}` : 'at the cluster scope'
  return `resource ${named} in API group ${shown(group)} ${where}`
}

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
