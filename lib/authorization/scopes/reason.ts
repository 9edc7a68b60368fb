/** What a request wants, in words: the part of a refusal's reason that says what the scope leaves out. */
import { formatValue } from '../../meta/encoding/badvalue.ts'
import type { Attributes, Target } from '../attributes/attributes.ts'
import { projectOf, type ScopeOptions } from './project.ts'

/** `get of virtualclusterinstances "x" in project "a"`, `get of path "/metrics" in cluster "c"`. */
export function wanted(attributes: Attributes, options: ScopeOptions): string {
  return `${attributes.verb} of ${what(attributes)}${where(attributes, options)}${whither(attributes.target)}`
}

function what(attributes: Attributes): string {
  if (attributes.kind === 'nonresource') return `path ${formatValue(attributes.path)}`
  const { resource, subresource, name } = attributes
  return `${resource}${subresource && `/${subresource}`}${name && ` ${formatValue(name)}`}`
}

function where(attributes: Attributes, options: ScopeOptions): string {
  if (attributes.kind === 'nonresource' || attributes.namespace === '') return ''
  const project = attributes.target.type === 'Management' ? projectOf(attributes.namespace, options) : undefined
  return project === undefined
    ? ` in namespace ${formatValue(attributes.namespace)}`
    : ` in project ${formatValue(project)}`
}

function whither(target: Target): string {
  switch (target.type) {
    case 'Management':
      return ''
    case 'Cluster':
      return ` in cluster ${formatValue(target.cluster)}`
    case 'ProjectSpace':
      return ` in space ${formatValue(`${target.project}/${target.space}`)}`
    case 'ProjectVirtualCluster':
      return ` in virtual cluster ${formatValue(`${target.project}/${target.virtualCluster}`)}`
  }
}
