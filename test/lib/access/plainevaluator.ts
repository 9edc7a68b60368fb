/** A second evaluator, written from the table of scopes as plainly as possible; it shares no code with the first. */
import type { Attributes } from '../../../lib/access/attributes/attributes.ts'
import type { Place } from '../../../lib/access/scopes/place.ts'
import type { Scope } from '../../../lib/access/scopes/scope.ts'

const PREFIX = 'p-'
const MANAGED = 'management.platform'

export function plainlyAllowed(chain: readonly Scope[], request: Attributes): boolean {
  for (const scope of chain) {
    if (!isAlwaysAllowed(request) && !lists(scope, request)) return false
  }
  return true
}

/**
 * Evaluates a request that a cluster or virtual cluster asks about. Spaces are the namespaces p-PROJECT-s-SPACE of a
 * cluster.
 */
export function plainlyAllowedAt(chain: readonly Scope[], place: Place, request: Attributes): boolean {
  if (isAlwaysAllowed({ ...request, target: { type: 'Management' } })) return true
  for (const scope of chain) {
    if (place.type === 'virtualCluster') {
      const project = place.namespace.startsWith(PREFIX) ? place.namespace.substring(PREFIX.length) : ''
      const target = { type: 'ProjectVirtualCluster', project, virtualCluster: place.name } as const
      if (!lists(scope, { ...request, target })) return false
      continue
    }
    if (lists(scope, { ...request, target: { type: 'Cluster', cluster: place.name } })) continue
    if (request.kind === 'nonresource') return false
    if (request.group === '' && request.resource === 'namespaces' && request.name !== request.namespace) return false
    const words = request.namespace.split('-')
    const marks = words.filter((word, index) => word === 's' && index > 1 && index < words.length - 1)
    if (words[0] !== 'p' || words.includes('') || marks.length !== 1) return false
    const mark = words.indexOf('s', 2)
    const target = {
      type: 'ProjectSpace',
      project: words.slice(1, mark).join('-'),
      space: words.slice(mark + 1).join('-'),
    } as const
    if (!lists(scope, { ...request, target })) return false
  }
  return true
}

function isAlwaysAllowed(r: Attributes): boolean {
  if (r.target.type !== 'Management') return false
  if (r.kind === 'nonresource') {
    if (r.verb !== 'get' && r.verb !== 'head') return false
    const parts = r.path.split('/').filter((part) => part !== '')
    if (parts[0] === 'api') return parts.length <= 2
    if (parts[0] === 'apis') return parts.length <= 3
    if (parts[0] === 'openapi') return true
    return parts.length === 1 && ['version', 'healthz', 'livez', 'readyz'].includes(parts[0] ?? '')
  }
  const what = `${r.verb} ${r.group} ${r.resource}/${r.subresource}`
  return (
    what === 'create management.platform selves/' ||
    what === 'create authentication.k8s.io selfsubjectreviews/' ||
    what === 'create authorization.k8s.io selfsubjectaccessreviews/' ||
    what === 'create authorization.k8s.io selfsubjectrulesreviews/' ||
    what === 'get apiextensions.k8s.io customresourcedefinitions/' ||
    what === 'list apiextensions.k8s.io customresourcedefinitions/' ||
    what === 'watch apiextensions.k8s.io customresourcedefinitions/'
  )
}

