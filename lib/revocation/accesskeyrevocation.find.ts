/**
 * Finds the access keys that a revocation selects, and the federated identity credentials, called trusts in code. Also finds the
 * trusts that it leaves: a trust keeps giving keys after the keys of its owner have ended.
 */

import { containsChain } from '../access/scopes/chain.ts'
import { evaluateHere } from '../access/scopes/evaluate.ts'
import { keyIdentity } from '../access/users/identity.ts'
import { lockoutsWarning, type Reviewer } from '../access/users/lockout.ts'
import { effectiveChain, visiblePartitions } from '../access/users/privilege.ts'
import type { UserInfo } from '../access/users/user.ts'
import type { JsonObject } from '../engine/meta/types.ts'
import { byBytes } from '../engine/meta/value/byteorder.ts'
import { defined } from '../engine/meta/value/defined.ts'
import type { RequestContext } from '../engine/registry/kind.ts'
import { eachStored, objectKey, presentObject, type Store } from '../engine/registry/store.ts'
import type { Stored } from '../engine/storage/interface.ts'
import type { TrustSpec } from '../federation/federatedidentitycredential.schema.ts'
import {
  isOpenTrust,
  listedNames,
  ownerOf,
  specOf,
  toKey,
  reviewer as trustReviewer,
} from '../federation/federatedidentitycredential.values.ts'
import { decodeTrustInternal } from '../federation/trust.ts'
import { decodeKeyInternal } from '../keys/credential/keyinternal.ts'
import { isMadeWith } from '../keys/credential/makers.ts'
import type { KeyHash } from '../keys/credential/pepper.ts'
import { reviewer } from '../keys/ownedaccesskey.values.ts'
import type { Services } from '../keys/services.ts'
import { KINDS } from '../kinds.ts'
import { MOST_OWNERS_SHOWN, MOST_SHOWN, type RevocationSpec } from './accesskeyrevocation.schema.ts'
import {
  hasLabels,
  isAllowed,
  isCreatedBefore,
  isInScope,
  isOneOf,
  mayReadHistory,
  ownersOf,
  type Test,
  verbsOf,
} from './accesskeyrevocation.selection.ts'

/** A selected object. */
export interface Selected {
  name: string
  uid: string
}

/** A key as the answer shows it, and where the credential of its current value is. */
interface ShownKey {
  shown: JsonObject
  credential: KeyHash
}

interface FoundKeys {
  /** In the order of their names, without the spared key of the request. */
  keys: Selected[]
  /** The uids of those whose history the user may read. */
  known: Set<string>
  byOwner: JsonObject
  shown: ShownKey[]
  /** Whether the key of the request is selected, and not in `keys`. */
  isSelfSpared: boolean
  /** Those with which clusters may ask, as far as they give access. */
  reviewers: Reviewer[]
}

/** How many keys are read at a time, and for a list of names. */
const READS_AT_ONCE = 16
/** The longest display name that the answer shows, in characters. */
const LONGEST_NAME = 128
/** How many items one call reads. */
const BATCH = 100

/** Returns the selected keys. Reads only those that the spec names, or the keys of the owners in it, or all. */
export async function findKeys(
  { keyStore, scopes }: Pick<Services, 'keyStore' | 'scopes'>,
  asked: RevocationSpec,
  test: (stored: Stored) => boolean,
  context: RequestContext,
): Promise<FoundKeys> {
  const store = keyStore()
  const { user } = context
  const found: FoundKeys = { keys: [], known: new Set(), byOwner: {}, shown: [], isSelfSpared: false, reviewers: [] }
  const owners = new Map<string, number>()
  for await (const stored of candidates(store, asked, scopes, context)) {
    if (!test(stored)) continue
    const { name = '', uid = '' } = stored.object.metadata
    if (uid === user.key.uid && !asked.includeSelf) {
      found.isSelfSpared = true
      continue
    }
    found.keys.push({ name, uid })
    if (mayReadHistory(user, stored, scopes)) found.known.add(uid)
    const { status = {} } = presentObject(store, stored, context)
    if (status.phase === 'Active') found.reviewers.push(reviewer(stored))
    const owner = String(status.owner)
    owners.set(owner, (owners.get(owner) ?? 0) + 1)
    if (found.shown.length < MOST_SHOWN) found.shown.push(shownKey(stored, status))
  }
  const most = [...owners].sort(([a, m], [b, n]) => n - m || byBytes(a, b)).slice(0, MOST_OWNERS_SHOWN)
  return { ...found, byOwner: Object.fromEntries(most) }
}

/**
 * Yields the keys that the spec may select, and reads no more than the user could list: names that the scopes leave out are not read,
 * and many names of a user who sees few keys are looked up in the list of these.
 */
