/**
 * Reads and writes the internal part of a key, which is stored and versioned with the key and never leaves the server.
 */
import { parseChain } from '../authorization/scopes/parsechain.ts'
import type { ScopeChain } from '../authorization/scopes/scope.ts'
import type { Federation, Identity } from '../authorization/users/user.ts'
import type { JsonObject, JsonValue } from '../meta/types.ts'
import { parseFederation, storedFederation } from './federationform.ts'
import type { KeyHash } from './pepper.ts'
import {
  type Check,
  isCount,
  isIdentity,
  isNonEmptyText,
  isNonEmptyTextList,
  strictRecord,
  unknownMembers,
} from './strictrecord.ts'

/** What is known of a value of a key besides its hash. */
export interface ValueFacts {
  /** Counts the values that rotations made: 1, 2, 3 … */
  number: number
  /** Unix seconds. */
  made: number
  /**
   * The number of the first value of the row in which each value made the next one. Its own number if another key made it.
   * Absent if that is not known: then every earlier value counts as its maker.
   */
  since?: number
  /** The last six characters, if the value was generated here. They are its checksum, so they reveal nothing. */
  hint?: string
}

/** A new value that a rotation made and that the row does not yet know to be used. */
interface PendingValue extends ValueFacts {
  credential: KeyHash
  /** For how many seconds the current value works on after the first use of this one. */
  overlap: number
}

/** The previous value, which works until a fixed time. */
export interface RetiringValue extends ValueFacts {
  credential: KeyHash
  /** Unix seconds: the first second in which the value is invalid. */
  until: number
}

export interface KeyInternal {
  /** The identity of the key's creator. */
  creator: Identity
  /** The scopes inherited from the key that created this one, without its own scope. */
  carried: ScopeChain
  /** Where the credential of the current value is stored. */
  credential: KeyHash
  /** The uids of the keys that made this one, the nearest last. They never change. Absent if no key made it. */
  ancestors?: readonly string[]
  /** The name that the nearest of them had. */
  maker?: string
  /** Facts of the current value. Absent: it is number 1, made when the key was created. */
  value?: ValueFacts
  /** Present when the current value itself has ended: its item is a tombstone, and no write revives it. */
  ended?: 'leaked'
  pending?: PendingValue
  retiring?: RetiringValue
  /** Present when an exchange made the key. It never changes. */
  federation?: Federation
  /** When the person of an exchanged key signed in, in unix seconds. It never changes. */
  signedIn?: number
  /** Unix seconds. Reviews refuse tokens of the key that were issued before it. Present when a value of the key has leaked. */
  tokensNotBefore?: number
  /** The members that this release does not know. Whoever writes the key keeps them. */
  unknown?: JsonObject
}

/** Returns the stored form. */
export const encodeKeyInternal = ({
  unknown,
  creator,
  carried,
  credential,
  ancestors,
  maker,
  value,
  ended,
  pending,
  retiring,
  federation,
  signedIn,
  tokensNotBefore,
}: KeyInternal): JsonObject => ({
  ...unknown,
  creator,
  carried: carried as unknown as JsonValue,
  credential: storedHash(credential),
  ...(ancestors && { ancestors: [...ancestors] }),
  ...(maker !== undefined && { maker }),
  ...(value && { value: storedFacts(value) }),
  ...(ended && { ended }),
  ...(pending && { pending: { ...storedValue(pending), overlap: pending.overlap } }),
  ...(retiring && { retiring: { ...storedValue(retiring), until: retiring.until } }),
  ...(federation && { federation: storedFederation(federation) }),
  ...(signedIn !== undefined && { signedIn }),
  ...(tokensNotBefore !== undefined && { tokensNotBefore }),
})

const storedHash = ({ version, hash }: KeyHash): JsonObject => ({ version, hash })

const storedFacts = ({ number, made, since, hint }: ValueFacts): JsonObject => ({
  number,
  made,
  ...(since !== undefined && { since }),
  ...(hint !== undefined && { hint }),
})

const storedValue = (value: ValueFacts & { credential: KeyHash }): JsonObject => ({
  ...storedFacts(value),
  credential: storedHash(value.credential),
})

/** Stored forms that have been read. One request needs a key's for its access, its status and its write, and none changes it. */
const known = new WeakMap<JsonObject, KeyInternal>()

/** Parses the stored form, once per stored object. Throws an Error for anything else. */
export function decodeKeyInternal(value: JsonObject): KeyInternal {
  const internal = known.get(value) ?? parseKeyInternal(value)
  known.set(value, internal)
  return internal
}

function parseKeyInternal(stored: JsonObject): KeyInternal {
  const record = strictRecord('the internal part of a key', stored, MEMBERS, OPTIONAL)
  const { creator, carried, credential, value, ended, pending, retiring, federation, tokensNotBefore } = record
  const { ancestors, maker, signedIn } = record
  return {
    creator: creator as Identity,
    carried: parseChain(carried),
    credential: parseKeyHash(credential),
    ...(ancestors !== undefined && { ancestors: ancestors as string[] }),
    ...(maker !== undefined && { maker: maker as string }),
    ...(value !== undefined && { value: parseFacts('the value of a key', value) }),
    ...(ended !== undefined && { ended: 'leaked' }),
    ...(pending !== undefined && {
      pending: parseValue<PendingValue>('the pending value of a key', pending, 'overlap'),
    }),
    ...(retiring !== undefined && {
      retiring: parseValue<RetiringValue>('the retiring value of a key', retiring, 'until'),
    }),
    ...(federation !== undefined && { federation: parseFederation(federation) }),
    ...(signedIn !== undefined && { signedIn: signedIn as number }),
    ...(tokensNotBefore !== undefined && { tokensNotBefore: tokensNotBefore as number }),
    ...unknownMembers(stored, MEMBERS, OPTIONAL),
  }
}

/** Parses the stored form of a hash. Throws an Error for anything else. */
export function parseKeyHash(value: unknown): KeyHash {
  const { version, hash } = strictRecord('the credential of a key', value, HASH)
  return { version: version as string, hash: hash as string }
}

const parseFacts = (what: string, value: unknown): ValueFacts =>
  strictRecord(what, value, FACTS, FACTS_OPTIONAL) as unknown as ValueFacts

function parseValue<V extends PendingValue | RetiringValue>(what: string, value: unknown, time: keyof V & string): V {
  const members: Record<string, Check> = { ...FACTS, credential: () => true, [time]: isCount }
  const { credential, ...facts } = strictRecord(what, value, members, FACTS_OPTIONAL)
  return { ...facts, credential: parseKeyHash(credential) } as unknown as V
}

const isAny: Check = () => true
const HASH = { version: isNonEmptyText, hash: isNonEmptyText }
const FACTS = { number: isCount, made: isCount }
const FACTS_OPTIONAL = { hint: isNonEmptyText, since: isCount }
const MEMBERS = { creator: isIdentity, carried: Array.isArray, credential: isAny }
const OPTIONAL = {
  ancestors: isNonEmptyTextList,
  maker: isNonEmptyText,
  value: isAny,
  ended: (value: unknown) => value === 'leaked',
  pending: isAny,
  retiring: isAny,
  federation: isAny,
  signedIn: isCount,
  tokensNotBefore: isCount,
}
