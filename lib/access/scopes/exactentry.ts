/** Builds the scope entry that allows one request and nothing else. */
import type { Attributes, ResourceAttributes, Target } from '../attributes/attributes.ts'
import type { ScopeOptions } from './project.ts'
import type { Rule } from './rules.ts'
import type { Scope } from './scope.ts'

/**
 * Returns the rule that allows the request and nothing else, or undefined when no rule is that narrow. A request without a
 * name is one for all names, and a request to all namespaces is one for each of them: the rule allows these, too.
 */
export function exactEntry(attributes: Attributes, options: ScopeOptions): Scope | undefined {
  const place = placeOf(attributes.target, options)
  const what = attributes.kind === 'resource' ? resourcesOf(attributes) : pathOf(attributes.path)
  return place && what && { rules: [{ verbs: [attributes.verb], ...what, ...place }] }
}

function resourcesOf({ group, resource, subresource, name, namespace, allNamespaces }: ResourceAttributes): Rule {
  const entry = {
    ...(group && { group }),
    resources: [subresource ? `${resource}/${subresource}` : resource],
    ...(name && { resourceNames: [name] }),
  }
  return { resources: [entry], ...(!allNamespaces && { namespaces: [namespace] }) }
}

/** A path with a wildcard would be a pattern. */
const pathOf = (path: string): Rule | undefined => (path.includes('*') ? undefined : { nonResourceURLs: [path] })

/** Returns the members that limit a rule to the target. The namespace of a request to a space is that of the space. */
function placeOf(target: Target, { projectNamespacePrefix }: ScopeOptions): Rule | undefined {
  switch (target.type) {
    case 'Cluster':
      return target.cluster ? { cluster: target.cluster } : undefined
    case 'ProjectVirtualCluster': {
      const { project, virtualCluster: name } = target
      // All virtual clusters outside of projects are in project ''.
      return project && name ? { virtualClusters: [{ name, namespace: projectNamespacePrefix + project }] } : undefined
    }
    case 'Management':
    case 'ProjectSpace':
      return { requestTargets: [target.type] }
  }
}
