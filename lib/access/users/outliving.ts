/**
 * Prevents an expiring key from leaving behind access that outlives it. Such a key cannot create a longer-lived key or
 * extend the access of one. Otherwise, anyone who obtained the key for an hour could keep access permanently. The end of a value
 * that a rotation has replaced binds in the same way, and without exceptions: its rotation was meant to end all access by it.
 * Limits what may be done to, and with, a key that an exchange made: a job could leave behind access that does not end with its trust.
 */
import { rfc3339OfUnix, unixSeconds } from '../../engine/meta/encoding/time.ts'
import { isSameScope, withScope } from '../scopes/chain.ts'
import { lengthens, lifetimeOf } from './ends.ts'
import { isMaster, type Key, type KeySpec, MASTERS } from './identity.ts'
import type { UserInfo } from './user.ts'

/**
 * Reports whether a key created at `created` could be valid after `end` (both in Unix seconds), for some pattern of
 * use. A key whose expiry slides with its use always could, however short its ttl. `maxTtl` limits every ttl.
 */
const outlives = (spec: KeySpec, created: number, end: number, maxTtl = Number.POSITIVE_INFINITY): boolean =>
  spec.ttlAfterLastActivity === true || created + Math.min(lifetimeOf(spec), maxTtl) > end

/** Users who have just signed in may create keys. Only the service creates keys of type Login, and says since when. */
const SIGNED_IN_SECONDS = 15 * 60

/** The time of the request and the deploy-time maximum ttl in seconds. */
export interface Moment {
  now: Date
  maxTtl?: number | undefined
}

/** A change to a key, besides its spec. */
export interface KeyChange extends Moment {
  /** Creation time of the changed key, in Unix seconds. */
  created: number
  /** Whether the change replaces the key's value. */
  isRotated: boolean
  /** Names the changed object in reasons. Default: an access key. */
  noun?: string
}

/** The end of a key or of a value, in Unix seconds, and the beginning of the refusals. */
interface End {
  at: number
  mayNot: string
  /** Whether it is the end of a value. */
  isOfValue?: true
}

/**
 * Returns why the user may not `act` on an object that makes keys for as long as it exists (403), or undefined. Every access
 * key that expires is refused, because no ttl limits what the object makes later.
 */
export function lastingReason(user: UserInfo, now: Date, act: string): string | undefined {
  const end = endOf(user, now)
  return end && `${end.mayNot} ${act}, which could outlive it${advice(user)}`
}

/** Returns why the user may not create this key now (403), or undefined. */
export function outlivingCreation(user: UserInfo, spec: KeySpec, { now, maxTtl }: Moment): string | undefined {
  const end = endOf(user, now)
  if (end && outlives(spec, unixSeconds(now), end.at, maxTtl)) {
    return `spec.ttl: ${end.mayNot} create one that could outlive it${advice(user)}`
  }
  const value = endOfValue(user)
  return value && isExempt({ spec, carried: user.chain }) ? `${value.mayNot} create ${EXEMPT}` : undefined
}

/**
 * Returns why the user may not change this key to `next` (403), or undefined. If the key could then outlive the user's
 * own key, the user may not extend its lifetime, choose its value or change its scope. The user may still disable it,
 * and may add a scope or an expiry.
 */
export function outlivingChange(user: UserInfo, old: Key, next: KeySpec, change: KeyChange): string | undefined {
  const value = endOfValue(user)
  const isGained = change.isRotated || !isExempt(old)
  const { carried, born } = old
  const left = { spec: next, carried: next.dropAddedScopes ? carried.slice(0, born) : carried }
  if (value && isGained && isExempt(left)) return `${value.mayNot} make or rotate ${EXEMPT}`
  const end = endOf(user, change.now)
  if (end === undefined || !outlives(next, change.created, end.at, change.maxTtl)) return undefined
  const isOwn = user.key.uid !== '' && user.key.uid === old.uid
  const more = isOwn ? undefined : (gain(old.spec, next, change) ?? (end.isOfValue && changedRight(old.spec, next)))
  const gained = lengthens(old.spec, next) ? 'extend the lifetime' : more
  return gained && `${end.mayNot} ${gained} of one that could outlive it${advice(user)}`
}

