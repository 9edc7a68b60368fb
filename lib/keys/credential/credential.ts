/**
 * Reads and writes the credential of a key: one item with everything that the authorizer needs, so that authentication
 * takes one read. It is written in the same transaction as the key. pk `credential#VERSION#HASH`, sk `#`. The key's value
 * itself is never stored.
 *
 *     pk=credential#2#bXk… sk=# name=ci uid=… generation=1 user=alice identity=user:alice groups=[…] type=User chain=[…] created=1795257600
 *        lastActivity=… ttl=3600 ttlAfterLastActivity=false disabled=false deleted=false expiry=1795261200 expiryIndex=credential
 *        federation={trust={uid=… revision=3} provider={uid=… revision=1}} signedIn=1795257600 makers=[…]
 */

import { parseChain } from '../../access/scopes/parsechain.ts'
import { effectiveUser, type KeySpec, usernameOf } from '../../access/users/identity.ts'
import { effectiveChain } from '../../access/users/privilege.ts'
import { holdsRight } from '../../access/users/reviewright.ts'
import type { PresentedCredential, UserInfo } from '../../access/users/user.ts'
import type { JsonObject, JsonValue, KubeObject } from '../../engine/meta/types.ts'
import { defined } from '../../engine/meta/value/defined.ts'
import { isObject } from '../../engine/meta/value/walk.ts'
import type { Companion } from '../../engine/storage/interface.ts'
import { type KeyInternal, parseFederation, parseKeyHash, RIGHT } from './keyinternal.ts'
import { lifeOf } from './keystatus.ts'
import { readSources } from './lastsources.ts'
import type { KeyHash } from './pepper.ts'
import {
  isCount,
  isIdentity,
  isNonEmptyText,
  isNonEmptyTextList,
  isText,
  isTextList,
  isTrue,
  LIFE,
  LIFE_OPTIONAL,
  part,
  REVIVES_TOKENS,
  type RecordOf,
  restricts,
  strictRecord,
  writable,
} from './strictrecord.ts'

const REQUIRED = {
  /** The name of the key object. */
  name: isNonEmptyText,
  uid: isNonEmptyText,
  type: isText,
  /** The user name and groups of requests with this key. */
  user: isNonEmptyText,
  identity: isIdentity,
  groups: isTextList,
  chain: part(parseChain),
  ...LIFE,
}

const OPTIONAL = {
  ...LIFE_OPTIONAL,
  /** The generation of the key's spec, which also counts changes of the key's value. Absent in items of earlier versions. */
  generation: isCount,
  /** From the spec, for Self. */
  specUser: isText,
  specTeam: isText,
  specSubject: isText,
  displayName: isText,
  email: isText,
  /** Present when an exchange made the key. */
  federation: restricts('0.1.0', part(parseFederation)),
  /** When the person of such a key signed in, in unix seconds. Absent in items of earlier versions. */
  signedIn: isCount,
  /** The uids of the keys that made the key, the nearest last. */
  makers: isNonEmptyTextList,
  /** The addresses from which the key may be used. Absent: all. */
  sourceCIDRs: restricts('0.1.0', isTextList),
  /** See `KeyInternal`. Absent: nothing was ended. */
  tokensEnded: restricts('0.2.0', isCount, REVIVES_TOKENS),
  ...RIGHT,
}

const MAY_HAVE = {
  ...OPTIONAL,
  // What an item tells of its value besides the key.
  /** The number of the value. Absent: 1. */
  value: isCount,
  /** When the value was made, in unix seconds. Absent: when the key was created. */
  made: isCount,
  hint: isText,
  /** On the old value while a rotation is open: the credential of the new one. */
  successor: restricts('0.1.0', part(parseKeyHash)),
  /** On both while a rotation is open: for how many seconds the old value keeps working after the first use of the new one. */
  overlap: isCount,
  /** Set on a new value until a write of the key after its first use. */
  pending: isTrue,
  /** When a value that a rotation made was first used, in unix seconds. */
  firstUsed: isCount,
  /** For a retiring value: the first second in which it is invalid. */
  until: restricts('0.1.0', isCount),
  /** Where the value was last used from, the newest first. */
  sources: part(readSources),
  /** How many new addresses used the value on its last day (history/newaddress.ts). Only people read it: an unknown form counts as nothing. */
  addresses: part((value): JsonObject => (isObject(value) ? value : {})),
}

export interface Credential extends RecordOf<typeof REQUIRED, typeof MAY_HAVE> {}

/** Returns the credential. Throws an Error for a member that this release must not write yet. */
export const writableCredential = writable('a credential', { ...REQUIRED, ...MAY_HAVE })

/** A key about to be stored. */
export interface StoredKey {
  object: KubeObject
  internal: JsonObject
}

