/**
 * The credential of a key: one item with all that the authorizer needs, so that authentication is one read. It is written in the same
 * transaction as the key. pk `credential#VERSION#HASH`, sk `#`; the key's value itself is nowhere.
 *
 *     pk=credential#2#bXk… sk=# name=ci uid=… generation=1 user=alice identity=user:alice groups=[…] type=User chain=[…] created=1795257600
 *        lastActivity=… ttl=3600 ttlAfterLastActivity=false disabled=false deleted=false expiry=1795261200 expiryIndex=credential
 */

import { parseChain } from '../authorization/scopes/parsechain.ts'
import type { ScopeChain } from '../authorization/scopes/scope.ts'
import { effectiveUser, type KeySpec, usernameOf } from '../authorization/users/identity.ts'
import { effectiveChain } from '../authorization/users/privilege.ts'
import type { Identity, PresentedCredential, UserInfo } from '../authorization/users/user.ts'
import type { JsonObject, JsonValue, KubeObject } from '../meta/types.ts'
import type { Companion } from '../storage/interface.ts'
import { constantTimeEqual } from './constanttime.ts'
import { type KeyInternal, readInternal } from './keyinternal.ts'
import { expiry, type KeyLife, type LifeLimits, lifeOf } from './keystatus.ts'
import type { KeyHash } from './pepper.ts'
import { isCount, isFlag, isIdentity, isNonEmptyText, isText, isTextList, strictRecord } from './strictrecord.ts'

export interface Credential extends KeyLife {
  /** Of the key object. */
  name: string
  uid: string
  /** Of the key's spec, which a change of its value counts for, too. Items of earlier versions have none. */
  generation?: number
  type: string
  /** The name and groups of a request with this key. */
  user: string
  identity: Identity
  groups: string[]
  chain: ScopeChain
  /** As the spec has them, for Self. */
  specUser?: string
  specTeam?: string
  specSubject?: string
  displayName?: string
  email?: string
}

/** A key as it is about to be stored. */
export interface StoredKey {
  object: KubeObject
  internal: JsonObject
}

/** The values of write-only fields by their path (`identity.connectorData`). Reads never return them. */
export type Sealed = Readonly<Record<string, string>>

const SORT_KEY = '#'
const SEALED = 'sealed:'
/**
 * The sparse index by which the sweep finds what has expired, and its attributes. Keys without an end are not in it, nor
 * those whose deletion has begun. The time is that of the maximum ttl at the last write or use of the key.
 */
export const EXPIRY_INDEX = { name: 'expiry', partition: 'expiryIndex', sort: 'expiry', value: 'credential' } as const

/** Where the credential lies that belongs to a hash. */
export const credentialItemKey = ({ version, hash }: KeyHash): { pk: string; sk: string } => ({
  pk: `credential#${version}#${hash}`,
  sk: SORT_KEY,
})

/** Of a key that is created. Refused by storage (CompanionExists) when another key has the same value. */
export const createCredential = (key: StoredKey, sealed: Sealed, limits: LifeLimits): Companion[] => [
  { op: 'put', ...itemKeyOf(key), attributes: { ...attributesOf(key, limits), ...seal(sealed) }, ifAbsent: true },
]

/**
 * Of a key that changes and keeps its value. The last activity and sealed values that are not given stay. `lastActivity` is what was read
 * beside the key, if anything; it only places the item in the index of expiries.
 */
export function updateCredential(
  key: StoredKey,
  sealed: Sealed,
  limits: LifeLimits,
  lastActivity?: number,
): Companion[] {
  const { lastActivity: _, ...attributes } = attributesOf(key, limits, lastActivity)
  const remove = OPTIONAL_ATTRIBUTES.filter((name) => name !== 'lastActivity' && !Object.hasOwn(attributes, name))
  return [{ op: 'set', ...itemKeyOf(key), attributes: { ...attributes, ...seal(sealed) }, remove }]
}

/**
 * Of a key whose value changes: `old` is the item under the old value as it was read, whose sealed values and last activity
 * move on to the new one. The key's internal part names the new value's hash already.
 */
export function rotateCredential(
  key: StoredKey,
  from: KeyHash,
  old: JsonObject,
  sealed: Sealed,
  limits: LifeLimits,
): Companion[] {
  const kept = Object.fromEntries(Object.entries(old).filter(([name]) => name.startsWith(SEALED)))
  const lastActivity = isCount(old.lastActivity) ? Number(old.lastActivity) : undefined
  const attributes = { ...attributesOf(key, limits, lastActivity), ...kept, ...seal(sealed) }
  return [
    { op: 'delete', ...credentialItemKey(from) },
    { op: 'put', ...itemKeyOf(key), attributes, ifAbsent: true },
  ]
}

/** That nobody has the value under these hashes: what a condition on the item that is written cannot say. */
export const requireAbsentCredentials = (hashes: readonly KeyHash[]): Companion[] =>
  hashes.map((hash) => ({ op: 'absent', ...credentialItemKey(hash) }))

/** That the key is still as it was when a request with it was allowed: neither deleted, nor rotated, nor changed. */
export function requireUnchangedCredential(
  { uid, generation }: UserInfo['key'],
  credential: PresentedCredential,
): Extract<Companion, { op: 'unchanged' }> {
  return {
    op: 'unchanged',
    ...credentialItemKey(credential),
    attributes: { uid, deleted: false, ...(generation !== undefined && { generation }) },
    // An item of an earlier version gets a generation when it is written.
    lacks: generation === undefined ? ['generation'] : [],
  }
}

