/**
 * Builds the 403 for a request that no authorizer allowed, in kube-apiserver's words. Source: k8s.io/apiserver
 * responsewriters.Forbidden.
 */
import { formatValue } from '../meta/encoding/badvalue.ts'
import { forbiddenPath, forbiddenResource, type StatusError } from '../meta/errors/status.ts'
import { escapeHtml } from '../meta/value/printable.ts'
import type { NonResourceAttributes, ResourceAttributes } from './attributes.ts'

type Attributes = ResourceAttributes | NonResourceAttributes

/**
 * Returns the 403 for the request. `reason` is appended unchanged; '' omits it, as kube-apiserver does when no
 * authorizer gives a reason.
 */
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
