/**
 * Decides what a user may do with keys, after the scope chain has allowed the request. The rules are pure functions of
 * the user, the current key and the desired key.
 */
import { formatValue } from '../../engine/meta/encoding/badvalue.ts'
import { deepEqual } from '../../engine/meta/value/equal.ts'
import { containsChain, extendChain, withScope } from '../scopes/chain.ts'
import type { ScopeChain } from '../scopes/scope.ts'
import { lengthens } from './ends.ts'
import { type Inherited, identityOf, isMaster, type Key, type KeySpec, ownIdentities, ownsKey } from './identity.ts'
import { type KeyChange, type Moment, outlivingChange, outlivingCreation } from './outliving.ts'
import { sourcesForbidChange, sourcesForbidCreation, widensSources } from './sourcecidrs.ts'
import type { UserInfo } from './user.ts'

/** Types that users may choose. The service itself manages the others. */
const USER_TYPES: ReadonlySet<string> = new Set(['', 'User', 'Other'])

/** Reports whether users manage keys of this type. */
export const isUserType = (type = ''): boolean => USER_TYPES.has(type)

/** The members that only system:masters may change. */
const PRIVILEGED = ['user', 'team', 'subject', 'groups', 'type'] as const

/**
 * Reports whether the user may see the key; if not, the response is 404. `own` comes from the decision on the request:
 * it limits even system:masters to their own keys.
 */
export const maySeeKey = (user: UserInfo, key: Pick<Key, 'spec' | 'creator'>, own?: boolean): boolean =>
  (isMaster(user) && own !== true) || ownsKey(user, key)

/** Returns the index partitions with the keys that the user may see. Undefined means all keys. */
export const visiblePartitions = (user: UserInfo, own?: boolean): readonly string[] | undefined =>
  isMaster(user) && own !== true ? undefined : ownIdentities(user)

/** Returns the chain that a key inherits from its creator. `effectiveChain` adds the key's own scope. */
export const inheritedChain = (user: UserInfo): ScopeChain => extendChain(user.chain, [])

/** Returns the chain that requests with this key must satisfy. */
export const effectiveChain = ({ spec, carried }: Pick<Key, 'spec' | 'carried'>): ScopeChain =>
  withScope(carried, spec.scope)

/** Returns why the user may not create this key now (403), or undefined. */
export const forbiddenCreation = (user: UserInfo, spec: KeySpec, moment: Moment): string | undefined =>
  outlivingCreation(user, spec, moment) ??
  sourcesForbidCreation(user, spec) ??
  (isMaster(user) ? undefined : exceeds(user, spec))

/**
 * Returns why the user may not change the spec of a visible key to `next` (403), or undefined. Call it for every change
 * in spec, including the key's value and the other write-only fields.
 */
export function forbiddenChange(user: UserInfo, old: Key, next: KeySpec, change: KeyChange): string | undefined {
  const reason =
    exceedsScope(user, old, next, change.noun) ??
    outlivingChange(user, old, next, change) ??
    sourcesForbidChange(user, old.spec, next, change)
  if (reason !== undefined || isMaster(user)) return reason
  const changed = PRIVILEGED.find((member) => text(old.spec[member]) !== text(next[member]))
  return changed ? `only system:masters may change spec.${changed}` : exceeds(user, next)
}

/**
 * Returns what a key inherits after the user changes its spec to `next`. The chain keeps its scopes and gains any scope of the
 * user's own chain that the change would remove. A scoped caller that replaces the scope of its own key thus keeps the old scope
 * beneath the new one.
 */
export function chainAfterChange(user: UserInfo, { carried, born = carried.length }: Key, next: KeySpec): Inherited {
  if (next.dropAddedScopes) return { carried: carried.slice(0, born) }
  const after = effectiveChain({ spec: next, carried })
  const more = user.chain.filter((scope) => !containsChain(after, [scope]))
  const all = extendChain(carried, more)
  return { carried: all, ...(born < all.length && { born }) }
}

/** Returns the scopes that changes of the key have added to the inherited ones, besides its own. */
export const addedScopes = ({ spec, carried, born }: Pick<Key, 'spec' | keyof Inherited>): ScopeChain =>
  born === undefined ? [] : carried.slice(born).filter((scope) => !deepEqual(scope, spec.scope))

/**
 * Returns why a scoped caller may not change the key, or undefined. This applies to system:masters too, because scopes
 * are evaluated before groups.
 */
function exceedsScope(user: UserInfo, old: Key, next: KeySpec, noun = 'access key'): string | undefined {
  if (user.chain.length === 0) return undefined
  const reason = lacksChainReason(user, old, noun)
  if (reason !== undefined) return reason
  if (old.spec.scope && !next.scope) return 'an access key with a scope may not remove spec.scope'
  if (next.dropAddedScopes) return 'an access key with a scope may not drop scopes that were added'
  if (widensSources(old.spec, next)) return 'an access key with a scope may not widen spec.sourceCIDRs'
  if (lengthens(old.spec, next))
    return `an access key with a scope may not extend the lifetime of ${noun === 'access key' ? 'an' : 'a'} ${noun}`
  return undefined
}

/**
 * Returns why a key is beyond the scopes of a caller: it is not the caller's own, and does not carry all of them. Such a caller changes
 * nothing of it: labels and the status decide which keys lists and revocations find, and a finalizer how long it stays.
 */
export function lacksChainReason(user: UserInfo, old: Key, noun: string): string | undefined {
  const isOwn = user.key.uid !== '' && user.key.uid === old.uid
  if (user.chain.length === 0 || isOwn || containsChain(effectiveChain(old), user.chain)) return undefined
  return `the access key used has a scope that this ${noun} does not inherit`
}

/** Returns which part of the spec exceeds the user's own privileges, or undefined. */
function exceeds(user: UserInfo, { user: name, team, subject, groups = [], type = '' }: KeySpec): string | undefined {
  const identity = identityOf(user)
  if (name && identity !== `user:${name}`) return 'spec.user: only system:masters may create access keys for others'
  if (team && !user.groups.includes(`team:${team}`)) {
    return `spec.team: only system:masters may create access keys for teams that they do not belong to`
  }
  if (subject && identity !== `subject:${subject}`)
    return `spec.subject: only system:masters may create access keys for others`
  const lacking = groups.find((group) => !user.groups.includes(group))
  if (lacking !== undefined) return `spec.groups: ${formatValue(user.name)} is not in group ${formatValue(lacking)}`
  return isUserType(type) ? undefined : `spec.type: access keys of type ${formatValue(type)} are managed by the service`
}

/** Returns the same text for equal values. Empty and absent values are equal. */
const text = (value: string | string[] | undefined): string =>
  value === undefined || value.length === 0 ? '' : JSON.stringify(value)
