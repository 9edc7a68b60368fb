/**
 * A key with an end leaves no access behind that outlives it: it makes no key that does, and gives nobody more of one that
 * does. Else whoever got hold of it for an hour would keep access for ever.
 */

import { rfc3339 } from '../../meta/encoding/time.ts'
import { canonicalText } from '../scopes/chain.ts'
import { isMaster, type Key, type KeySpec } from './identity.ts'
import { lengthens, outlives } from './lifetime.ts'
import type { UserInfo } from './user.ts'

/** Whoever has just signed in may make keys: only the service makes keys of this type, for who signs in. */
const LOGIN = 'Login'
const SIGNED_IN_SECONDS = 15 * 60

/** When something is asked for, and the deploy-time maximum ttl in seconds. */
export interface Moment {
  now: Date
  maxTtl?: number | undefined
}

/** What a request does to a key, besides its spec. */
export interface Change extends Moment {
  /** Unix seconds, of the key that is changed. */
  created: number
  /** Whether the key gets another value. */
  isRotated: boolean
}

/** Why the user may not make this key at this moment (403), or undefined. */
export function outlivingCreation(user: UserInfo, spec: KeySpec, { now, maxTtl }: Moment): string | undefined {
  const end = endOf(user, now)
  if (end === undefined || !outlives(spec, seconds(now), end, maxTtl)) return undefined
  return `spec.ttl: ${expiryPrefix(end)} make one that could outlive it${advice(user)}`
}

/**
 * Why the user may not change this key to `next` (403), or undefined: of a key that then outlives theirs nobody gets a longer
 * life, a value that they choose, or another scope. It may be disabled, and given a scope or an end.
 */
export function outlivingChange(user: UserInfo, old: Key, next: KeySpec, change: Change): string | undefined {
  const end = endOf(user, change.now)
  if (end === undefined || !outlives(next, change.created, end, change.maxTtl)) return undefined
  const isOwn = user.key.uid !== '' && user.key.uid === old.uid
  const gained = lengthens(old.spec, next) ? 'lengthen the life' : isOwn ? undefined : gain(old.spec, next, change)
  return gained && `${expiryPrefix(end)} ${gained} of one that could outlive it${advice(user)}`
}

const gain = ({ scope }: KeySpec, next: KeySpec, { isRotated }: Change): string | undefined => {
  if (isRotated) return 'change the value'
  return scope && (!next.scope || canonicalText(scope) !== canonicalText(next.scope)) ? 'change the scope' : undefined
}

/** The end of the key that nothing may outlive, Unix seconds; undefined where the user may do as they like. A scope comes before groups. */
function endOf(user: UserInfo, now: Date): number | undefined {
  const { chain, credential, key } = user
  if (chain.length > 0) return key.expires
  const hasSignedIn =
    key.type === LOGIN && credential !== undefined && seconds(now) - credential.created < SIGNED_IN_SECONDS
  return isMaster(user) || hasSignedIn ? undefined : key.expires
}

const seconds = (now: Date): number => Math.floor(now.getTime() / 1000)

const expiryPrefix = (end: number): string =>
  `the access key used expires at ${rfc3339(new Date(end * 1000))} and may not`

const advice = ({ chain, key }: UserInfo): string => (key.type === LOGIN && chain.length === 0 ? '; sign in again' : '')
