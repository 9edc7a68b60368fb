/**
 * Who may do what with keys, beyond what the scope chain says of the request. Pure rules over the user, the key as it is and the
 * key as it would be.
 */

import { formatValue } from '../../meta/encoding/badvalue.ts'
import { containsChain, extend, withScope } from '../scopes/chain.ts'
import type { ScopeChain } from '../scopes/scope.ts'
import { identityOf, isMaster, type Key, type KeySpec, ownIdentities, ownsKey } from './identity.ts'
import { lengthens } from './lifetime.ts'
import { type Change, type Moment, outlivingChange, outlivingCreation } from './outliving.ts'
import type { UserInfo } from './user.ts'

/** Types that people may choose; the others are managed by the service itself. */
const USER_TYPES: ReadonlySet<string> = new Set(['', 'User', 'Other'])

/** The members that only system:masters change. */
const PRIVILEGED = ['user', 'team', 'subject', 'groups', 'type'] as const

/**
 * Whether the key exists for the user; where it does not, the answer is 404. `own` is that of the decision on the request: with
 * it system:masters see their own keys only, too.
 */
export const maySeeKey = (user: UserInfo, key: Pick<Key, 'spec' | 'creator'>, own?: boolean): boolean =>
  (isMaster(user) && own !== true) || ownsKey(user, key)

/** The index partitions that hold the keys that the user may see; undefined = all keys. */
export const visiblePartitions = (user: UserInfo, own?: boolean): readonly string[] | undefined =>
  isMaster(user) && own !== true ? undefined : ownIdentities(user)

/** The chain that a key inherits from the one who makes it. Its own scope comes on top: `effectiveChain`. */
export const inheritedChain = (user: UserInfo): ScopeChain => extend(user.chain, [])

/** The chain that a request with this key must pass. */
export const effectiveChain = ({ spec, carried }: Pick<Key, 'spec' | 'carried'>): ScopeChain =>
  withScope(carried, spec.scope)

/** Why the user may not make this key at this moment (403), or undefined. */
export const forbiddenCreation = (user: UserInfo, spec: KeySpec, moment: Moment): string | undefined =>
  outlivingCreation(user, spec, moment) ?? (isMaster(user) ? undefined : exceeds(user, spec))

/**
 * Why the user may not change the spec of a key that exists for them to `next` (403), or undefined. To be asked for every change of
 * anything in spec, the key's value and the other write-only fields included.
 */
export function forbiddenChange(user: UserInfo, old: Key, next: KeySpec, change: Change): string | undefined {
  const reason = exceedsScope(user, old, next) ?? outlivingChange(user, old, next, change)
  if (reason !== undefined || isMaster(user)) return reason
  const changed = PRIVILEGED.find((member) => text(old.spec[member]) !== text(next[member]))
  return changed ? `only system:masters may change spec.${changed}` : exceeds(user, next)
}

/**
 * The inherited chain of a key after the user changed its spec to `next`: as before, and what the user's own chain would
 * otherwise lose (a scoped caller that replaces the scope of its own key keeps the old one beneath it).
 */
export function chainAfterChange(user: UserInfo, old: Key, next: KeySpec): ScopeChain {
  const after = effectiveChain({ spec: next, carried: old.carried })
  return extend(
    old.carried,
    user.chain.filter((scope) => !containsChain(after, [scope])),
  )
}

/** What a caller with a scope may not do to a key, system:masters included: the scope comes before the groups. */
function exceedsScope(user: UserInfo, old: Key, next: KeySpec): string | undefined {
  if (user.chain.length === 0) return undefined
  const isOwn = user.key.uid !== '' && user.key.uid === old.uid
  if (!isOwn && !containsChain(effectiveChain(old), user.chain)) {
    return 'the access key used has a scope that this access key does not carry'
  }
  if (old.spec.scope && !next.scope) return 'an access key with a scope may not remove spec.scope'
  if (lengthens(old.spec, next)) return 'an access key with a scope may not lengthen the life of an access key'
  return undefined
}

/** What of the spec is more than the user has. */
function exceeds(user: UserInfo, { user: name, team, subject, groups = [], type = '' }: KeySpec): string | undefined {
  const identity = identityOf(user)
  if (name && identity !== `user:${name}`) return 'spec.user: only system:masters may make access keys for others'
  if (team && !user.groups.includes(`team:${team}`)) {
    return `spec.team: only system:masters may make access keys for teams that they are not in`
  }
  if (subject && identity !== `subject:${subject}`)
    return `spec.subject: only system:masters may make access keys for others`
  const lacking = groups.find((group) => !user.groups.includes(group))
  if (lacking !== undefined) return `spec.groups: ${formatValue(user.name)} is not in group ${formatValue(lacking)}`
  return USER_TYPES.has(type)
    ? undefined
    : `spec.type: access keys of type ${formatValue(type)} are managed by the service`
}

/** Equal for equal values; an empty value is as good as none. */
const text = (value: string | string[] | undefined): string =>
  value === undefined || value.length === 0 ? '' : JSON.stringify(value)
