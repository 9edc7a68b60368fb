/** Evaluates a chain of scopes: every scope must allow the request through one of its lists (docs/scopes.md). */

import { formatValue } from '../../engine/meta/encoding/badvalue.ts'
import type { Asked } from '../../engine/registry/attributes.ts'
import { KINDS } from '../../kinds.ts'
import {
  type Attributes,
  type Decision,
  managementRequest,
  type ResourceAttributes,
  type Target,
} from '../attributes/attributes.ts'
import { everyScopeAllows } from './everyscope.ts'
import { projectOf, type ScopeOptions, selects } from './project.ts'
import { type Grant, hasReviews, isCluster, isInstance, isTokenRequest, roleGrants } from './roles.ts'
import { ruleAllows } from './rules.ts'
import type { Scope, ScopeChain } from './scope.ts'
import { hasView, isViewed } from './view.ts'

const { subresource: KUBE_CONFIG } = KINDS.VirtualClusterInstanceKubeConfig

/**
 * Decides whether the chain allows the request. It never throws because of a scope's content: unknown content allows
 * nothing. An empty chain is unrestricted. The reason names the line of each scope that allowed the request, or the
 * request that the first denying scope does not cover.
 */
export const evaluate = (chain: ScopeChain, attributes: Attributes, options: ScopeOptions): Decision =>
  evaluateAny(chain, [attributes], options)

/** Decides whether the chain allows a request to this API for objects of a kind. */
export const evaluateHere = (
  chain: ScopeChain,
  kind: { group: string; plural: string },
  asked: Asked,
  options: ScopeOptions,
): Decision => evaluate(chain, managementRequest(kind, asked), options)

/**
 * Evaluates a request with several interpretations. Each scope must allow at least one, not necessarily the same one. A
 * denial describes the first interpretation.
 */
export function evaluateAny(
  chain: ScopeChain,
  readings: readonly [Attributes, ...Attributes[]],
  options: ScopeOptions,
): Decision {
  if (chain.length === 0) return { allowed: true, reason: 'no scope' }
  const lines: Line[] = []
  for (const [index, scope] of chain.entries()) {
    const line = widest(readings.map((attributes) => allowingLine(scope, attributes, options)))
    const at = chain.length > 1 ? `chain[${index}].` : ''
    if (line === undefined) {
      return { allowed: false, reason: `${at}spec.scope does not allow ${describeRequest(readings[0], options)}` }
    }
    lines.push({ ...line, name: line.name === EVERY ? EVERY : `${at}${line.name}` })
  }
  const reason = [...new Set(lines.map(({ name }) => name))].join(', ')
  return { allowed: true, reason, ...limitOf(lines.map(({ grant }) => grant)) }
}

interface Line {
  name: string
  grant: NonNullable<Grant>
}

/** From the widest to the narrowest. */
const GRANTS = ['all', 'own', 'self'] as const

/** Returns the limit of a decision: the narrowest grant of its scopes. The presented key is one of the user's own. */
function limitOf(grants: readonly Grant[]): Pick<Extract<Decision, { allowed: true }>, 'own' | 'self'> {
  if (grants.includes('self')) return { own: true, self: true }
  return grants.includes('own') ? { own: true } : {}
}

const EVERY = 'every scope'

/** Returns the first line with the widest grant. */
const widest = (lines: readonly (Line | undefined)[]): Line | undefined =>
  GRANTS.map((grant) => lines.find((line) => line?.grant === grant)).find((line) => line !== undefined)

function allowingLine(scope: Scope, attributes: Attributes, options: ScopeOptions): Line | undefined {
  if (everyScopeAllows(attributes)) return { name: EVERY, grant: 'all' }
  let best: Line | undefined
  const isLimited = hasView(scope) && !isAllowedByView(attributes)
  for (const { list, grants } of LISTS) {
    if (isLimited && VIEWED.has(list)) continue
    for (const [index, grant] of grants(scope, attributes, options).entries()) {
      const name = list === 'allowPlatformCli' ? `spec.scope.${list}` : `spec.scope.${list}[${index}]`
      if (grant === 'all') return { name, grant }
      if (grant) best = widest([best, { name, grant }])
    }
  }
  return best
}

/** The lists that say where the role view holds. */
const VIEWED: ReadonlySet<keyof Scope> = new Set(['projects', 'spaces', 'virtualClusters', 'clusters'])

/** Reports whether a place where the role view holds allows the request: reading there, and what leads there. */
function isAllowedByView(attributes: Attributes): boolean {
  if (attributes.target.type !== 'Management') return isViewed(attributes)
  if (isTokenRequest(attributes)) return true
  const isPlace = attributes.kind === 'resource' && (isCluster(attributes) || isInstance(attributes))
  return isPlace && isUsed(attributes, true)
}

interface List {
  list: keyof Scope
  /** Returns what each entry of the list allows, in order. */
  grants(scope: Scope, attributes: Attributes, options: ScopeOptions): Grant[]
}

const grant = (allowed: boolean): Grant => (allowed ? 'all' : undefined)

