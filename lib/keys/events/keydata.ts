/**
 * Builds the data that every event has about its key. It never contains values or hashes of keys, scopes, annotations or the
 * description.
 */

import { effectiveUser, type KeySpec } from '../../access/users/identity.ts'
import { effectiveChain } from '../../access/users/privilege.ts'
import { holdsRight } from '../../access/users/reviewright.ts'
import { rfc3339OfUnix } from '../../engine/meta/encoding/time.ts'
import type { JsonObject, JsonValue } from '../../engine/meta/types.ts'
import { defined } from '../../engine/meta/value/defined.ts'
import type { Stored } from '../../engine/storage/interface.ts'
import { decodeKeyInternal } from '../credential/keyinternal.ts'
import { keyStatus, type LifeLimits, lifeOfStored } from '../credential/keystatus.ts'
import type { KeyOccurrence } from './event.ts'

/** More labels than this are left out, because an event has a size limit. */
const LABEL_BYTES = 8 * 1024
const TEXT_LENGTH = 1024

/**
 * Returns the data about a key as it was at `at` (unix seconds). If the ttl counts from the last activity and that is not
 * known, the expiry is left out.
 */
export function keyData(stored: Stored, at: number, limits: LifeLimits): JsonObject {
  const { object, internal, activity } = stored
  const { metadata } = object
  const spec = (object.spec ?? {}) as KeySpec & { displayName?: JsonValue }
  const right = decodeKeyInternal(internal)
  const { creator, carried } = right
  const life = lifeOfStored(stored)
  const isKnown = !life.ttlAfterLastActivity || activity !== undefined
  const { state, expires } = keyStatus(isKnown ? life : { ...life, lastActivity: at }, at, limits)
  return {
    owner: shortened(effectiveUser({ spec, creator }).name),
    ...identity(spec),
    type: spec.type ?? '',
    ...(typeof spec.displayName === 'string' && spec.displayName && { displayName: shortened(spec.displayName) }),
    ...labels(metadata.labels ?? {}),
    scoped: spec.scope !== undefined,
    // Without it, a cluster may refuse all users.
    ...(holdsRight(right, effectiveChain({ spec, carried })) && { mayReview: true }),
    phase: state,
    ...(isKnown && expires !== undefined && { expirationTimestamp: rfc3339OfUnix(expires) }),
  }
}

/** What happened to a key, without the key. */
export type Happened = Pick<KeyOccurrence, 'kind' | 'unique'> & Partial<Pick<KeyOccurrence, 'data'>>

/** Returns what happened to a key at `at`, with the data about the key. */
export function occurrenceOf(stored: Stored, at: number, limits: LifeLimits, happened: Happened): KeyOccurrence {
  const { name = '', uid = '' } = stored.object.metadata
  return { ...happened, name, uid, at, data: { ...keyData(stored, at, limits), ...happened.data } }
}

function identity({ user, team, subject }: KeySpec): JsonObject {
  if (user) return { user: shortened(user) }
  if (team) return { team: shortened(team) }
  return subject ? { subject: shortened(subject) } : {}
}

/** Cuts a text, but no character of it in two: half of one is not Unicode, which the bus may refuse. */
const shortened = (text: string): string => text.slice(0, TEXT_LENGTH).replace(/[\ud800-\udbff]$/, '')

function labels(all: Readonly<Record<string, string>>): JsonObject {
  if (Object.keys(all).length === 0) return {}
  return Buffer.byteLength(JSON.stringify(all)) > LABEL_BYTES ? { labelsOmitted: true } : { labels: { ...all } }
}

/** Returns who made a change, as events name it. */
export function actorOf(by: JsonObject | undefined): { actor?: JsonObject } {
  if (!by) return {}
  const { user, key, keyUid, requestId } = by
  return {
    actor: {
      ...(typeof user === 'string' && { user: shortened(user) }),
      ...defined({ accessKey: key, accessKeyUid: keyUid, auditId: requestId }),
    },
  }
}