async function* candidates(
  store: Store,
  asked: RevocationSpec,
  scopes: Services['scopes'],
  context: RequestContext,
): AsyncGenerator<Stored> {
  const { user } = context
  const names = asked.names && new Set(asked.names.filter((name) => isInScope(user, asked, name, scopes)))
  if (!names) yield* listed(store, asked, context)
  else if (names.size <= READS_AT_ONCE || !visiblePartitions(user)) yield* named(store, [...names])
  else for await (const one of listed(store, asked, context)) if (names.has(one.object.metadata.name ?? '')) yield one
}

/** Yields the keys with these names, in their order. */
async function* named({ kind, storage }: Store, names: readonly string[]): AsyncGenerator<Stored> {
  const sorted = [...names].sort(byBytes)
  for (let at = 0; at < sorted.length; at += READS_AT_ONCE) {
    const read = sorted.slice(at, at + READS_AT_ONCE).map((name) => storage.get(kind.table, objectKey('', name)))
    for (const stored of await Promise.all(read)) if (stored) yield stored
  }
}

/** Yields the keys of the owners in the spec, or all that the user may see, at one revision. */
function listed(store: Store, asked: RevocationSpec, { user }: RequestContext): AsyncGenerator<Stored> {
  const owners = ownersOf(asked)
  const visible = visiblePartitions(user)
  const partitions = owners && visible ? owners.filter((one) => visible.includes(one)) : (owners ?? visible)
  return eachStored(store, { partitions })
}

/** Describes a key. Keeps little of it: keys may be large. */
function shownKey({ object, internal }: Stored, status: JsonObject): ShownKey {
  const { displayName } = (object.spec ?? {}) as { displayName?: string }
  const { credential, value, hint: first, ended } = decodeKeyInternal(internal)
  const { owner = '', lastActivity, expirationTimestamp } = status
  const hint = ended ? undefined : value ? value.hint : first
  return {
    credential,
    shown: {
      name: object.metadata.name ?? '',
      owner,
      ...(displayName && { displayName: [...displayName.slice(0, 2 * LONGEST_NAME)].slice(0, LONGEST_NAME).join('') }),
      ...defined({ lastActivity, expirationTimestamp, hint }),
    },
  }
}

/** Returns the keys with the hints of first values, which only their credentials have. */
export async function showHints({ keys }: Pick<Services, 'keys'>, found: readonly ShownKey[]): Promise<JsonObject[]> {
  const without = found.filter(({ shown }) => shown.hint === undefined)
  for (let at = 0; at < without.length; at += BATCH) {
    const batch = without.slice(at, at + BATCH)
    const items = await keys.readCredentials(batch.map(({ credential }) => credential))
    batch.forEach(({ shown }, index) => {
      const hint = items[index]?.hint
      if (typeof hint === 'string') shown.hint = hint
    })
  }
  return found.map(({ shown }) => shown)
}

const TRUST = KINDS.FederatedIdentityCredential

interface FoundTrusts {
  selected: Selected[]
  shown: JsonObject[]
  /** Whether the trust that the key of the request came through is selected, and not in `selected`. */
  isOwnSpared: boolean
  /** The names of open trusts that concern the owners, or the maker, and are not selected. */
  left: string[]
  /** The names of open trusts that log in one of the users among others. */
  logins: string[]
  /** Those of the selected with whose keys clusters may ask. */
  reviewers: Reviewer[]
}

/** Reports whether the revocation is about all that somebody has, so that the trusts that it leaves matter. */
export const concernsTrusts = (asked: RevocationSpec): boolean =>
  ownersOf(asked) !== undefined || asked.madeWith !== undefined || asked.all === true

/**
 * Returns a test whether a trust, as it is now, is to be revoked: a valid revocation asks for trusts and selects it, and the user may
 * change it. `maker` is the uid of the key in `spec.madeWith`.
 */
export function revokesTrust(
  asked: RevocationSpec,
  maker: string | undefined,
  user: UserInfo,
  { scopes }: Pick<Services, 'scopes'>,
): Test {
  const { selector, createdBefore } = asked
  const tests: Test[] = [concerns(asked, maker)]
  if (asked.action !== 'Delete') tests.push(isOpenTrust)
  if (selector) tests.push(hasLabels(selector))
  if (createdBefore !== undefined) tests.push(isCreatedBefore(createdBefore))
  return (stored) =>
    asked.federatedIdentityCredentials === true &&
    tests.every((test) => test(stored)) &&
    verbsOf(asked).every((verb) => isAllowed(TRUST, request(verb, stored), user, toKey(stored), scopes)) &&
    containsChain(effectiveChain(toKey(stored)), user.chain)
}