const LISTS: readonly List[] = [
  {
    list: 'roles',
    grants: ({ roles = [] }, attributes, options) => roles.map((entry) => roleGrants(entry, attributes, options)),
  },
  {
    list: 'projects',
    grants: ({ projects = [] }, attributes, options) => {
      const project = projectAskedFor(attributes, options)
      return projects.map((entry) => grant(project !== undefined && selects(entry.project, project)))
    },
  },
  {
    list: 'spaces',
    grants: ({ spaces = [] }, { target }) =>
      spaces.map((entry) =>
        grant(
          target.type === 'ProjectSpace' && isName(entry.project, target.project) && selects(entry.space, target.space),
        ),
      ),
  },
  {
    list: 'virtualClusters',
    grants: ({ virtualClusters = [], ...scope }, attributes, options) => {
      const asked = virtualClusterAskedFor(attributes, options, makesCredentials(scope))
      return virtualClusters.map((entry) =>
        grant(
          asked !== undefined &&
            isName(entry.project, asked.project) &&
            selects(entry.virtualCluster, asked.virtualCluster),
        ),
      )
    },
  },
  {
    list: 'clusters',
    grants: ({ clusters = [], ...scope }, attributes) => {
      const makes = makesCredentials(scope)
      const asked = clusterAskedFor(attributes, makes)
      return clusters.map(({ cluster }) =>
        grant(asked === undefined ? makes && isTokenRequest(attributes) && !!cluster : selects(cluster, asked)),
      )
    },
  },
  {
    list: 'rules',
    grants: ({ rules = [] }, attributes, options) => rules.map((rule) => grant(ruleAllows(rule, attributes, options))),
  },
  {
    list: 'allowPlatformCli',
    grants: ({ allowPlatformCli }, attributes, options) =>
      allowPlatformCli === true ? [roleGrants({ role: 'platformCLI' }, attributes, options)] : [],
  },
]

/**
 * Reports whether the clusters that a scope lists are those for which it makes tokens and kube configs. Beside a role for reviews they
 * are those that may review: the file with the key of a cluster must not become a key to the cluster.
 */
const makesCredentials = (scope: Scope): boolean => !hasReviews(scope)

const isName = (listed: string | undefined, name: string): boolean =>
  listed !== undefined && listed !== '' && listed === name

/** Returns the project of the request: from its namespace in this API, or from its space or virtual cluster. */
function projectAskedFor(attributes: Attributes, options: ScopeOptions): string | undefined {
  const { target } = attributes
  if (target.type === 'ProjectSpace' || target.type === 'ProjectVirtualCluster') return target.project
  return target.type === 'Management' && attributes.kind === 'resource'
    ? projectOf(attributes.namespace, options)
    : undefined
}

/** Returns the connected cluster that the request targets or, if `makesTokens`, whose object it gets or whose kube config it creates. */
function clusterAskedFor(attributes: Attributes, makesTokens: boolean): string | undefined {
  if (attributes.target.type === 'Cluster') return attributes.target.cluster
  const isUse = attributes.kind === 'resource' && isCluster(attributes) && makesTokens && isUsed(attributes, true)
  return isUse ? attributes.name : undefined
}

/**
 * Returns the virtual cluster that the request targets, whose instance it gets, or whose kube config it creates, if
 * `makesKubeConfigs`.
 */
function virtualClusterAskedFor(attributes: Attributes, options: ScopeOptions, makesKubeConfigs: boolean) {
  const { target } = attributes
  if (target.type === 'ProjectVirtualCluster') return target
  if (attributes.kind !== 'resource' || !isInstance(attributes)) return undefined
  const project = projectOf(attributes.namespace, options)
  return isUsed(attributes, makesKubeConfigs) && project !== undefined
    ? { project, virtualCluster: attributes.name }
    : undefined
}

/** Reports whether the request gets an object or, if `makesKubeConfigs`, creates its kube config. */
const isUsed = ({ verb, subresource }: ResourceAttributes, makesKubeConfigs: boolean): boolean =>
  verb === 'get' ? subresource === '' : makesKubeConfigs && verb === 'create' && subresource === KUBE_CONFIG

/**
 * Returns the request in words, as in the reason of a denial: `get of virtualclusterinstances "x" in project "a"`, `get of path
 * "/metrics" in cluster "c"`.
 */
export function describeRequest(attributes: Attributes, options: ScopeOptions): string {
  return `${attributes.verb} of ${describeSubject(attributes)}${describeNamespace(attributes, options)}${describeTarget(attributes.target)}`
}

function describeSubject(attributes: Attributes): string {
  if (attributes.kind === 'nonresource') return `path ${formatValue(attributes.path)}`
  const { resource, subresource, name } = attributes
  return `${resource}${subresource && `/${subresource}`}${name && ` ${formatValue(name)}`}`
}

function describeNamespace(attributes: Attributes, options: ScopeOptions): string {
  if (attributes.kind === 'nonresource' || attributes.namespace === '') return ''
  const project = attributes.target.type === 'Management' ? projectOf(attributes.namespace, options) : undefined
  return project === undefined
    ? ` in namespace ${formatValue(attributes.namespace)}`
    : ` in project ${formatValue(project)}`
}

function describeTarget(target: Target): string {
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
