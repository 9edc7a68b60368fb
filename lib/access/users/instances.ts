/**
 * Decides what a user may do with a VirtualClusterInstance or a Cluster, which has no owner, after the scope chain has allowed the request.
 * system:masters may do everything. Owners may do everything except change where kube configs point or who has access.
 * Other users may do what `spec.access` allows.
 */

import { deepEqual } from '../../engine/meta/value/equal.ts'
import { own } from '../../engine/meta/value/walk.ts'
import { KINDS } from '../../kinds.ts'
import type { Decision } from '../attributes/attributes.ts'
import { identityOf, isMaster } from './identity.ts'
import type { UserInfo } from './user.ts'

interface AccessRule {
  /** Verbs of this API, `use` (create a kube config), or `*`. An entry without verbs grants nothing. */
  verbs?: readonly string[]
  /** The subresources that the entry applies to. When empty, it applies to the instance itself. */
  subresources?: readonly string[]
  users?: readonly string[]
  teams?: readonly string[]
}

/** The part of an instance's spec that determines access. */
export interface InstanceSpec {
  owner?: { user?: string; team?: string }
  access?: readonly AccessRule[]
}

const { subresource: KUBE_CONFIG } = KINDS.VirtualClusterInstanceKubeConfig

/** The members of an instance that determine ownership, access and where kube configs point. Only system:masters may change them. */
const PROTECTED = [
  'owner',
  'access',
  'accessPoint',
  'certificateAuthorityData',
  'proxyURL',
  'tlsServerName',
  'tokens',
  'serviceAccounts',
  'credentialsSecretRef',
] as const

/**
 * The verbs of an owner, by subresource. Owners may delete: this removes the entry, not the virtual cluster, and
 * affects no one else. Owners may not create: administrators choose the entry's name and credentials.
 */
const OWNER: Readonly<Record<string, readonly string[]>> = {
  '': ['get', 'list', 'watch', 'update', 'patch', 'delete', 'deletecollection', 'use'],
  status: ['get'],
  [KUBE_CONFIG]: ['create'],
}

/** Decides whether the user may perform the verb on this instance. `subresource` is '' for the instance itself. */
export function mayAccess(user: UserInfo, spec: InstanceSpec, verb: string, subresource: string): Decision {
  if (isMaster(user)) return { allowed: true, reason: 'system:masters' }
  if (isOwner(user, spec)) {
    if (own(OWNER, subresource)?.includes(verb)) return { allowed: true, reason: 'spec.owner' }
  }
  const creates = verb === 'create' && subresource === ''
  const index = creates
    ? -1
    : (spec.access ?? []).findIndex((rule) => opens(rule, verb, subresource) && names(rule, user))
  if (index >= 0) return { allowed: true, reason: `spec.access[${index}]` }
  return { allowed: false, reason: 'neither spec.owner nor spec.access of the instance allows it' }
}

/**
 * Returns why the user may not make this change (403), or undefined. Every user with update access may change the rest
 * of the spec.
 */
export function forbiddenInstanceChange(
  user: UserInfo,
  old: Readonly<Record<string, unknown>>,
  next: Readonly<Record<string, unknown>>,
  members: readonly string[] = PROTECTED,
): string | undefined {
  if (isMaster(user)) return undefined
  const changed = members.find((member) => !deepEqual(old[member], next[member]))
  return changed && `only system:masters may change spec.${changed}`
}

/** Reports whether the user has this name. A subject with the same name is a different identity. */
const isUser = (user: UserInfo, name: string | undefined): boolean => !!name && identityOf(user) === `user:${name}`
const isMember = ({ groups }: UserInfo, team: string | undefined): boolean => !!team && groups.includes(`team:${team}`)

const isOwner = (user: UserInfo, { owner }: InstanceSpec): boolean =>
  isUser(user, owner?.user) || isMember(user, owner?.team)

const names = ({ users = [], teams = [] }: AccessRule, user: UserInfo): boolean =>
  users.some((name) => isUser(user, name)) || teams.some((team) => isMember(user, team))

function opens({ verbs = [], subresources = [] }: AccessRule, verb: string, subresource: string): boolean {
  const listed = subresource === '' ? subresources.length === 0 : subresources.includes(subresource)
  if (listed && (verbs.includes(verb) || verbs.includes('*'))) return true
  const uses = verb === 'create' && subresource === KUBE_CONFIG && verbs.includes('use')
  return uses && (subresources.length === 0 || listed)
}
