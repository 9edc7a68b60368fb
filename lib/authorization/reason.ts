/** What a request wants, in words: the part of a refusal's reason that says what the scope leaves out. */
import { shown } from '../meta/field.ts'
import type { Attributes, Target } from './attributes.ts'
import { projectOf, type ScopeOptions } from './project.ts'

/** `get of virtualclusterinstances "x" in project "a"`, `get of path "/metrics" in cluster "c"`. */
export function wanted(attributes: Attributes, options: ScopeOptions): string {
  return `${attributes.verb} of ${what(attributes)}${where(attributes, options)}${whither(attributes.target)}`
}

function what(attributes: Attributes): string {
  if (attributes.kind === 'nonresource') return `path ${shown(attributes.path)}`
  const { resource, subresource, name } = attributes
  return `${resource}${subresource && `/${subresource}`}${name && ` ${shown(name)}`}`
}

function where(attributes: Attributes, options: ScopeOptions): string {
  if (attributes.kind === 'nonresource' || attributes.namespace === '') return ''
  const project = attributes.target.type === 'Management' ? projectOf(attributes.namespace, options) : undefined
  return project === undefined ? ` in namespace ${shown(attributes.namespace)}` : ` in project ${shown(project)}`
}

function whither(target: Target): string {
  switch (target.type) {
    case 'Management':
      return ''
    case 'Cluster':
      return ` in cluster ${shown(target.cluster)}`
    case 'ProjectSpace':
      return ` in space ${shown(`${target.project}/${target.space}`)}`
    case 'ProjectVirtualCluster':
      return ` in virtual cluster ${shown(`${target.project}/${target.virtualCluster}`)}`
  }
}
