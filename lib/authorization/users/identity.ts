/**
 * Whom a key stands for, and which keys are whose: a request's user is the first set of the key's user, team, subject, or
 * else the one who made the key.
 */

import type { Scope, ScopeChain } from '../scopes/scope.ts'
import type { Identity, UserInfo } from './user.ts'

/** The group that may do everything that its scope leaves it. */
export const MASTERS = 'system:masters'
/** The group that every user of an access key is in. */
export const AUTHENTICATED = 'system:authenticated'

/** What of a key's spec decides about privileges. All else (identity, oidcProvider, oidcLogin, parent) grants nothing. */
export interface KeySpec {
  user?: string
  team?: string
  subject?: string
  groups?: string[]
  type?: string
  scope?: Scope
  /** Seconds. */
  ttl?: number | bigint
  ttlAfterLastActivity?: boolean
  disabled?: boolean
}

/** A stored key as the privilege rules see it. `carried` is what it inherited, without its own scope. */
export interface Key {
  uid: string
  spec: KeySpec
  creator: Identity
  carried: ScopeChain
}

/** Whether the user is of that group, whatever scopes leave them. */
export const isMaster = ({ groups }: Pick<UserInfo, 'groups'>): boolean => groups.includes(MASTERS)

/** Whom the key stands for. Empty text counts as not set. */
export function keyIdentity({ spec: { user, team, subject }, creator }: Pick<Key, 'spec' | 'creator'>): Identity {
  if (user) return `user:${user}`
  if (team) return `team:${team}`
  return subject ? `subject:${subject}` : creator
}

/** Beginnings of names that mean something else than a user: no user or subject is named so. */
export const RESERVED_NAMES = ['system:', 'team:', 'subject:'] as const

/**
 * Returns the username of an identity: the bare name of a user, `team:TEAM`, `subject:SUBJECT`. No two identities share one,
 * so that whoever knows no more than the username, such as a cluster that verifies a token, tells them apart.
 */
export const usernameOf = (identity: Identity): string => (identity.startsWith('user:') ? nameOf(identity) : identity)

/** Name and groups that a request with this key has. The group of a team's keys is `team:TEAM`, too. */
export function effectiveUser(key: Pick<Key, 'spec' | 'creator'>): {
  name: string
  identity: Identity
  groups: string[]
} {
  const identity = keyIdentity(key)
  const groups = [...(key.spec.groups ?? []), AUTHENTICATED]
  if (key.spec.team) groups.push(`team:${key.spec.team}`)
  if (identity.startsWith('team:')) groups.push(identity)
  return { name: usernameOf(identity), identity, groups: [...new Set(groups)] }
}

/** Whom a request stands for. */
export function identityOf({ identity, name, key }: Pick<UserInfo, 'identity' | 'name' | 'key'>): Identity {
  if (identity !== undefined) return identity
  return keyIdentity({ spec: key, creator: /^(team|subject):./u.test(name) ? (name as Identity) : `user:${name}` })
}

/** The identities whose keys belong to the user: also the names of the index partitions in which those keys lie. */
export function ownIdentities(user: UserInfo): Identity[] {
  const teams = user.groups.filter((group): group is `team:${string}` => /^team:./.test(group))
  return [...new Set([identityOf(user), ...teams])]
}

/** Whether the key belongs to the user; to system:masters none does for that alone. */
export const ownsKey = (user: UserInfo, key: Pick<Key, 'spec' | 'creator'>): boolean =>
  ownIdentities(user).includes(keyIdentity(key))

/** The name within its kind: `alice` of `user:alice`. */
export const nameOf = (identity: Identity): string => identity.slice(identity.indexOf(':') + 1)
