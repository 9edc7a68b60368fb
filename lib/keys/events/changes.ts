/** Derives what happened to a key from a change of its object in the log. */

import { addedCauses, closedBy, endsByField } from '../../access/users/ends.ts'
import type { JsonValue, KubeObject } from '../../engine/meta/types.ts'
import { deepEqual } from '../../engine/meta/value/equal.ts'
import type { Change, Stored } from '../../engine/storage/interface.ts'
import { decodeKeyInternal, type KeyInternal } from '../credential/keyinternal.ts'
import { expiryOf, type LifeLimits, lifeOf, lifeOfStored } from '../credential/keystatus.ts'
import { sameHash } from '../values/keyvalues.ts'
import type { KeyOccurrence } from './event.ts'
import { actorOf, type Happened, occurrenceOf } from './keydata.ts'

/** Returns what happened with one change of a key. The first use of a new value is a signal instead. */
export function occurrences(change: Change, limits: LifeLimits): KeyOccurrence[] {
  const { type, stored, previous, rv, at, by } = change
  return derive(type, stored, previous, { rv, at, limits }).map(({ kind, unique, data }) => ({
    ...occurrenceOf(stored, at, limits, { kind, unique, data: { ...actorOf(by), ...data } }),
    ...(type === 'DELETED' && { gone: true }),
  }))
}

interface Moment {
  rv: number
  at: number
  limits: LifeLimits
}

/** Returns what happened, without what all events of the change have in common. */
function derive(type: Change['type'], stored: Stored, previous: Stored | undefined, moment: Moment): Happened[] {
  if (type === 'ADDED' || !previous) return [{ kind: 'created', unique: '' }]
  if (type === 'DELETED') return isDeleted(previous.object) ? [] : [...expiredBefore(previous, moment), DELETED]
  return [...revocations(previous, stored, moment), ...changes(previous, stored, moment)]
}

/** The deletion of a key, or the mark of one that finalizers keep. Its removal later is not an event. */
const DELETED: Happened = { kind: 'revoked', unique: 'Deleted', data: { how: 'Deleted' } }

const isDeleted = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined

/** A key is revoked once for each cause, and deleted once at all. */
const revocations = (before: Stored, after: Stored, { rv }: Moment): Happened[] =>
  addedCauses(lifeOfStored(before), lifeOfStored(after)).map((how) =>
    how === 'Terminating' ? DELETED : { kind: 'revoked', unique: `${how} ${rv}`, data: { how } },
  )

/** A key that is deleted soon after its expiry may be gone when the expiries of the hour are read. */
function expiredBefore({ object }: Stored, { at, limits }: Moment): Happened[] {
  const life = lifeOf(object)
  const expires = expiryOf(life, limits)
  if (closedBy(life) || life.ttlAfterLastActivity || expires === undefined || expires > at) return []
  return [{ kind: 'expired', unique: String(expires), data: { phase: 'Expired' } }]
}

function changes(previous: Stored, stored: Stored, { rv }: Moment): Happened[] {
  const [before, after] = [decodeKeyInternal(previous.internal), decodeKeyInternal(stored.internal)]
  const started = after.pending && after.pending.number !== before.pending?.number ? after.pending : undefined
  const isUsed = before.pending && sameHash(before.pending.credential, after.credential)
  const replaced = started && !isUsed ? before.pending : undefined
  const fields = [...changedFields(previous.object, stored.object), ...changedInside(before, after)]
  const found: Happened[] = []
  if (started) {
    const { number: value, overlap: overlapSeconds } = started
    found.push({ kind: 'rotation-started', unique: String(value), data: { value, overlapSeconds } })
  }
  if (replaced) {
    const { number: value } = replaced
    found.push({ kind: 'rotation-replaced', unique: String(value), data: { value } })
  }
  if (fields.length > 0) found.push({ kind: 'changed', unique: String(rv), data: { fields } })
  return found
}

/** The parts of the metadata of which `changed` tells. */
const METADATA = ['labels', 'annotations', 'finalizers', 'ownerReferences'] as const

function changedFields(before: KubeObject, after: KubeObject): string[] {
  const [old, next] = [before.spec ?? {}, after.spec ?? {}]
  const names = [...new Set([...Object.keys(old), ...Object.keys(next)])].sort()
  const isChanged = (name: string) =>
    !deepEqual(old[name] ?? null, next[name] ?? null) && !endsByField(name, next[name])
  const metadata = METADATA.filter(
    (name) => !deepEqual((before.metadata[name] ?? null) as JsonValue, (after.metadata[name] ?? null) as JsonValue),
  )
  return [...metadata.map((name) => `metadata.${name}`), ...names.filter(isChanged).map((name) => `spec.${name}`)]
}

const changedInside = (before: KeyInternal, after: KeyInternal): string[] => [
  ...changedValues(before, after),
  ...(deepEqual(before.carried, after.carried) ? [] : ['status.addedScopes']),
]

/** Returns `spec.key` if a value was replaced at once, and `status.values` if a rotation was ended. Settling one is neither. */
function changedValues(before: KeyInternal, after: KeyInternal): string[] {
  const { pending } = before
  const isSettled = pending !== undefined && sameHash(pending.credential, after.credential)
  if (!sameHash(before.credential, after.credential) && !isSettled) return ['spec.key']
  const isDropped = pending !== undefined && !isSettled && after.pending === undefined
  return isDropped ? ['status.values'] : []
}
