/**
 * Prevents an expiring key from leaving behind access that outlives it. Such a key cannot create a longer-lived key or
 * extend the access of one. Otherwise, anyone who obtained the key for an hour could keep access for ever.
 */

import { rfc3339OfUnix, unixSeconds } from '../../meta/encoding/time.ts'
import { canonicalText } from '../scopes/chain.ts'
import { LOGIN } from './exchanged.ts'
import { isMaster, type Key, type KeySpec } from './identity.ts'
import { lengthens, outlives } from './lifetime.ts'
import type { UserInfo } from './user.ts'

/** Users who have just signed in may create keys. Only the service creates keys of type Login, at sign-in. */
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
  /** What the changed object is, in reasons. Default: an access key. */
  noun?: string
}

/**
 * Returns why the user may not `act` on an object that makes keys for as long as it exists (403), or undefined. Every access
 * key that expires is refused, because no ttl limits what the object makes later.
 */
export function lastingReason(user: UserInfo, now: Date, act: string): string | undefined {
  const end = endOf(user, now)
  return end === undefined ? undefined : `${expiryPrefix(end)} ${act}, which could outlive it${advice(user)}`
}

/** Returns why the user may not create this key now (403), or undefined. */
export function outlivingCreation(user: UserInfo, spec: KeySpec, { now, maxTtl }: Moment): string | undefined {
  const end = endOf(user, now)
  if (end === undefined || !outlives(spec, unixSeconds(now), end, maxTtl)) return undefined
  return `spec.ttl: ${expiryPrefix(end)} create one that could outlive it${advice(user)}`
}

/**
 * Returns why the user may not change this key to `next` (403), or undefined. If the key could then outlive the user's
 * own key, the user may not extend its lifetime, choose its value or change its scope. The user may still disable it,
 * and may add a scope or an expiry.
 */
export function outlivingChange(user: UserInfo, old: Key, next: KeySpec, change: KeyChange): string | undefined {
  const end = endOf(user, change.now)
  if (end === undefined || !outlives(next, change.created, end, change.maxTtl)) return undefined
  const isOwn = user.key.uid !== '' && user.key.uid === old.uid
  const gained = lengthens(old.spec, next) ? 'extend the lifetime' : isOwn ? undefined : gain(old.spec, next, change)
  return gained && `${expiryPrefix(end)} ${gained} of one that could outlive it${advice(user)}`
}

const gain = ({ scope }: KeySpec, next: KeySpec, { isRotated }: KeyChange): string | undefined => {
  if (isRotated) return 'change the value'
  return scope && (!next.scope || canonicalText(scope) !== canonicalText(next.scope)) ? 'change the scope' : undefined
}

/**
 * Returns the expiry of the user's key in Unix seconds, or undefined when new keys may outlive it. Scopes are evaluated
 * before groups.
 */
function endOf(user: UserInfo, now: Date): number | undefined {
  const { chain, credential, key } = user
  if (chain.length > 0) return key.expires
  const hasSignedIn =
    key.type === LOGIN && credential !== undefined && unixSeconds(now) - credential.created < SIGNED_IN_SECONDS
  return isMaster(user) || hasSignedIn ? undefined : key.expires
}

const expiryPrefix = (end: number): string => `the access key used expires at ${rfc3339OfUnix(end)} and may not`

const advice = ({ chain, key }: UserInfo): string => (key.type === LOGIN && chain.length === 0 ? '; sign in again' : '')