/** Returns what the revocation finds among the trusts that the user may list. `test` is that of `revokesTrust`. */
export async function findTrusts(
  store: Store,
  { scopes }: Pick<Services, 'scopes'>,
  asked: RevocationSpec,
  { maker, test }: { maker: string | undefined; test: Test },
  { user }: RequestContext,
): Promise<FoundTrusts> {
  const found: FoundTrusts = { selected: [], shown: [], isOwnSpared: false, left: [], logins: [], reviewers: [] }
  const mayList = evaluateHere(user.chain, TRUST, { verb: 'list' }, scopes)
  if (!mayList.allowed && !asked.federatedIdentityCredentials) return found
  const isConcerned = concernsTrusts(asked) ? concerns(asked, maker) : () => false
  for await (const stored of eachStored(store, { partitions: visiblePartitions(user) })) {
    if (!isAllowed(TRUST, request('list', stored), user, toKey(stored), scopes)) continue
    const { name = '', uid = '' } = stored.object.metadata
    const isSelected = test(stored)
    if (isSelected && (uid !== user.federation?.trust.uid || asked.includeSelf)) {
      found.selected.push({ name, uid })
      if (isOpenTrust(stored)) found.reviewers.push(trustReviewer(stored))
      if (found.shown.length < MOST_SHOWN) found.shown.push(shownTrust(stored))
    } else if (isSelected) found.isOwnSpared = true
    else if (isOpenTrust(stored) && isConcerned(stored)) found.left.push(name)
    else if (isOpenTrust(stored) && asked.users?.some((one) => logsIn(specOf(stored.object), one)))
      found.logins.push(name)
  }
  return found
}

/** Returns the warnings about trusts that the revocation leaves. */
export function warningsOf({ left, logins, isOwnSpared, reviewers }: FoundTrusts, asked: RevocationSpec): string[] {
  const advice = asked.federatedIdentityCredentials
    ? 'disable what must not'
    : 'disable them, or set spec.federatedIdentityCredentials'
  const lockouts = asked.federatedIdentityCredentials ? lockoutsWarning('trusts', reviewers) : undefined
  return [
    ...(lockouts === undefined ? [] : [lockouts]),
    ...(left.length > 0 ? [`${listedNames(left)} may keep issuing access keys: ${advice}`] : []),
    ...(logins.length > 0
      ? [`${listedNames(logins)} may still log in these users: close their accounts at the identity provider`]
      : []),
    ...(isOwnSpared
      ? [
          'the federated identity credential of your own access key matches and is left out: set spec.includeSelf to revoke it',
        ]
      : []),
  ]
}

const request = (verb: string, { object }: Stored) => ({ verb, name: object.metadata.name ?? '' })

/** Returns a test whether a trust belongs to an owner in the spec, only logs in its users, or was made with `maker`. */
function concerns(asked: RevocationSpec, maker: string | undefined): Test {
  const { users = [], madeWith } = asked
  const owners = ownersOf(asked)
  const isOwned = owners && isOneOf<string>(owners, (stored) => keyIdentity(toKey(stored)))
  const tests: Test[] = [({ object }) => object.metadata.deletionTimestamp === undefined]
  if (isOwned) tests.push((stored) => isOwned(stored) || logsInOnly(specOf(stored.object), users))
  if (maker !== undefined)
    tests.push(({ internal }) => isMadeWith(decodeTrustInternal(internal), maker, madeWith?.descendants ?? true))
  return (stored) => tests.every((test) => test(stored))
}

/** Returns the users that a trust logs in, if its claims name them, or undefined. */
function mappedUsers({ claims, claimMappings }: TrustSpec): string[] | undefined {
  const { claim, prefix } = claimMappings?.username ?? {}
  const bound = claims.find((one) => one.claim === claim && one.values?.length && !one.patterns?.length)
  return bound?.values?.map((value) => `${prefix}${value}`)
}

function logsInOnly(trust: TrustSpec, users: readonly string[]): boolean {
  const mapped = mappedUsers(trust)
  return mapped?.every((one) => users.includes(one)) ?? false
}

/** Reports whether a trust may log in this user. */
function logsIn(trust: TrustSpec, user: string): boolean {
  const { prefix } = trust.claimMappings?.username ?? {}
  if (prefix === undefined || !user.startsWith(prefix)) return false
  return mappedUsers(trust)?.includes(user) ?? true
}

function shownTrust(stored: Stored): JsonObject {
  const { displayName, identityProvider } = specOf(stored.object)
  const owner = ownerOf(stored)
  return { name: stored.object.metadata.name ?? '', owner, ...(displayName && { displayName }), identityProvider }
}
