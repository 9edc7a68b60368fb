/**
 * Derives the writes of credentials from a change of a key: every value that has not ended has one, with everything that the
 * authorizer needs, and a value that ended leaves a tombstone. All are in the transaction of the key.
 */
import type { JsonObject } from '../../engine/meta/types.ts'
import { deepEqual } from '../../engine/meta/value/equal.ts'
import type { Companion } from '../../engine/storage/interface.ts'
import {
  BRIEF,
  type Credential,
  credentialItemKey,
  credentialOf,
  KEY_ATTRIBUTES,
  STATE_ATTRIBUTES,
  type StoredKey,
  UNUSED,
  writableCredential,
} from '../credential/credential.ts'
import { INDEX_ATTRIBUTES, indexAttributes, rotationIndex } from '../credential/expiryindex.ts'
import { decodeKeyInternal } from '../credential/keyinternal.ts'
import { type LifeLimits, REQUEST_SECONDS } from '../credential/keystatus.ts'
import type { KeyHash } from '../credential/pepper.ts'
import { type Sealed, seal, sealedIn } from '../credential/sealed.ts'
import { type EndedValue, generationOf, isUnrotated, type KeyValue, sameHash, valuesOf } from './keyvalues.ts'
import { isTombstone, tombstoneAttributes } from './tombstone.ts'

/** A change of a key that exists before and after it. */
interface KeyUpdate {
  before: StoredKey
  after: StoredKey
  /** The write-only values that the request sets. Others are kept. */
  sealed: Sealed
  /** The values that the change ends. Those that are not listed end as `replaced`. */
  ended: readonly EndedValue[]
  /** When the value that is pending before the change was first used, if it was. */
  firstUsed?: number
  /** Whether that value was found unused. The change is decided by that, so it does not change a value that was used since. */
  isUnused?: boolean
  /** The last activity of the key, in unix seconds, as it was read with the key. */
  lastActivity?: number
}

interface WriteDeps {
  limits: LifeLimits
  /** For how many seconds a tombstone is kept. */
  retentionSeconds: number
  /** Reads the items that are stored under these hashes, in the same order, in one call. */
  readCredentials(hashes: readonly KeyHash[]): Promise<readonly (JsonObject | undefined)[]>
}

/** How many seconds after it was made an unused value stalls its rotation. The index then has the value at that time. */
export const STALLED_SECONDS = 86_400

/**
 * Returns the write for a new key. Storage rejects it (CompanionExists) when another key has the same value. `hint` is that of
 * a generated value.
 */
export const createCredential = (key: StoredKey, sealed: Sealed, limits: LifeLimits, hint?: string): Companion[] =>
  valuesOf(decodeKeyInternal(key.internal)).map((value) => ({
    op: 'put',
    ...credentialItemKey(value.credential),
    attributes: { ...newAttributes(key, value, limits), ...(hint !== undefined && { hint }), ...seal(sealed) },
    ifAbsent: true,
  }))

/**
 * Returns the writes for a key that is removed permanently. A key that finalizers still hold is updated instead, and its
 * credentials record the deletion.
 */
export function deleteCredentials({ internal }: StoredKey): Companion[] {
  const key = decodeKeyInternal(internal)
  const living = valuesOf(key).map(({ credential }): Companion => ({ op: 'delete', ...credentialItemKey(credential) }))
  return [...living, ...(key.ended ? [indexTombstone(key.credential, {})] : [])]
}

/** Returns the write that gives the tombstone of a leaked current value a position in the index, or none. */
const indexTombstone = (hash: KeyHash, index: JsonObject): Companion => ({
  op: 'set',
  ...credentialItemKey(hash),
  attributes: index,
  remove: INDEX_ATTRIBUTES.filter((name) => !Object.hasOwn(index, name)),
})

/**
 * Returns the writes for a changed key, `now` in unix seconds. Values that stay keep their activity and omitted sealed values.
 * A new value gets the sealed values and the last sources, and a new current one the last activity as well.
 */
