/**
 * Reads and writes the internal part of a key, which is stored and versioned with the key and never leaves the server.
 */
import { parseChain } from '../../access/scopes/parsechain.ts'
import type { Scope } from '../../access/scopes/scope.ts'
import type { Federation } from '../../access/users/user.ts'
import type { JsonObject } from '../../engine/meta/types.ts'
import { DAY_SECONDS } from '../../engine/meta/value/durations.ts'
import type { KeyHash } from './pepper.ts'
import {
  HASH,
  isCount,
  isIdentity,
  isNonEmptyText,
  isNonEmptyTextList,
  type Kept,
  keptRecord,
  LIFE_OPTIONAL,
  part,
  REVIVES_TOKENS,
  type RecordOf,
  restricts,
  strictRecord,
} from './strictrecord.ts'

/** How long a former scope is kept. */
export const FORMER_SECONDS = 30 * DAY_SECONDS

const PASSED = { uid: isNonEmptyText, revision: isCount }

/** Parses the stored form of a hash. Throws an Error for anything else. */
export const parseKeyHash = (value: unknown): KeyHash => strictRecord('the credential of a key', value, HASH)

const GATES = {
  trust: part((trust) => strictRecord('the trust of a federation', trust, PASSED)),
  provider: part((provider) => strictRecord('the provider of a federation', provider, PASSED)),
}

/** Parses the stored form of what an exchanged key came through. Throws an Error for anything else. */
export const parseFederation = (value: unknown): Federation =>
  strictRecord('a federation', value, GATES, { run: isNonEmptyText })

const parseScope = (value: unknown): Scope => parseChain([value])[0] ?? {}

/** How the member of `ReviewRight` is read. */
export const RIGHT = { reviewScope: part(parseScope) }

const FORMER = { at: isCount }
const FORMER_OPTIONAL = { scope: part(parseScope) }

/** The scope that the last change of `spec.scope` replaced at `at` (unix seconds). No `scope`: there was none. */
export interface FormerScope extends RecordOf<typeof FORMER, typeof FORMER_OPTIONAL> {}

export const MAKERS = {
  /** The uids of the keys that made this one, the nearest last. They never change. Absent if no key made it. */
  makers: isNonEmptyTextList,
  /** The name that the nearest of them had. */
  maker: isNonEmptyText,
}

/** What the internal parts of keys and trusts have in common. */
export const MADE = {
  /** The identity of the creator. */
  creator: isIdentity,
  carried: part(parseChain),
}
export const MADE_OPTIONAL = {
  born: isCount,
  ...MAKERS,
  ...RIGHT,
  former: part((former): FormerScope => strictRecord('a former scope', former, FORMER, FORMER_OPTIONAL)),
}

const FACTS = {
  /** Counts the values that rotations made: 1, 2, 3 … */
  number: isCount,
  /** Unix seconds. */
  made: isCount,
}
const FACTS_OPTIONAL = {
  /** The last six characters, if the value has the format of the server. They are its checksum: see `hintOf`. */
  hint: isNonEmptyText,
  /**
   * The number of the first value of the row in which each value made the next one. Its own number if another key made it.
   * Absent if that is not known: then every earlier value counts as its maker.
   */
  since: isCount,
}

/** What is known of a value of a key besides its hash. */
export interface ValueFacts extends RecordOf<typeof FACTS, typeof FACTS_OPTIONAL> {}

const credential = part(parseKeyHash)

const PENDING = {
  ...FACTS,
  credential,
  /** For how many seconds the current value keeps working after the first use of this one. */
  overlap: isCount,
}

/** A new value that a rotation made and that the row does not yet know to be used. */
interface PendingValue extends RecordOf<typeof PENDING, typeof FACTS_OPTIONAL> {}

const RETIRING = {
  ...FACTS,
  credential,
  /** Unix seconds: the first second in which the value is invalid. */
  until: isCount,
}

