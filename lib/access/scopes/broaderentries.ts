/** Lists scope entries that are shorter than the exact rule for a request, and says what else they open. */

import type { Attributes, ResourceAttributes } from '../attributes/attributes.ts'
import { projectOf, type ScopeOptions } from './project.ts'
import { isCluster, isTokenRequest, SELF_ROTATE } from './roles.ts'
import type { Scope } from './scope.ts'

export interface BroaderEntry {
  entry: Scope
  /** What it opens besides the request. */
  opens: string
}

/** Returns entries that may allow the request, narrowest first. `keyName` is the name of the presented access key. */
export function broaderEntries(attributes: Attributes, keyName: string, options: ScopeOptions): BroaderEntry[] {
  const { target } = attributes
  switch (target.type) {
    case 'Cluster':
      return [ofCluster(target.cluster)]
    case 'ProjectSpace':
      return [ofSpace(target.project, target.space), ofProject(target.project)]
    case 'ProjectVirtualCluster':
      return [ofVirtualCluster(target.project, target.virtualCluster), ofProject(target.project)]
    case 'Management':
      return attributes.kind === 'resource' ? here(attributes, keyName, options) : []
  }
}

function here(attributes: ResourceAttributes, keyName: string, options: ScopeOptions): BroaderEntry[] {
  if (isTokenRequest(attributes)) return [makingTokens]
  const { verb, namespace, name, subresource } = attributes
  if (isCluster(attributes) && name !== '') return [ofCluster(name)]
  const project = projectOf(namespace, options)
  const inProject =
    project === undefined ? [] : [ofVirtualCluster(project, name), readingInstancesOf(project), ofProject(project)]
  const isRotation = subresource === 'rotate' && name === keyName
  return [...inProject, ...(verb === 'create' ? [agent, ...(isRotation ? [selfRotate] : [])] : [readingInstances])]
}

const ofCluster = (cluster: string): BroaderEntry => ({
  entry: { clusters: [{ cluster }] },
  opens: 'everything else in this cluster',
})

const ofSpace = (project: string, space: string): BroaderEntry => ({
  entry: { spaces: [{ project, space }] },
  opens: 'everything else in this space, in every cluster',
})

const ofVirtualCluster = (project: string, virtualCluster: string): BroaderEntry => ({
  entry: { virtualClusters: [{ project, virtualCluster }] },
  opens: 'everything else in this virtual cluster, its instance and kube configs',
})

const ofProject = (project: string): BroaderEntry => ({
  entry: { projects: [{ project }] },
  opens: 'everything else in this project',
})

const readingInstancesOf = (project: string): BroaderEntry => ({
  entry: { roles: [{ role: 'platformCLI', projects: [project] }] },
  opens: 'reading all virtual cluster instances of this project',
})

const readingInstances: BroaderEntry = {
  entry: { roles: [{ role: 'platformCLI' }] },
  opens: "reading all virtual cluster instances and the user's own access keys",
}

/** The request does not say for which cluster the token is. */
const makingTokens: BroaderEntry = {
  entry: { clusters: [{ cluster: 'NAME' }] },
  opens: 'everything else in cluster NAME',
}

const agent: BroaderEntry = {
  entry: { roles: [{ role: 'agent' }] },
  opens:
    'reading virtual cluster instances, and changing their status, if an administrator without a scope writes it with the cluster',
}

const selfRotate: BroaderEntry = { entry: { roles: [{ role: SELF_ROTATE }] }, opens: 'reading this access key' }
