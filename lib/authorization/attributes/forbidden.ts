/** The 403 of a request that nobody allowed, in the words of kube-apiserver. Source: k8s.io/apiserver responsewriters.Forbidden. */

import { formatValue } from '../../meta/encoding/badvalue.ts'
import { forbiddenPath, forbiddenResource, type StatusError } from '../../meta/errors/status.ts'
import type { Attributes } from './attributes.ts'

/** `reason` is appended as it is; '' = none, as kube-apiserver answers where no authorizer gives one. */
export function forbiddenFor(attributes: Attributes, user: { name: string }, reason = ''): StatusError {
  const why = escapeHtml(`User ${formatValue(user.name)} cannot ${attributes.verb} ${object(attributes)}`)
  const message = reason ? `${why}: ${reason}` : why
  return attributes.kind === 'nonresource'
    ? forbiddenPath(message)
    : forbiddenResource({ group: attributes.group, resource: attributes.resource }, attributes.name, message)
}

function object(attributes: Attributes): string {
  if (attributes.kind === 'nonresource') return `path ${formatValue(attributes.path)}`
  const { group, resource, subresource, namespace } = attributes
  const named = formatValue(subresource ? `${resource}/${subresource}` : resource)
  const where = namespace ? `in the namespace ${formatValue(namespace)}` : 'at the cluster scope'
  return `resource ${named} in API group ${formatValue(group)} ${where}`
}

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
