/**
 * Defines the roles of a scope, one row for each. Specification section 2.3 names them; docs/scopes.md describes what
 * they allow.
 */
import { creatorsOf, KINDS, type KindRow } from '../../kinds.ts'
import type { Attributes, ResourceAttributes } from '../attributes/attributes.ts'
import { projectOf, type ScopeOptions, selects } from './project.ts'
import type { Scope } from './scope.ts'
import { VIEW } from './view.ts'

export type RoleEntry = NonNullable<Scope['roles']>[number]

/** `own` grants access only to objects of the user's own identity, `self` only to the access key that was presented. */
export type Grant = 'all' | 'own' | 'self' | undefined

interface Role {
  implies: readonly string[]
  grants(attributes: Attributes, entry: RoleEntry, options: ScopeOptions): Grant
}

const nothing = (): Grant => undefined
const READ: readonly string[] = ['get', 'list', 'watch']
const STATUS: readonly string[] = ['get', 'update', 'patch']

/** Reports whether the request creates a TokenReview or a SubjectAccessReview. */
export const isReview = (attributes: Attributes): boolean =>
  attributes.kind === 'resource' &&
  attributes.verb === 'create' &&
  attributes.subresource === '' &&
  creatorsOf(attributes) === 'clusters'

/** The role with which a job rotates the access key that it uses. */
export const SELF_ROTATE = 'selfRotate'

const ROLES: ReadonlyMap<string, Role> = new Map(
  Object.entries({
    agent: { implies: ['network-peer'], grants: connected },
    vcluster: { implies: ['network-peer'], grants: connected },
    'network-peer': { implies: [], grants: nothing },
    runner: { implies: ['network-peer'], grants: nothing },
    workspace: { implies: [], grants: nothing },
    platformCLI: { implies: [], grants: commandLine },
    [SELF_ROTATE]: { implies: [], grants: selfRotation },
    // The other lists say where it holds: see evaluate.ts.
    [VIEW]: { implies: [], grants: nothing },
  }),
)

/** The valid values of `spec.scope.roles[].role`. */
export const ROLE_NAMES: readonly string[] = [...ROLES.keys()]

/** Returns what a role entry allows of a request. An unknown role allows nothing. */
export function roleGrants(entry: RoleEntry, attributes: Attributes, options: ScopeOptions): Grant {
  const role = ROLES.get(entry.role ?? '')
  if (role === undefined) return undefined
  return [role, ...role.implies.map((name) => ROLES.get(name))]
    .map((one) => one?.grants(attributes, entry, options))
    .reduce((best, grant) => (best === 'all' ? best : (grant ?? best)), undefined)
}

/** Reports whether the role permits reviews, which it gives to users who may not create them otherwise. */
export const givesReviews = ({ role }: RoleEntry): boolean => ROLES.get(role ?? '')?.grants === connected

/** Reports whether the scope has a role that permits reviews. */
export const hasReviews = ({ roles = [] }: Scope = {}): boolean => roles.some(givesReviews)

/** Reports whether requests to this API show what the role is for. Roles of other services and of later releases allow nothing here. */
export const isJudgedHere = ({ role }: RoleEntry): boolean => {
  const found = ROLES.get(role ?? '')
  return found !== undefined && found.grants !== nothing
}

export const hasSelfRotate = ({ roles = [] }: Scope): boolean => roles.some(({ role }) => role === SELF_ROTATE)

/** agent and vcluster: create reviews, read instances, and read and update their status. */
function connected(attributes: Attributes, entry: RoleEntry, options: ScopeOptions): Grant {
  if (attributes.kind !== 'resource') return undefined
  const { target, verb, subresource } = attributes
  if (isReview(attributes)) {
    if (target.type === 'Management') return 'all'
    if (target.type !== 'ProjectVirtualCluster') return undefined
    return within(entry, target.project, target.virtualCluster) ? 'all' : undefined
  }
  const verbs = subresource === 'status' ? STATUS : subresource === '' ? READ : []
  return isInstance(attributes) && verbs.includes(verb) && within(entry, ...placeOf(attributes, options))
    ? 'all'
    : undefined
}

/**
 * platformCLI: read instances and the user's own keys. Keys belong to no project, so a narrowed role does not include
 * them.
 */
function commandLine(attributes: Attributes, entry: RoleEntry, options: ScopeOptions): Grant {
  if (attributes.kind !== 'resource' || attributes.target.type !== 'Management') return undefined
  if (attributes.subresource !== '' || !READ.includes(attributes.verb)) return undefined
  if (isInstance(attributes)) return within(entry, ...placeOf(attributes, options)) ? 'all' : undefined
  return isAccessKey(attributes) && within(entry, undefined, '') ? 'own' : undefined
}

/** selfRotate: read and rotate the key that was presented. Keys belong to no project, as for platformCLI. */
function selfRotation(attributes: Attributes, entry: RoleEntry): Grant {
  if (attributes.kind !== 'resource' || !isAccessKey(attributes)) return undefined
  const { verb, subresource } = attributes
  const isRotation = verb === 'create' && subresource === KINDS.OwnedAccessKeyRotation.subresource
  const meant = isRotation || (verb === 'get' && subresource === '')
  return meant && within(entry, undefined, '') ? 'self' : undefined
}

/** Reports whether the request is for objects of a kind of this API or one of their subresources. */
const isFor = ({ group, plural }: KindRow, attributes: ResourceAttributes): boolean =>
  attributes.target.type === 'Management' && attributes.group === group && attributes.resource === plural

const isAccessKey = (attributes: ResourceAttributes): boolean => isFor(KINDS.OwnedAccessKey, attributes)

/** Reports whether the request is for instances of this API or one of their subresources. */
export const isInstance = (attributes: ResourceAttributes): boolean => isFor(KINDS.VirtualClusterInstance, attributes)

/** Reports whether the request is for connected clusters as objects of this API or one of their subresources. */
export const isCluster = (attributes: ResourceAttributes): boolean => isFor(KINDS.Cluster, attributes)

/** Reports whether the request creates a token for connected clusters. */
export const isTokenRequest = (attributes: Attributes): boolean =>
  attributes.kind === 'resource' &&
  isFor(KINDS.DirectClusterEndpointToken, attributes) &&
  attributes.verb === 'create' &&
  attributes.subresource === ''

/** Reports whether the request reviews the access of a key of this API. */
export const isKeyReview = (attributes: Attributes): attributes is ResourceAttributes =>
  attributes.kind === 'resource' &&
  isAccessKey(attributes) &&
  attributes.subresource === KINDS.OwnedAccessKeyAccessReview.subresource

const placeOf = ({ namespace, name }: ResourceAttributes, options: ScopeOptions): [string | undefined, string] => [
  projectOf(namespace, options),
  name,
]

/**
 * Reports whether the entry covers a virtual cluster of a project. Name '' means all virtual clusters; an undefined
 * project means outside of projects.
 */
function within(
  { projects = [], virtualClusters = [] }: RoleEntry,
  project: string | undefined,
  name: string,
): boolean {
  const inProject = projects.length === 0 || projects.some((listed) => listed === '*' || listed === project)
  const inList = virtualClusters.length === 0 || virtualClusters.some((listed) => isListed(listed))
  return inProject && inList

  function isListed(listed: string): boolean {
    if (listed === '*') return true
    if (project === undefined) return false
    const slash = listed.indexOf('/')
    if (slash < 0) return projects.length > 0 && name !== '' && listed === name
    const ofName = listed.slice(slash + 1)
    return listed.slice(0, slash) === project && (ofName === '*' || selects(ofName, name))
  }
}
