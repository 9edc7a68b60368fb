/**
 * Reads and writes the internal part of a key, which is stored and versioned with the key and never leaves the server.
 */
import { parseChain } from '../authorization/scopes/parsechain.ts'
import type { Scope } from '../authorization/scopes/scope.ts'
import { parseTrials, type ScopeTrial } from '../authorization/trials/scopetrial.ts'
import type { Inherited } from '../authorization/users/identity.ts'
import type { ReviewRight } from '../authorization/users/reviewright.ts'
import type { Federation, Identity } from '../authorization/users/user.ts'
import type { JsonObject } from '../meta/types.ts'
import { DAY_SECONDS } from '../meta/value/durations.ts'
import type { Makers } from './makers.ts'
import type { KeyHash } from './pepper.ts'
import {
  isCount,
  isIdentity,
  isNonEmptyText,
  isNonEmptyTextList,
  keptRecord,
  part,
  strictRecord,
} from './strictrecord.ts'

/** How long a former scope is kept. */
export const FORMER_SECONDS = 30 * DAY_SECONDS

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
  /** For how many seconds the current value keeps working after the first use of this one. */
  overlap: number
}

/** The previous value, which works until a fixed time. */
export interface RetiringValue extends ValueFacts {
  credential: KeyHash
  /** Unix seconds: the first second in which the value is invalid. */
  until: number
}

/** A report of a leak. */
export interface Leak {
  /** Unix seconds. */
  at: number
  /** Where the value was found, as the reporter says, without credentials. */
  url?: string
}

/** The trials of a scope, as they are stored with the object that has the scope. */
export interface TrialInternal {
  /** The trial of `spec.scopeTrial`: whose item it has, and when it began, in unix seconds. */
  trial?: { uid: string; since: number }
  /** When the last trial that has ended began, in unix seconds. */
  lastTrial?: number
  /** The trials of the keys that made this one, as they were then. */
  trials?: readonly ScopeTrial[]
  /** The scope before another one was made real. No `scope`: there was none. `at` is in unix seconds. */
  former?: { scope?: Scope; at: number }
}

export interface KeyInternal extends TrialInternal, ReviewRight, Inherited, Makers {
  /** The identity of the key's creator. */
  creator: Identity
  /** Where the credential of the current value is stored. */
  credential: KeyHash
  /** Facts of the current value. Absent: it is number 1, made when the key was created. */
  value?: ValueFacts
  /** Present when the current value itself has ended: its item is a tombstone, and no write revives it. */
  ended?: 'leaked'
  /** The report that ended it. */
  leak?: Leak
  pending?: PendingValue
  retiring?: RetiringValue
  /** Present when an exchange made the key. It never changes. */
  federation?: Federation
  /** When the person of an exchanged key signed in, in unix seconds. It never changes. */
  signedIn?: number
  /** Unix seconds. Reviews refuse tokens of the key that were issued before it. Present when a value of the key has leaked. */
  tokensNotBefore?: number
  /** The last expiry that a write of the row has announced to watches, in unix seconds. */
  touchedExpiry?: number
  /** The members that this release does not know. Every write of the key keeps them. */
  unknown?: JsonObject
}

const HASH = { version: isNonEmptyText, hash: isNonEmptyText }
const FACTS = { number: isCount, made: isCount }
const FACTS_OPTIONAL = { hint: isNonEmptyText, since: isCount }
const PASSED = { uid: isNonEmptyText, revision: isCount }

/** Parses the stored form of a hash. Throws an Error for anything else. */
export const parseKeyHash = (value: unknown): KeyHash => strictRecord('the credential of a key', value, HASH)

/** Parses the stored form of what an exchanged key came through. Throws an Error for anything else. */
export const parseFederation = (value: unknown): Federation =>
  strictRecord('a federation', value, {
    trust: part((trust) => strictRecord('the trust of a federation', trust, PASSED)),
    provider: part((provider) => strictRecord('the provider of a federation', provider, PASSED)),
  })

const parseScope = (value: unknown): Scope => parseChain([value])[0] ?? {}

/** How the member of `ReviewRight` is read. */
export const RIGHT = { reviewScope: part(parseScope) }

/** How the members of `TrialInternal` are read. */
export const TRIAL = {
  trial: part((trial) => strictRecord('a trial', trial, { uid: isNonEmptyText, since: isCount })),
  lastTrial: isCount,
  trials: part(parseTrials),
  former: part((former) => strictRecord('a former scope', former, { at: isCount }, { scope: part(parseScope) })),
}

const credential = part(parseKeyHash)

const stored = keptRecord(
  'the internal part of a key',
  { creator: isIdentity, carried: part(parseChain), credential },
  {
    born: isCount,
    makers: isNonEmptyTextList,
    maker: isNonEmptyText,
    value: part((value) => strictRecord('the value of a key', value, FACTS, FACTS_OPTIONAL)),
    ended: (value: unknown) => value === 'leaked',
    leak: part((leak) => strictRecord('a report of a leak', leak, { at: isCount }, { url: isNonEmptyText })),
    pending: part((value) => {
      const members = { ...FACTS, credential, overlap: isCount }
      return strictRecord('the pending value of a key', value, members, FACTS_OPTIONAL)
    }),
    retiring: part((value) => {
      const members = { ...FACTS, credential, until: isCount }
      return strictRecord('the retiring value of a key', value, members, FACTS_OPTIONAL)
    }),
    federation: part(parseFederation),
    signedIn: isCount,
    tokensNotBefore: isCount,
    touchedExpiry: isCount,
    ...RIGHT,
    ...TRIAL,
  },
)

/** Returns the stored form. */
export const encodeKeyInternal = (internal: KeyInternal): JsonObject => stored.write(internal)

/** Stored forms that have been read. One request needs a key's for its access, its status and its write, and none changes it. */
const known = new WeakMap<JsonObject, KeyInternal>()

/** Parses the stored form, once per stored object. Throws an Error for anything else. */
export function decodeKeyInternal(value: JsonObject): KeyInternal {
  const internal = known.get(value) ?? stored.read(value)
  known.set(value, internal)
  return internal
}