export async function updateCredentials(update: KeyUpdate, now: number, deps: WriteDeps): Promise<Companion[]> {
  const { before, after, sealed } = update
  const from = decodeKeyInternal(before.internal)
  const isPlain = isUnrotated(from)
  const old = valuesOf(from)
  const to = decodeKeyInternal(after.internal)
  const next = valuesOf(to)
  const added = next.filter((value) => find(old, value) === undefined)
  const gone = old.filter((value) => find(next, value) === undefined)
  const read = [
    ...(added.length > 0 ? [from.credential] : []),
    ...(isPlain ? [] : gone.map(({ credential }) => credential)),
  ].filter((one, index, all) => all.findIndex((other) => sameHash(one, other)) === index)
  const items = read.length === 0 ? [] : await deps.readCredentials(read)
  const itemOf = (hash: KeyHash) => items[read.findIndex((one) => sameHash(one, hash))]
  const kept = next.flatMap((value): Companion[] => {
    const previous = find(old, value)
    if (previous === undefined) return []
    const isSame = deepEqual(partsOf(before, previous), partsOf(after, value))
    const isGuarded = update.isUnused === true && value.state === 'Pending'
    if (isSame && !isGuarded && Object.keys(sealed).length === 0) return []
    const when = { attributes: { uid: before.object.metadata.uid ?? '' }, lacks: UNUSED.lacks }
    return [{ ...setOf(update, value, deps.limits), ...(isGuarded && { when }) }]
  })
  const ends = gone.map(({ credential, state, facts }): Companion => {
    const key = credentialItemKey(credential)
    // A key that was never rotated leaves nothing of the value that another key replaces.
    if (isPlain && isUnrotated(to) && reasonOf(update, credential) === 'replaced') return { op: 'delete', ...key }
    return tombstoneWrite(update, { credential, state, ...(facts && { facts }) }, itemOf(credential), now, deps)
  })
  const puts = added.map((value): Companion => {
    const source = itemOf(from.credential) ?? {}
    const attributes = newAttributes(after, value, deps.limits, activityOf(source, update, isPlain))
    return {
      op: 'put',
      ...credentialItemKey(value.credential),
      attributes: { ...attributes, ...sourcesIn(source), ...sealedIn(source), ...seal(sealed) },
      ifAbsent: true,
    }
  })
  const tombstone = from.ended
    ? [indexTombstone(from.credential, leakedIndex(update, from.credential, deps.limits))]
    : []
  return [...kept, ...ends, ...puts, ...tombstone]
}

/**
 * Returns the position in the index of the tombstone of a current value that has leaked, by which the sweep finds the key
 * until it has another current value. It moves only with writes of the key.
 */
function leakedIndex({ after, lastActivity }: KeyUpdate, hash: KeyHash, limits: LifeLimits): JsonObject {
  const internal = decodeKeyInternal(after.internal)
  const isCurrent = internal.ended !== undefined && sameHash(internal.credential, hash)
  return isCurrent ? indexAttributes(credentialOf(after.object, internal, lastActivity), limits) : {}
}

/** Returns the attribute with the last sources, if the item has one. */
const sourcesIn = ({ sources }: JsonObject): JsonObject => (sources === undefined ? {} : { sources })

const find = (values: readonly KeyValue[], { credential }: KeyValue): KeyValue | undefined =>
  values.find((one) => sameHash(one.credential, credential))

/** Returns what the credential of a value repeats. If it is unchanged, the credential is not written. */
function partsOf({ object, internal }: StoredKey, value: KeyValue) {
  const { creator, carried, federation, pending, endedUnused } = decodeKeyInternal(internal)
  return {
    creator,
    carried,
    federation,
    endedUnused,
    value,
    pending: value.state === 'Current' ? pending : undefined,
    spec: object.spec ?? {},
    deleted: object.metadata.deletionTimestamp !== undefined,
    generation: object.metadata.generation,
  }
}

/** Returns the attributes for a value, besides its position in the index. */
function attributesOf({ object, internal }: StoredKey, value: KeyValue, lastActivity?: number): Credential {
  const key = decodeKeyInternal(internal)
  const { facts, overlap, until, state } = value
  const { generation, ...credential } = credentialOf(object, key, lastActivity)
  const pending = state === 'Current' ? key.pending : undefined
  return writableCredential({
    ...credential,
    ...(generation !== undefined && { generation: generationOf(value, generation) }),
    ...(facts && { value: facts.number, made: facts.made }),
    ...(facts?.hint && { hint: facts.hint }),
    ...(pending && { successor: pending.credential, overlap: pending.overlap }),
    ...(pending && pending.overlap < REQUEST_SECONDS && { [BRIEF]: true }),
    ...(state === 'Pending' && { pending: true, overlap: overlap ?? 0 }),
    ...(until !== undefined && { until }),
  })
}

