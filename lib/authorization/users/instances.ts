/**
 * Who may do what with a VirtualClusterInstance, beyond what the scope chain says of the request. system:masters everything; the
 * owner all that does not decide where a kube config leads or who else gets in; others what `spec.access` says.
 */

import type { Decision } from '../attributes/attributes.ts'
import { canonicalText } from '../scopes/chain.ts'
import { identityOf, isMaster } from './identity.ts'
import type { UserInfo } from './user.ts'

export interface AccessRule {
  /** Verbs of this API, `use` (= creating a kube config), or `*`. None = the entry opens nothing. */
  verbs?: readonly string[]
  /** None = the instance itself; else these subresources and not the instance. */
  subresources?: readonly string[]
  users?: readonly string[]
  teams?: readonly string[]
}

/** What of an instance's spec decides about access. */
export interface InstanceSpec {
  owner?: { user?: string; team?: string }
  access?: readonly AccessRule[]
}

/** The members that say whom the instance belongs to, who gets in, and where its kube configs lead: for system:masters. */
const PROTECTED = ['owner', 'access', 'accessPoint', 'certificateAuthorityData', 'credentialsSecretRef'] as const

/**
 * The verbs of an owner by subresource. Deleting is among them: it takes away the entry, not the virtual cluster, and an owner who
 * lets go of it hurts nobody else. Creating is not: the entry's name and credentials are the administrators' to give.
 */
const OWNER: Readonly<Record<string, readonly string[]>> = {
  '': ['get', 'list', 'watch', 'update', 'patch', 'delete', 'deletecollection', 'use'],
  status: ['get'],
  kubeconfig: ['create'],
}

/** Whether the user may do this to this instance. `subresource` is '' for the instance itself. */
export function mayAccess(user: UserInfo, spec: InstanceSpec, verb: string, subresource: string): Decision {
  if (isMaster(user)) return { allowed: true, reason: 'system:masters' }
  if (isOwner(user, spec)) {
    const verbs = Object.hasOwn(OWNER, subresource) ? OWNER[subresource] : undefined
    if (verbs?.includes(verb)) return { allowed: true, reason: 'spec.owner' }
  }
  const creates = verb === 'create' && subresource === ''
  const index = creates
    ? -1
    : (spec.access ?? []).findIndex((rule) => opens(rule, verb, subresource) && names(rule, user))
  if (index >= 0) return { allowed: true, reason: `spec.access[${index}]` }
  return { allowed: false, reason: 'neither spec.owner nor spec.access of the instance allows it' }
}

/** Why the user may not make this change (403), or undefined. The rest of the spec is for whoever may update. */
export function forbiddenInstanceChange(
  user: UserInfo,
  old: Readonly<Record<string, unknown>>,
  next: Readonly<Record<string, unknown>>,
): string | undefined {
  if (isMaster(user)) return undefined
  const changed = PROTECTED.find((member) => canonicalText(old[member]) !== canonicalText(next[member]))
  return changed && `only system:masters may change spec.${changed}`
}

/** Subjects are no users here either: a subject that is named like one gets nothing of theirs. */
const isUser = (user: UserInfo, name: string | undefined): boolean => !!name && identityOf(user) === `user:${name}`
const isMember = ({ groups }: UserInfo, team: string | undefined): boolean => !!team && groups.includes(`team:${team}`)

const isOwner = (user: UserInfo, { owner }: InstanceSpec): boolean =>
  isUser(user, owner?.user) || isMember(user, owner?.team)

const names = ({ users = [], teams = [] }: AccessRule, user: UserInfo): boolean =>
  users.some((name) => isUser(user, name)) || teams.some((team) => isMember(user, team))

function opens({ verbs = [], subresources = [] }: AccessRule, verb: string, subresource: string): boolean {
  const listed = subresource === '' ? subresources.length === 0 : subresources.includes(subresource)
  if (listed && (verbs.includes(verb) || verbs.includes('*'))) return true
  const uses = verb === 'create' && subresource === 'kubeconfig' && verbs.includes('use')
  return uses && (subresources.length === 0 || listed)
}
