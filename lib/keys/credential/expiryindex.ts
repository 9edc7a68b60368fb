/** Computes the position of credentials in the index by which expired keys and finished rotations are found. */
import type { JsonObject } from '../../engine/meta/types.ts'
import type { Credential } from './credential.ts'
import { expiryOf, type LifeLimits } from './keystatus.ts'

/**
 * The sparse index, and its attributes, in which the sweep finds expired keys. It omits keys without an expiry and keys
 * under deletion. The stored time applies the maximum ttl at the key's last write or use. Keys that an exchange made have
 * a partition of their own, because they are retained for another time. New values of open rotations and retiring values
 * have one, which finds the keys whose rotation has ended.
 */
export const EXPIRY_INDEX = {
  name: 'expiry',
  partition: 'expiryIndex',
  sort: 'expiry',
  value: 'credential',
  exchanged: 'federated',
  rotation: 'rotation',
} as const

/** The attributes of the index. */
export const INDEX_ATTRIBUTES: readonly string[] = [EXPIRY_INDEX.partition, EXPIRY_INDEX.sort]

/** Returns the position of the current value in the index by the expiry of its key, if it has one. */
export function indexAttributes(credential: Credential, limits: LifeLimits): JsonObject {
  const at = credential.deleted ? undefined : expiryOf(credential, limits)
  if (at === undefined) return {}
  const value = credential.federation ? EXPIRY_INDEX.exchanged : EXPIRY_INDEX.value
  return { [EXPIRY_INDEX.partition]: value, [EXPIRY_INDEX.sort]: at }
}

/**
 * Returns the attributes, besides the last activity, that a use of the key at `now` writes to its item. Only the current
 * value is in the index by the expiry of the key.
 */
export const activityAttributes = (credential: Credential, now: number, limits: LifeLimits): JsonObject =>
  credential.pending || credential.until !== undefined
    ? {}
    : indexAttributes({ ...credential, lastActivity: now }, limits)

/** Returns the attributes that the first use of a pending value at `now` writes to its item. */
export const firstUseAttributes = (credential: Credential, now: number): JsonObject => ({
  firstUsed: now,
  ...rotationIndex(now + (credential.overlap ?? 0)),
})

/** Returns the position in the index of a value whose rotation is open, or of a retiring one, until `at`. */
export const rotationIndex = (at: number): JsonObject => ({
  [EXPIRY_INDEX.partition]: EXPIRY_INDEX.rotation,
  [EXPIRY_INDEX.sort]: at,
})