function lists(s: Scope, r: Attributes): boolean {
  const isViewer = (s.roles ?? []).some(({ role }) => role === 'view')
  const isReviewer = (s.roles ?? []).some(({ role }) => role === 'agent' || role === 'vcluster')
  for (const role of s.roles ?? [])
    if (byRole(role.role ?? '', role.projects ?? [], role.virtualClusters ?? [], r)) return true
  if (s.allowPlatformCli && byRole('platformCLI', [], [], r)) return true
  if (isViewer && !viewerMay(r)) {
    for (const rule of s.rules ?? []) if (byRule(rule, r)) return true
    return false
  }
  for (const { project } of s.projects ?? []) if (byProject(project ?? '', r)) return true
  for (const { project, space } of s.spaces ?? []) {
    if (r.target.type !== 'ProjectSpace' || !project || r.target.project !== project) continue
    if (space === '*' || (space && space === r.target.space)) return true
  }
  for (const { project, virtualCluster } of s.virtualClusters ?? []) {
    if (isReviewer && r.kind === 'resource' && r.target.type === 'Management' && r.subresource === 'kubeconfig')
      continue
    if (project && virtualCluster && byVirtualCluster(project, virtualCluster, r)) return true
  }
  for (const { cluster } of s.clusters ?? []) {
    if (r.target.type === 'Cluster' && cluster && (cluster === '*' || cluster === r.target.cluster)) return true
    if (r.target.type !== 'Management' || r.kind === 'nonresource' || isReviewer || !cluster) continue
    const what = `${r.verb} ${r.group} ${r.resource}/${r.subresource}`
    if (what === `create ${MANAGED} directclusterendpointtokens/`) return true
    if (!r.name || (cluster !== '*' && cluster !== r.name)) continue
    if (what === `get ${MANAGED} clusters/` || what === `create ${MANAGED} clusters/kubeconfig`) return true
  }
  for (const rule of s.rules ?? []) if (byRule(rule, r)) return true
  return false
}

function viewerMay(r: Attributes): boolean {
  if (r.target.type === 'Management') {
    if (r.kind === 'nonresource') return false
    const what = `${r.verb} ${r.group} ${r.resource}/${r.subresource}`
    return (
      what === `create ${MANAGED} directclusterendpointtokens/` ||
      what === `get ${MANAGED} clusters/` ||
      what === `get ${MANAGED} virtualclusterinstances/` ||
      what === `create ${MANAGED} clusters/kubeconfig` ||
      what === `create ${MANAGED} virtualclusterinstances/kubeconfig`
    )
  }
  if (r.kind === 'nonresource') return isAlwaysAllowed({ ...r, target: { type: 'Management' } })
  if (r.verb !== 'get' && r.verb !== 'list' && r.verb !== 'watch') return false
  if ([r.group, r.resource, r.subresource].includes('*')) return false
  if (r.resource === 'secrets' || r.group.split('.')[0] === 'subresources') return false
  if (r.subresource === 'log') return r.resource === 'pods' && r.group === ''
  return r.subresource === '' || r.subresource === 'status' || r.subresource === 'scale'
}

function byProject(project: string, r: Attributes): boolean {
  if (project === '') return false
  if (r.target.type === 'ProjectSpace' || r.target.type === 'ProjectVirtualCluster') {
    return project === '*' || r.target.project === project
  }
  if (r.target.type === 'Cluster' || r.kind === 'nonresource') return false
  if (project === '*') return r.namespace.startsWith(PREFIX) && r.namespace !== PREFIX
  return r.namespace === PREFIX + project
}

function byVirtualCluster(project: string, name: string, r: Attributes): boolean {
  if (r.target.type === 'ProjectVirtualCluster') {
    return r.target.project === project && (name === '*' || name === r.target.virtualCluster)
  }
  if (r.target.type !== 'Management' || r.kind === 'nonresource') return false
  if (r.group !== MANAGED || r.resource !== 'virtualclusterinstances' || r.namespace !== PREFIX + project) return false
  if (r.name === '' || (name !== '*' && name !== r.name)) return false
  return (r.verb === 'get' && r.subresource === '') || (r.verb === 'create' && r.subresource === 'kubeconfig')
}

