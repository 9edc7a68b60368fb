/**
 * Computes the state and expiry of a key (docs/access-keys.md, "Life"), which every request checks. All times are Unix
 * seconds.
 */
import { type Cause, closedBy, lifeIn } from '../../access/users/ends.ts'
import type { KeySpec } from '../../access/users/identity.ts'
import type { KubeObject } from '../../engine/meta/types.ts'
import { defined } from '../../engine/meta/value/defined.ts'
import type { Stored } from '../../engine/storage/interface.ts'
import { decodeKeyInternal } from './keyinternal.ts'
import type { LIFE, LIFE_OPTIONAL, RecordOf } from './strictrecord.ts'

/** The part of a credential that determines its lifetime. */
export interface KeyLife extends RecordOf<typeof LIFE, typeof LIFE_OPTIONAL> {}

/** What is stored beside the object of a key and determines its lifetime. */
type Beside = Pick<KeyLife, 'lastActivity' | 'endedUnused'>

/** Returns the lifetime members of a key object. */
export function lifeOf(
  object: KubeObject,
  { lastActivity, endedUnused }: { [Name in keyof Beside]?: Beside[Name] | undefined } = {},
): KeyLife {
  const { ttl, ttlAfterLastActivity } = (object.spec ?? {}) as KeySpec
  return {
    created: Math.floor(Date.parse(object.metadata.creationTimestamp ?? '') / 1000),
    ...defined({ lastActivity, endedUnused }),
    ...(ttl && { ttl: Math.min(Number(ttl), Number.MAX_SAFE_INTEGER) }),
    ttlAfterLastActivity: ttlAfterLastActivity === true,
    ...lifeIn(object),
  }
}

/** Returns the lifetime members of a stored key. The store keeps the last activity in milliseconds. */
export const lifeOfStored = ({
  object,
  internal,
  activity,
}: Pick<Stored, 'object' | 'internal' | 'activity'>): KeyLife =>
  lifeOf(object, {
    lastActivity: activity === undefined ? undefined : Math.floor(activity / 1000),
    endedUnused: decodeKeyInternal(internal).endedUnused,
  })

type KeyState = 'Active' | 'Expired' | Cause

export interface KeyStatus {
  state: KeyState
  /**
   * The first second in which the key is expired; absent means never. The expiry of a sliding key moves with each use.
   */
  expires?: number
}

/** Deploy-time maximum in seconds. It also applies to keys that were created before it was set. */
export interface LifeLimits {
  maxTtl?: number
}

/** The last second that a timestamp can show: 9999-12-31T23:59:59Z. A later expiry counts as none. */
const END_OF_TIME = 253_402_300_799

/** Returns the state and expiry of a key. What people ended takes precedence over an expiry. */
export function keyStatus(life: KeyLife, now: number, limits: LifeLimits = {}): KeyStatus {
  const expires = expiryOf(life, limits)
  return { state: state(life, now, expires), ...(expires !== undefined && { expires }) }
}

const state = (life: KeyLife, now: number, expires: number | undefined): KeyState =>
  closedBy(life) ?? (expires !== undefined && now >= expires ? 'Expired' : 'Active')

/** Returns the first second in which the key is expired or has ended unused, or undefined when it never expires. */
export function expiryOf(life: KeyLife, limits: LifeLimits = {}): number | undefined {
  const { endedUnused = Number.POSITIVE_INFINITY } = life
  const end = Math.min(endedUnused, endOfTtl(life, limits) ?? Number.POSITIVE_INFINITY)
  return end === Number.POSITIVE_INFINITY ? undefined : end
}

function endOfTtl(life: KeyLife, limits: LifeLimits): number | undefined {
  const ttl = boundTtl(life.ttl, limits)
  if (ttl === undefined) return undefined
  const from = life.ttlAfterLastActivity ? Math.max(life.created, life.lastActivity ?? 0) : life.created
  return from + ttl > END_OF_TIME ? undefined : from + ttl
}

function boundTtl(ttl: number | undefined, { maxTtl }: LifeLimits): number | undefined {
  const least = Math.min(ttl || Number.POSITIVE_INFINITY, maxTtl || Number.POSITIVE_INFINITY)
  return least === Number.POSITIVE_INFINITY ? undefined : least
}

/** Maximum age of the stored last activity before it is updated. */
export const ACTIVITY_SECONDS = 60

/**
 * Reports whether a use of the key should update its last activity. Short ttls need earlier updates, so that sliding
 * keys in use do not expire.
 */
export function isActivityDue(life: KeyLife, now: number, limits: LifeLimits = {}): boolean {
  const ttl = boundTtl(life.ttl, limits) ?? Number.POSITIVE_INFINITY
  return life.lastActivity === undefined || now - life.lastActivity > Math.min(ACTIVITY_SECONDS, ttl / 4)
}

/** The longest time in seconds for which a request may continue after it was authorized. */
export const REQUEST_SECONDS = 30

/** The message of the 401 for a known but invalid key. */
export const INVALID_KEY_REASONS: Readonly<Record<Exclude<KeyState, 'Active'>, string>> = {
  Disabled: 'access key is disabled',
  Expired: 'access key has expired',
  Terminating: 'access key is being deleted',
  Unused: 'access key has ended, because nobody used it for too long',
}