/** Of a key that is removed for good. (One that finalizers still hold is updated: its credential says so.) */
export const deleteCredential = (key: StoredKey): Companion[] => [{ op: 'delete', ...itemKeyOf(key) }]

/** Whether the item holds this sealed value: owners may try values that they cannot read. */
export function hasSealedValue(item: JsonObject, path: string, value: string): boolean {
  const held = item[SEALED + path]
  return typeof held === 'string' && constantTimeEqual(held, value)
}

/** What a use of the key at `now` writes into its item. */
export const activityAttributes = (credential: Credential, now: number, limits: LifeLimits): JsonObject => ({
  lastActivity: now,
  ...indexed({ ...credential, lastActivity: now }, limits),
})

/** Throws an Error that says nothing of the content when the item is not as it is written here. */
export function readCredential(item: JsonObject): Credential {
  const own = Object.entries(item).filter(([name]) => !name.startsWith(SEALED) && !IGNORED.has(name))
  const { chain, ...rest } = strictRecord('a credential', Object.fromEntries(own), REQUIRED, OPTIONAL)
  return { ...(rest as unknown as Omit<Credential, 'chain'>), chain: parseChain(chain) }
}

/** The user of a request with this key. */
export function credentialUser(credential: Credential, expires: number | undefined): UserInfo {
  const { uid, identity, groups, name, type, chain } = credential
  const { generation, specUser, specTeam, specSubject, displayName, email } = credential
  return {
    name: usernameOf(identity),
    identity,
    groups,
    key: {
      name,
      uid,
      type,
      ...(specUser !== undefined && { user: specUser }),
      ...(specTeam !== undefined && { team: specTeam }),
      ...(specSubject !== undefined && { subject: specSubject }),
      ...(displayName !== undefined && { displayName }),
      ...(email !== undefined && { email }),
      ...(expires !== undefined && { expires }),
      ...(generation !== undefined && { generation }),
    },
    chain,
  }
}

const REQUIRED = {
  name: isNonEmptyText,
  uid: isNonEmptyText,
  type: isText,
  user: isNonEmptyText,
  identity: isIdentity,
  groups: isTextList,
  chain: Array.isArray,
  created: isCount,
  ttlAfterLastActivity: isFlag,
  disabled: isFlag,
  deleted: isFlag,
}

const OPTIONAL = {
  lastActivity: isCount,
  ttl: isCount,
  generation: isCount,
  specUser: isText,
  specTeam: isText,
  specSubject: isText,
  displayName: isText,
  email: isText,
}

const IGNORED: ReadonlySet<string> = new Set(['pk', 'sk', EXPIRY_INDEX.partition, EXPIRY_INDEX.sort])
const OPTIONAL_ATTRIBUTES = [...Object.keys(OPTIONAL), EXPIRY_INDEX.partition, EXPIRY_INDEX.sort]

const itemKeyOf = ({ internal }: StoredKey) => credentialItemKey(readInternal(internal).credential)

const seal = (sealed: Sealed): JsonObject =>
  Object.fromEntries(Object.entries(sealed).map(([path, value]) => [SEALED + path, value]))

function attributesOf({ object, internal }: StoredKey, limits: LifeLimits, lastActivity?: number): JsonObject {
  const credential = credentialOf(object, readInternal(internal), lastActivity)
  return { ...(credential as unknown as JsonObject), ...indexed(credential, limits) }
}

function credentialOf(object: KubeObject, internal: KeyInternal, lastActivity?: number): Credential {
  const { metadata, spec = {} } = object
  const keySpec = spec as KeySpec
  const { name: user, identity, groups } = effectiveUser({ spec: keySpec, creator: internal.creator })
  const { preferredUsername, email } = (spec.identity ?? {}) as Record<string, JsonValue>
  return {
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    ...(metadata.generation !== undefined && { generation: metadata.generation }),
    type: keySpec.type ?? '',
    user,
    identity,
    groups,
    chain: effectiveChain({ spec: keySpec, carried: internal.carried }),
    ...lifeOf(object, lastActivity),
    ...(keySpec.user && { specUser: keySpec.user }),
    ...(keySpec.team && { specTeam: keySpec.team }),
    ...(keySpec.subject && { specSubject: keySpec.subject }),
    ...shownName('displayName', preferredUsername),
    ...shownName('email', email),
  }
}

/** For show only, so that what is too long for the authorizer's context can be left out. */
const MAX_SHOWN_BYTES = 128

const shownName = (member: 'displayName' | 'email', value: JsonValue | undefined) =>
  typeof value === 'string' && value !== '' && Buffer.byteLength(JSON.stringify(value)) <= MAX_SHOWN_BYTES
    ? { [member]: value }
    : {}

function indexed(life: KeyLife, limits: LifeLimits): JsonObject {
  const at = life.deleted ? undefined : expiry(life, limits)
  return at === undefined ? {} : { [EXPIRY_INDEX.partition]: EXPIRY_INDEX.value, [EXPIRY_INDEX.sort]: at }
}