function byRole(role: string, projects: string[], clusters: string[], r: Attributes): boolean {
  const anyProject = projects.length === 0 || projects.includes('*')
  const anyCluster = clusters.length === 0 || clusters.includes('*')
  const inside = (project: string | undefined, name: string): boolean => {
    if (!anyProject && (project === undefined || !projects.includes(project))) return false
    if (anyCluster) return true
    if (project === undefined) return false
    if (clusters.includes(`${project}/*`)) return true
    if (name === '') return false
    return clusters.includes(`${project}/${name}`) || (projects.length > 0 && clusters.includes(name))
  }
  if (r.kind === 'nonresource') return false
  const read = ['get', 'list', 'watch'].includes(r.verb)
  const project =
    r.namespace.startsWith(PREFIX) && r.namespace !== PREFIX ? r.namespace.slice(PREFIX.length) : undefined
  const instances = r.target.type === 'Management' && r.group === MANAGED && r.resource === 'virtualclusterinstances'
  if (role === 'platformCLI') {
    if (!read || r.subresource !== '') return false
    if (instances) return inside(project, r.name)
    return (
      r.target.type === 'Management' &&
      r.group === MANAGED &&
      r.resource === 'ownedaccesskeys' &&
      anyProject &&
      anyCluster
    )
  }
  if (role === 'selfRotate') {
    const isKey = r.target.type === 'Management' && r.group === MANAGED && r.resource === 'ownedaccesskeys'
    const reads = r.verb === 'get' && r.subresource === ''
    const rotates = r.verb === 'create' && r.subresource === 'rotate'
    return isKey && (reads || rotates) && anyProject && anyCluster
  }
  if (role === 'agent' || role === 'vcluster') {
    const review =
      (r.group === 'authentication.k8s.io' && r.resource === 'tokenreviews') ||
      (r.group === 'authorization.k8s.io' && r.resource === 'subjectaccessreviews')
    if (review && r.verb === 'create' && r.subresource === '') {
      if (r.target.type === 'Management') return true
      if (r.target.type === 'ProjectVirtualCluster') return inside(r.target.project, r.target.virtualCluster)
      return false
    }
    if (!instances || !inside(project, r.name)) return false
    return (read && r.subresource === '') || (r.subresource === 'status' && ['get', 'update', 'patch'].includes(r.verb))
  }
  return false
}

type Rule = NonNullable<Scope['rules']>[number]

function byRule(rule: Rule, r: Attributes): boolean {
  const verbs = rule.verbs ?? []
  if (verbs.length > 0 && !verbs.includes(r.verb) && !verbs.includes('*')) return false
  const targets: string[] = rule.requestTargets ?? []
  if (targets.length > 0 && !targets.includes(r.target.type)) return false
  if (rule.cluster && (r.target.type !== 'Cluster' || r.target.cluster !== rule.cluster)) return false
  const virtual = rule.virtualClusters ?? []
  if (virtual.length > 0) {
    if (r.target.type !== 'ProjectVirtualCluster') return false
    const { project, virtualCluster } = r.target
    let found = false
    for (const { name = '', namespace = '' } of virtual) {
      if ((name === '' || name === virtualCluster) && (namespace === '' || namespace === PREFIX + project)) found = true
    }
    if (!found) return false
  }
  const urls = rule.nonResourceURLs ?? []
  const resources = rule.resources ?? []
  const names = rule.resourceNames ?? []
  const namespaces = rule.namespaces ?? []
  if (r.kind === 'nonresource') {
    if (resources.length + names.length + namespaces.length > 0) return false
    if (urls.length === 0) return true
    for (const url of urls) {
      if (url === '*' || url === r.path) return true
      if (url.endsWith('/*') && r.path.startsWith(url.substring(0, url.length - 1))) return true
    }
    return false
  }
  if (urls.length > 0) return false
  if (names.length > 0 && !names.includes(r.name)) return false
  if (namespaces.length > 0 && (r.allNamespaces || !namespaces.includes(r.namespace))) return false
  if (resources.length === 0) return true
  for (const entry of resources) {
    if ((entry.group ?? '') !== r.group) continue
    if (entry.resourceNames?.length && !entry.resourceNames.includes(r.name)) continue
    if (!entry.resources?.length) return true
    const candidates = r.subresource
      ? ['*', '*/*', `${r.resource}/${r.subresource}`, `${r.resource}/*`, `*/${r.subresource}`]
      : ['*', r.resource]
    if (entry.resources.some((pattern) => candidates.includes(pattern))) return true
  }
  return false
}