const RIGHTS = ['user', 'team', 'subject', 'groups', 'type', 'sourceCIDRs'] as const

const changedRight = (old: KeySpec, next: KeySpec): string | undefined => {
  const changed = RIGHTS.find((member) => JSON.stringify(old[member] ?? '') !== JSON.stringify(next[member] ?? ''))
  return changed && `change spec.${changed}`
}

const EXEMPT = `an access key of ${MASTERS} without a scope, whose own expiry would not limit what it makes`

/** Reports whether the end of a key does not bind what it makes. */
const isExempt = ({ spec, carried }: Pick<Key, 'spec' | 'carried'>): boolean =>
  (spec.groups?.includes(MASTERS) || spec.type === LOGIN) && withScope(carried, spec.scope).length === 0

const gain = ({ scope }: KeySpec, next: KeySpec, { isRotated }: KeyChange): string | undefined => {
  if (isRotated) return 'change the value'
  if (next.dropAddedScopes) return 'drop added scopes'
  return scope && !isSameScope(scope, next.scope) ? 'change the scope' : undefined
}

/** Returns when the user's access by this value ends, by the key or by a rotation. Tokens do not outlive it. */
export function endOfAccess({ key, credential }: UserInfo): { expires?: number } {
  const ends = [key.expires, credential?.until].filter((end) => end !== undefined)
  return ends.length === 0 ? {} : { expires: Math.min(...ends) }
}

/** Returns the end of the value of the request, if a rotation has replaced it. It applies to every user. */
function endOfValue({ credential }: UserInfo): End | undefined {
  const at = credential?.until
  const mayNot =
    at !== undefined && `the value of the access key used was rotated, ends at ${rfc3339OfUnix(at)} and may not`
  return mayNot ? { at, mayNot, isOfValue: true } : undefined
}

/** Returns the end that new access may not outlive, or undefined. The earlier one binds. */
function endOf(user: UserInfo, now: Date): End | undefined {
  const value = endOfValue(user)
  const expires = endOfKey(user, now)
  if (expires === undefined || (value && value.at <= expires)) return value
  return { at: expires, mayNot: `the access key used expires at ${rfc3339OfUnix(expires)} and may not` }
}

/**
 * Returns the expiry of the user's key in Unix seconds, or undefined when new keys may outlive it. Scopes are evaluated
 * before groups.
 */
function endOfKey(user: UserInfo, now: Date): number | undefined {
  const { chain, credential, key } = user
  if (chain.length > 0) return key.expires
  const { signedIn = 0 } = credential ?? {}
  const hasSignedIn = key.type === LOGIN && unixSeconds(now) - signedIn < SIGNED_IN_SECONDS
  return isMaster(user) || hasSignedIn ? undefined : key.expires
}

const advice = ({ chain, key }: UserInfo): string => (key.type === LOGIN && chain.length === 0 ? '; sign in again' : '')

/** The type of keys with which people sign in. All other exchanged keys belong to workloads. */
const LOGIN = 'Login'

const isWorkload = ({ federation, key }: UserInfo): boolean => federation !== undefined && key.type !== LOGIN

/**
 * Returns why the user may not do `what` (403), such as `create access keys`, or undefined. This applies to system:masters
 * too.
 */
export const forbiddenToWorkload = (user: UserInfo, what: string): string | undefined =>
  isWorkload(user)
    ? `the access key used comes from an exchanged ID token of a workload and may not ${what}`
    : undefined

/**
 * Returns why the user may not change more of a key than `spec.disabled` (403), or undefined. This applies to
 * system:masters too.
 */
export function forbiddenBeyondDisabling(user: UserInfo, isExchanged: boolean): string | undefined {
  if (isExchanged) return 'an access key that comes from an exchanged ID token can only be disabled or deleted'
  return forbiddenToWorkload(user, 'change access keys, only disable or delete them')
}
