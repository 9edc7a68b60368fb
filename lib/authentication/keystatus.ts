/** Whether a key may be used, and until when (docs/access-keys.md, "Life"). Checked on every request. All times are Unix seconds. */
import type { KeySpec } from '../authorization/users/identity.ts'
import type { KubeObject } from '../meta/types.ts'

/** What of a credential decides about its life. */
export interface KeyLife {
  created: number
  /** Absent before the first use. */
  lastActivity?: number
  /** 0 or absent = no end of its own. */
  ttl?: number
  /** The ttl counts from the last activity, before the first use from the creation. */
  ttlAfterLastActivity: boolean
  disabled: boolean
  /** It has a deletionTimestamp, whatever finalizers hold it. */
  deleted: boolean
}

/** What the object of a key says of its life; the last activity lies beside it. */
export function lifeOf({ metadata, spec = {} }: KubeObject, lastActivity?: number): KeyLife {
  const { ttl, ttlAfterLastActivity, disabled } = spec as KeySpec
  return {
    created: Math.floor(Date.parse(metadata.creationTimestamp ?? '') / 1000),
    ...(lastActivity !== undefined && { lastActivity }),
    ...(ttl && { ttl: Math.min(Number(ttl), Number.MAX_SAFE_INTEGER) }),
    ttlAfterLastActivity: ttlAfterLastActivity === true,
    disabled: disabled === true,
    deleted: metadata.deletionTimestamp !== undefined,
  }
}

export type KeyState = 'Active' | 'Disabled' | 'Expired' | 'Terminating'

export interface KeyStatus {
  state: KeyState
  /** The first second in which it is expired; absent = never. For a sliding key: unless it is used before. */
  expires?: number
}

/** A deploy-time maximum, in seconds; binds keys that were made before it was set. */
export interface LifeLimits {
  maxTtl?: number
}

/** The last second that a timestamp can show: 9999-12-31T23:59:59Z. What ends later has no end. */
const END_OF_TIME = 253_402_300_799

/** What a key is and when it ends; deletion outranks disabling, which outranks expiry. */
export function keyStatus(life: KeyLife, now: number, limits: LifeLimits = {}): KeyStatus {
  const expires = expiry(life, limits)
  return { state: state(life, now, expires), ...(expires !== undefined && { expires }) }
}

function state({ deleted, disabled }: KeyLife, now: number, expires: number | undefined): KeyState {
  if (deleted) return 'Terminating'
  if (disabled) return 'Disabled'
  return expires !== undefined && now >= expires ? 'Expired' : 'Active'
}

/** The first second in which the key is expired, undefined = never. */
export function expiry(life: KeyLife, limits: LifeLimits = {}): number | undefined {
  const ttl = boundTtl(life.ttl, limits)
  if (ttl === undefined) return undefined
  const from = life.ttlAfterLastActivity ? Math.max(life.created, life.lastActivity ?? 0) : life.created
  return from + ttl > END_OF_TIME ? undefined : from + ttl
}

function boundTtl(ttl: number | undefined, { maxTtl }: LifeLimits): number | undefined {
  const least = Math.min(ttl || Number.POSITIVE_INFINITY, maxTtl || Number.POSITIVE_INFINITY)
  return least === Number.POSITIVE_INFINITY ? undefined : least
}

/** How old a last activity becomes before it is written again, at most. */
const ACTIVITY_SECONDS = 60

/** Whether the last activity is so old that a use of the key should move it; for short ttls earlier, so that sliding keys survive. */
export function activityDue(life: KeyLife, now: number, limits: LifeLimits = {}): boolean {
  const ttl = boundTtl(life.ttl, limits) ?? Number.POSITIVE_INFINITY
  return life.lastActivity === undefined || now - life.lastActivity > Math.min(ACTIVITY_SECONDS, ttl / 4)
}

/** The message of the 401 for a known key that may not be used. */
export const INVALID_KEY_REASONS: Readonly<Record<Exclude<KeyState, 'Active'>, string>> = {
  Disabled: 'access key is disabled',
  Expired: 'access key has expired',
  Terminating: 'access key is being deleted',
}