const SORT_KEY = '#'

export const credentialItemKey = ({ version, hash }: KeyHash): { pk: string; sk: string } => ({
  pk: `credential#${version}#${hash}`,
  sk: SORT_KEY,
})

/** Requires that no key is stored under these hashes. A condition on the written item cannot express that. */
export const requireAbsentCredentials = (hashes: readonly KeyHash[]): Companion[] =>
  hashes.map((hash) => ({ op: 'absent', ...credentialItemKey(hash) }))

/** Requires that the presented value and its key are unchanged since the request was authorized: not deleted, rotated or updated. */
export function requireUnchangedCredential(
  { uid, generation }: UserInfo['key'],
  credential: PresentedCredential,
): Extract<Companion, { op: 'unchanged' }> {
  return {
    op: 'unchanged',
    ...credentialItemKey(credential),
    attributes: { uid, deleted: false, ...(generation !== undefined && { generation }) },
    // Items of earlier versions get a generation at their next write.
    lacks: ['ended', ...(credential.successor ? [] : [BRIEF]), ...(generation === undefined ? ['generation'] : [])],
  }
}

/** The condition on the credential of a successor whose first use would end the value of the request: it is still unused. */
export const UNUSED = { lacks: ['firstUsed', 'ended'] } as const

/** Requires that this value is unused. */
export const requireUnused = (
  { uid }: UserInfo['key'],
  credential: KeyHash,
): Extract<Companion, { op: 'unchanged' }> => ({
  op: 'unchanged',
  ...credentialItemKey(credential),
  attributes: { uid },
  lacks: UNUSED.lacks,
})

/** Parses a credential item. Throws an Error without the content for an item that is not in this form. */
export const readCredential = (item: JsonObject): Credential => strictRecord('a credential', item, REQUIRED, MAY_HAVE)

/** Returns the user of requests with this key. `lastEnd` is that of the key and of its gates, as a judgement says it. */
export function credentialUser(
  credential: Credential,
  { expires, lastEnd }: { expires?: number | undefined; lastEnd?: number | undefined },
): UserInfo {
  const { uid, identity, groups, name, type, chain, federation } = credential
  const { generation, specUser, specTeam, specSubject, displayName, email, makers, sourceCIDRs } = credential
  return {
    name: usernameOf(identity),
    identity,
    groups,
    key: defined({
      name,
      uid,
      type,
      user: specUser,
      team: specTeam,
      subject: specSubject,
      displayName,
      email,
      expires,
      lastEnd,
      generation,
    }),
    chain,
    ...defined({ makers, sourceCIDRs, federation }),
    ...(holdsRight(credential, chain) && { mayReview: true }),
  }
}

/** The attributes that a change of the key removes if they are absent from its new state. */
export const KEY_ATTRIBUTES: readonly string[] = Object.keys(OPTIONAL).filter((name) => name !== 'lastActivity')
/** The attributes that are removed with the state of a value. */
export const STATE_ATTRIBUTES: readonly string[] = ['successor', 'overlap', 'pending', 'until']

/**
 * Marks the old value of a rotation whose overlap is shorter than a request may last, until the value ends. A request that was
 * allowed before the rotation began has seen no successor, so its writes demand that the mark is missing.
 */
export const BRIEF = 'brief'
/** Returns what the credentials of all values of a key say, besides the generation. */
export function credentialOf(object: KubeObject, internal: KeyInternal, lastActivity?: number): Credential {
  const { name = '', uid = '', generation } = object.metadata
  const spec = (object.spec ?? {}) as KeySpec & { identity?: Record<string, JsonValue> }
  const { creator, carried, makers, federation, signedIn, tokensEnded, reviewScope, endedUnused } = internal
  const { name: user, identity, groups } = effectiveUser({ spec, creator })
  return defined({
    name,
    uid,
    generation,
    type: spec.type ?? '',
    user,
    identity,
    groups,
    chain: effectiveChain({ spec, carried }),
    ...lifeOf(object, { lastActivity, endedUnused }),
    sourceCIDRs: spec.sourceCIDRs?.length ? spec.sourceCIDRs : undefined,
    specUser: spec.user || undefined,
    specTeam: spec.team || undefined,
    specSubject: spec.subject || undefined,
    displayName: shownName(spec.identity?.preferredUsername),
    email: shownName(spec.identity?.email),
    makers,
    federation,
    signedIn,
    tokensEnded,
    reviewScope,
  })
}

/** These names are for display only, so values too long for the authorizer's context are omitted. */
const MAX_SHOWN_BYTES = 128

const shownName = (value: JsonValue | undefined): string | undefined =>
  typeof value === 'string' && value !== '' && Buffer.byteLength(JSON.stringify(value)) <= MAX_SHOWN_BYTES
    ? value
    : undefined