const RETIRING_OPTIONAL = {
  ...FACTS_OPTIONAL,
  /** When the value that replaced it was first used, in unix seconds. Absent in items of earlier versions. */
  replaced: restricts('0.2.0', isCount, REVIVES_TOKENS),
}

/** The previous value, which works until a fixed time. */
export interface RetiringValue extends RecordOf<typeof RETIRING, typeof RETIRING_OPTIONAL> {}

const LEAK = { at: isCount }
const LEAK_OPTIONAL = { url: isNonEmptyText }

/** A report of a leak: `at` in unix seconds, and the `url` where the value was found, as the reporter says, without credentials. */
export interface Leak extends RecordOf<typeof LEAK, typeof LEAK_OPTIONAL> {}

const TARGET = {
  /** The cluster or virtual cluster, as the audience of its tokens names it without the issuer. */
  place: isNonEmptyText,
  /** The id of the ID token: see `replayId`. */
  token: isNonEmptyText,
  /** Unix seconds until which the ID token could be exchanged again. */
  until: isCount,
}

/** What a key is for that nobody has: see targetkeys.ts. */
export interface TargetOfKey extends RecordOf<typeof TARGET> {}

const REQUIRED = {
  ...MADE,
  /** Where the credential of the current value is stored. */
  credential,
}
const OPTIONAL = {
  ...MADE_OPTIONAL,
  /** The `hint` of the first value, while there are no facts of the current one. */
  hint: isNonEmptyText,
  /** Facts of the current value. Absent: it is number 1, made when the key was created. */
  value: part((value): ValueFacts => strictRecord('the value of a key', value, FACTS, FACTS_OPTIONAL)),
  /** Present when the current value itself has ended: its item is a tombstone, and no write revives it. */
  ended: restricts('0.1.0', (value: unknown) => value === 'leaked'),
  /** The report that ended it. */
  leak: part((leak): Leak => strictRecord('a report of a leak', leak, LEAK, LEAK_OPTIONAL)),
  pending: part((value): PendingValue => strictRecord('the pending value of a key', value, PENDING, FACTS_OPTIONAL)),
  retiring: part(
    (value): RetiringValue => strictRecord('the retiring value of a key', value, RETIRING, RETIRING_OPTIONAL),
  ),
  /** Present when an exchange made the key. It never changes. */
  federation: restricts('0.1.0', part(parseFederation)),
  /** Present when the exchange answered a token instead of the key. It never changes. */
  target: part((value): TargetOfKey => strictRecord('the target of a key', value, TARGET)),
  /** The places of a key for several, in their order, each of which can be ended alone; the target is the first one. It never changes. */
  targets: restricts('0.2.0', isNonEmptyTextList, REVIVES_TOKENS),
  /** When the person of an exchanged key signed in, in unix seconds. It never changes. */
  signedIn: isCount,
  /** Unix seconds. Reviews refuse tokens of the key that were issued before it. Present when a value of the key has leaked. */
  tokensNotBefore: restricts('0.1.0', isCount),
  /** The last second of which what the key has issued is dead, in unix seconds: see `endOfIssued`, and `settle` for values. */
  tokensEnded: restricts('0.2.0', isCount, REVIVES_TOKENS),
  /** When the deployment has ended the key, because nobody used it, in unix seconds. It never changes. */
  endedUnused: LIFE_OPTIONAL.endedUnused,
  /** The last expiry that a write of the row has announced to watches, in unix seconds. */
  touchedExpiry: isCount,
}

export interface KeyInternal extends RecordOf<typeof REQUIRED, typeof OPTIONAL>, Kept {}

/** Returns the first second, in unix seconds, of which tokens of the key are not refused: after its last end, and after a leak. */
export const firstTokens = ({ tokensNotBefore = 0, tokensEnded = -1 }: KeyInternal): number =>
  // Those of the second in which they ended may be from before.
  Math.max(tokensNotBefore, tokensEnded + 1)

const stored = keptRecord('the internal part of a key', REQUIRED, OPTIONAL)

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
