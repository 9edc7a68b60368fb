/**
 * Resolves the identity of a key and who owns it. The identity is the first of the key's user, team and subject that is
 * set, or else the key's creator.
 */

import type { Scope, ScopeChain } from '../scopes/scope.ts'
import type { Identity, UserInfo } from './user.ts'

/** The group of administrators. Only scopes restrict its members. */
export const MASTERS = 'system:masters'
/** The group of every authenticated user. */
export const AUTHENTICATED = 'system:authenticated'

/** The first word of the run of a key that no exchange made. In every other run it is in quotes (lib/federation/run.ts). */
export const KEY_RUN = 'key'

/** Returns which run of a job uses the key of a request: that of the exchange that made it, or `key NAME`. */
export const runOfUser = ({ federation, key }: Pick<UserInfo, 'federation' | 'key'>): string =>
  federation?.run ?? `${KEY_RUN} ${key.name}`

/**
 * The part of a key's spec that determines privileges. The other members (identity, oidcProvider, oidcLogin, parent)
 * grant nothing.
 */
export interface KeySpec {
  user?: string
  team?: string
  subject?: string
  groups?: string[]
  type?: string
  scope?: Scope
  /** Drops the scopes that were added to the inherited ones. Never stored. */
  dropAddedScopes?: boolean
  /** Seconds. */
  ttl?: number | bigint
  ttlAfterLastActivity?: boolean
  disabled?: boolean
  /** The IP addresses and CIDRs from which the key may be used. Empty or absent: all. */
  sourceCIDRs?: string[]
}

/** The scopes that a key carries besides its own. */
export interface Inherited {
  carried: ScopeChain
  /** With how many of them the key was made, if changes have added the others. */
  born?: number
}

/** A stored key, as the privilege rules see it. */
export interface Key extends Inherited {
  uid: string
  spec: KeySpec
  creator: Identity
}

/** Reports whether the user is in system:masters, regardless of scopes. */
export const isMaster = ({ groups }: Pick<UserInfo, 'groups'>): boolean => groups.includes(MASTERS)

/** Returns the identity of the key. An empty string counts as unset. */
export function keyIdentity({ spec: { user, team, subject }, creator }: Pick<Key, 'spec' | 'creator'>): Identity {
  if (user) return `user:${user}`
  if (team) return `team:${team}`
  return subject ? `subject:${subject}` : creator
}

/** Prefixes with a meaning of their own. No user or subject name may start with one. */
export const RESERVED_NAMES = ['system:', 'team:', 'subject:'] as const

/**
 * Returns the username of an identity: the bare name of a user, `team:TEAM` or `subject:SUBJECT`. Usernames are unique,
 * so that a system that sees only the username, such as a cluster that verifies a token, can tell identities apart.
 */
export const usernameOf = (identity: Identity): string => (identity.startsWith('user:') ? nameOf(identity) : identity)

/** Returns the identity of a username: the inverse of `usernameOf`. */
export const identityNamed = (username: string): Identity =>
  /^(team|subject):./u.test(username) ? (username as Identity) : `user:${username}`

/** Returns the name and groups of requests with this key. Keys of a team are also in the group `team:TEAM`. */
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

export function identityOf({ identity, name, key }: Pick<UserInfo, 'identity' | 'name' | 'key'>): Identity {
  if (identity !== undefined) return identity
  return keyIdentity({ spec: key, creator: identityNamed(name) })
}

/**
 * Returns the identities whose keys the user owns. They are also the names of the index partitions that hold those
 * keys.
 */
export function ownIdentities(user: UserInfo): Identity[] {
  const teams = user.groups.filter((group): group is `team:${string}` => /^team:./.test(group))
  return [...new Set([identityOf(user), ...teams])]
}

/** Reports whether the user owns the key. Membership of system:masters alone does not make a user an owner. */
export const ownsKey = (user: UserInfo, key: Pick<Key, 'spec' | 'creator'>): boolean =>
  ownIdentities(user).includes(keyIdentity(key))

/** Returns the name without its kind: `alice` for `user:alice`. */
export const nameOf = (identity: Identity): string => identity.slice(identity.indexOf(':') + 1)
