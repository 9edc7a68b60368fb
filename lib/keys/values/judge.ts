/**
 * Judges a value of a key by its credential: whether it gives access now, and which value of the key it is. Rows may not say
 * so yet: a first use changes no row.
 */
import type { JsonObject } from '../../engine/meta/types.ts'
import type { ItemKey } from '../../engine/storage/keys.ts'
import { type Credential, readCredential } from '../credential/credential.ts'
import { endOfGates, findClosedGate, type Gates, gateKeys } from '../credential/gates.ts'
import { INVALID_KEY_REASONS, type KeyStatus, keyStatus, type LifeLimits } from '../credential/keystatus.ts'
import type { KeyHash } from '../credential/pepper.ts'
import type { ValueState } from './keyvalues.ts'
import { ENDED_REASONS, isTombstone, readTombstone } from './tombstone.ts'

/** The reads of a judgement. All are consistent. */
export interface JudgeDeps extends LifeLimits {
  /** Returns the first item that is stored under one of these hashes, with that hash. */
  readCredential(hashes: readonly KeyHash[]): Promise<{ hash: KeyHash; item: JsonObject } | undefined>
  /** Returns the last activity of a key with any of its values, in unix seconds. */
  readActivity(key: { name: string; uid: string }): Promise<number | undefined>
  /** Reads the gates of an exchanged key: one call. */
  readGates(keys: readonly ItemKey[]): Promise<Gates>
  /** Unix milliseconds. */
  now(): number
}

export interface KeyName {
  name: string
  uid: string
  user: string
}

export type Judgement =
  | {
      credential: Credential
      /** A pending value that was used is current, whatever its item says. */
      state: ValueState
      /** For a retiring value: the first second in which it is invalid. */
      until?: number
      /** When the key expires. */
      expires?: number
      /** See `UserInfo`. */
      lastEnd?: number
    }
  /** The reason may be shown to the client that presents the value. `ended`: the value has ended, whatever becomes of the key. */
  | { dead: string; key: KeyName; ended?: true }
  | { unknown: true }

/** How often the item is read again when a rotation begins or ends between two reads. */
const MAX_READS = 3

/**
 * Judges the value with this hash, whose item was read. Reads the credential of a new value while a rotation is open, the
 * gates of an exchanged key, and nothing for all other keys. Rejects for an item that is not in the form of a credential.
 */
export async function judge(hash: KeyHash, item: JsonObject | undefined, deps: JudgeDeps): Promise<Judgement> {
  const now = Math.floor(deps.now() / 1000)
  const found = await stateOfValue(hash, item, deps, now)
  if (!('credential' in found)) return found
  const { credential } = found
  const { state, expires } = await lifeOfKey(credential, now, deps)
  const key = keyOf(credential)
  if (state !== 'Active') return { dead: INVALID_KEY_REASONS[state], key }
  const { federation, tokensEnded = -1 } = credential
  const gates = federation ? await deps.readGates(gateKeys(federation)) : []
  const closed = federation && findClosedGate(federation, gates)
  if (closed !== undefined) return { dead: closed, key }
  // What is issued in the second in which a new value is first used could be of the old one.
  const replaced = found.state === 'Pending' ? now : (credential.firstUsed ?? -1)
  const lastEnd = Math.max(tokensEnded, endOfGates(gates), replaced)
  return { ...found, ...(expires !== undefined && { expires }), ...(lastEnd >= 0 && { lastEnd }) }
}

const keyOf = ({ name, uid, user }: KeyName): KeyName => ({ name, uid, user })

/** Returns which value of its key it is, or that it has ended. Whether the key gives access does not matter. */
export async function stateOfValue(
  hash: KeyHash,
  first: JsonObject | undefined,
  deps: Pick<JudgeDeps, 'readCredential'>,
  now: number,
): Promise<Judgement> {
  let item = first
  for (let reads = 1; ; reads++) {
    if (item === undefined) return { unknown: true }
    if (isTombstone(item)) {
      const tombstone = readTombstone(item)
      return { dead: ENDED_REASONS[tombstone.ended], key: keyOf(tombstone), ended: true }
    }
    const credential = readCredential(item)
    const until = credential.successor
      ? await readEnd(credential, credential.successor, deps)
      : (credential.until ?? Number.POSITIVE_INFINITY)
    if (until !== undefined) return stateOf(credential, until, now)
    // The new value was given up or the key was deleted since the item was read, or the store was restored in part.
    if (reads === MAX_READS) return { dead: ENDED_REASONS.rotated, key: keyOf(credential) }
    item = (await deps.readCredential([hash]))?.item
  }
}

/**
 * Returns the first second in which a value with a successor is invalid: Infinity while the successor is unused, 0 if it has
 * ended after its use. Returns undefined if it ended unused or is missing.
 */
async function readEnd(
  { uid, overlap = 0 }: Credential,
  successor: KeyHash,
  { readCredential: read }: Pick<JudgeDeps, 'readCredential'>,
): Promise<number | undefined> {
  const next = await read([successor])
  if (next === undefined) return undefined
  if (isTombstone(next.item)) return readTombstone(next.item).firstUsed === undefined ? undefined : 0
  const { uid: owner, firstUsed } = readCredential(next.item)
  if (owner !== uid) return 0
  return firstUsed === undefined ? Number.POSITIVE_INFINITY : firstUsed + overlap
}

function stateOf(credential: Credential, until: number, now: number): Judgement {
  if (until <= now) return { dead: ENDED_REASONS.rotated, key: keyOf(credential), ended: true }
  if (until !== Number.POSITIVE_INFINITY) return { credential, state: 'Retiring', until }
  const isPending = credential.pending === true && credential.firstUsed === undefined
  return { credential, state: isPending ? 'Pending' : 'Current' }
}

/**
 * Returns the state and the expiry of the key. Another value may have been used later than this one, so a sliding key with
 * more than one value has not expired before the activity of the key says so.
 */
async function lifeOfKey(credential: Credential, now: number, deps: JudgeDeps): Promise<KeyStatus> {
  const life = keyStatus(credential, now, deps)
  const { successor, pending, firstUsed, until, value = 1, ttlAfterLastActivity, lastActivity = 0 } = credential
  const isPlain = successor === undefined && !pending && firstUsed === undefined && until === undefined
  // The value before a later one may have been used while the later one was made.
  const isAlone = isPlain && value === 1
  if (life.state !== 'Expired' || !ttlAfterLastActivity || isAlone) return life
  const activity = await deps.readActivity(credential)
  if (activity === undefined || activity <= lastActivity) return life
  return keyStatus({ ...credential, lastActivity: activity }, now, deps)
}