/** Returns the position in the index for a value, unless only a use of the value says it. */
function indexOf(value: KeyValue, credential: Credential, limits: LifeLimits): JsonObject {
  if (value.until !== undefined && !credential.deleted) return rotationIndex(value.until)
  return value.state === 'Current' ? indexAttributes(credential, limits) : {}
}

function newAttributes(key: StoredKey, value: KeyValue, limits: LifeLimits, activity?: number): JsonObject {
  const isPending = value.state === 'Pending'
  const credential = attributesOf(key, value, isPending ? undefined : activity)
  const index =
    isPending && !credential.deleted
      ? rotationIndex((value.facts?.made ?? 0) + STALLED_SECONDS)
      : indexOf(value, credential, limits)
  return { ...(credential as unknown as JsonObject), ...index }
}

/**
 * Returns the write for a value that the key has before and after. It keeps when the value was used; the last activity only
 * determines its position in the index.
 */
function setOf(
  { before, after, sealed, lastActivity }: KeyUpdate,
  value: KeyValue,
  limits: LifeLimits,
): Extract<Companion, { op: 'set' }> {
  const credential = attributesOf(after, value, lastActivity)
  const { lastActivity: _, ...attributes } = credential as unknown as JsonObject
  const index = indexOf(value, credential, limits)
  const isPending = value.state === 'Pending' && !credential.deleted
  const isPlain = [before, after].every(({ internal }) => isUnrotated(decodeKeyInternal(internal)))
  const removable = [
    ...KEY_ATTRIBUTES,
    ...(isPlain ? [] : STATE_ATTRIBUTES),
    ...(isPlain || value.state === 'Retiring' ? [] : [BRIEF]),
    ...(isPending ? [] : INDEX_ATTRIBUTES),
  ]
  const written: JsonObject = { ...attributes, ...index }
  const remove = removable.filter((name) => !Object.hasOwn(written, name))
  return { op: 'set', ...credentialItemKey(value.credential), attributes: { ...written, ...seal(sealed) }, remove }
}

const reasonOf = ({ ended }: KeyUpdate, hash: KeyHash) =>
  ended.find(({ credential }) => sameHash(credential, hash))?.reason ?? 'replaced'

/**
 * Returns the write of a tombstone. A pending value that is taken for unused must be unused still, else its first use has
 * ended the current value.
 */
function tombstoneWrite(
  update: KeyUpdate,
  { credential, state, facts }: Pick<KeyValue, 'credential' | 'state' | 'facts'>,
  item: JsonObject | undefined,
  now: number,
  { limits, retentionSeconds }: WriteDeps,
): Companion {
  const { object, internal } = update.before
  const { name, uid, user } = credentialOf(object, decodeKeyInternal(internal))
  const stored = typeof item?.firstUsed === 'number' ? item.firstUsed : undefined
  const firstUsed = state === 'Pending' ? update.firstUsed : stored
  const tombstone = {
    ended: reasonOf(update, credential),
    name,
    uid,
    user,
    at: now,
    ...(firstUsed !== undefined && { firstUsed }),
    value: facts?.number ?? 1,
    ...(state === 'Pending' && firstUsed === undefined && { unused: true as const }),
  }
  const isGuarded = state === 'Pending' && firstUsed === undefined && item !== undefined && !isTombstone(item)
  return {
    op: 'put',
    ...credentialItemKey(credential),
    attributes: { ...tombstoneAttributes(tombstone, retentionSeconds), ...leakedIndex(update, credential, limits) },
    ...(isGuarded && { when: { attributes: { uid }, lacks: UNUSED.lacks } }),
  }
}

/** Returns the last activity for a value that replaces the current one. The activity of a rotated key may be that of another value. */
function activityOf(item: JsonObject, { lastActivity = 0 }: KeyUpdate, isPlain: boolean): number | undefined {
  const own = typeof item.lastActivity === 'number' ? item.lastActivity : 0
  const latest = isPlain ? own : Math.max(own, lastActivity)
  return latest === 0 ? undefined : latest
}
