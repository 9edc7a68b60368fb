/** Validates and decides which access keys a revocation selects, beyond the schema. What is not clear must never select more. */

import { containsChain } from '../access/scopes/chain.ts'
import { evaluateHere } from '../access/scopes/evaluate.ts'
import { isUnrestricted } from '../access/scopes/unrestricted.ts'
import { type Key, keyIdentity } from '../access/users/identity.ts'
import { effectiveChain, maySeeKey } from '../access/users/privilege.ts'
import type { Identity, UserInfo } from '../access/users/user.ts'
import { parseTime } from '../engine/meta/encoding/time.ts'
import { type FieldError, findingsOf, forbidden, invalid, required } from '../engine/meta/errors/fielderror.ts'
import { matcherOf } from '../engine/meta/selectors/labelmatcher.ts'
import { isEmptySelector, requirementsOf, validateLabelSelector } from '../engine/meta/selectors/labelselector.ts'
import { withoutCredentials } from '../engine/meta/value/credentialtext.ts'
import { isPrintable } from '../engine/meta/value/printable.ts'
import type { Stored } from '../engine/storage/interface.ts'
import { decodeKeyInternal } from '../keys/credential/keyinternal.ts'
import { lifeOf } from '../keys/credential/keystatus.ts'
import { isMadeWith } from '../keys/credential/makers.ts'
import { lastUseOf, momentOf } from '../keys/ownedaccesskey.status.ts'
import { specOf, toKey } from '../keys/ownedaccesskey.values.ts'
import type { Services } from '../keys/services.ts'
import { KINDS, type KindRow } from '../kinds.ts'
import type { RevocationSpec } from './accesskeyrevocation.schema.ts'

/** The fields that select by owner. A key has one owner. */
const OWNERS = ['users', 'teams', 'subjects'] as const
const LISTS = [...OWNERS, 'types', 'names'] as const
const TIMES = ['createdBefore', 'unusedSince'] as const
const SELECTORS = ['selector', ...LISTS, ...TIMES, 'madeWith'] as const
/** The fields about what only keys have. */
const KEYS_ONLY = ['types', 'unusedSince', 'unscoped', 'names'] as const

/** How far a time may be ahead: clocks differ. A later one is a mistake that would select every key. */
const AHEAD_SECONDS = 300

/** Returns the 422 errors of a revocation at `now`. */
export function validateRevocation(spec: RevocationSpec, now: Date): FieldError[] {
  return [
    ...selectionErrors(spec),
    ...(spec.federatedIdentityCredentials ? keysOnlyErrors(spec) : []),
    ...(spec.selector ? selectorErrors(spec.selector) : []),
    ...LISTS.flatMap((member) => listErrors(spec[member], `spec.${member}`, member === 'types')),
    ...TIMES.flatMap((member) => timeErrors(spec[member], `spec.${member}`, now)),
    ...(spec.madeWith ? makerErrors(spec.madeWith) : []),
    ...(spec.reason === undefined ? [] : reasonErrors(spec.reason, spec.action)),
  ]
}

function selectionErrors(spec: RevocationSpec): FieldError[] {
  const given = [
    ...SELECTORS.filter((member) => spec[member] !== undefined),
    ...(spec.unscoped ? (['unscoped'] as const) : []),
  ]
  if (spec.all) return given.map((member) => forbidden(`spec.${member}`, 'may not be set with spec.all'))
  if (given.length === 0) return [required('spec', 'set a field that selects keys, or spec.all')]
  const [first, ...others] = OWNERS.filter((member) => spec[member] !== undefined)
  return others.map((member) => forbidden(`spec.${member}`, `may not be set with spec.${first}: a key has one owner`))
}

const keysOnlyErrors = (spec: RevocationSpec): FieldError[] =>
  KEYS_ONLY.filter((member) => spec[member]).map((member) =>
    forbidden(`spec.${member}`, 'may not be set with spec.federatedIdentityCredentials: it selects only access keys'),
  )

function selectorErrors(selector: NonNullable<RevocationSpec['selector']>): FieldError[] {
  if (!isEmptySelector(selector)) return validateLabelSelector(selector, 'spec.selector')
  return [invalid('spec.selector', {}, 'empty selector is invalid for an access key revocation: use spec.all')]
}

function listErrors(list: readonly string[] | undefined, path: string, mayBeEmptyText: boolean): FieldError[] {
  if (list === undefined) return []
  if (list.length === 0) return [invalid(path, [], 'must not be empty: it would select nothing, or count as absent')]
  return mayBeEmptyText
    ? []
    : findingsOf(list, (one, index) => (one === '' ? [invalid(`${path}[${index}]`, one, 'must not be empty')] : []))
}

function timeErrors(text: string | undefined, path: string, now: Date): FieldError[] {
  if (text === undefined) return []
  const at = parseTime(text)
  if (at === undefined) return [invalid(path, text, 'must be a time as in RFC 3339, such as 2026-11-21T09:39:41Z')]
  if (at.getTime() <= now.getTime() + AHEAD_SECONDS * 1000) return []
  return [invalid(path, text, 'must not be in the future')]
}

function makerErrors({ name, uid }: NonNullable<RevocationSpec['madeWith']>): FieldError[] {
  if (!name && !uid) return [required('spec.madeWith', 'set name or uid')]
  return Object.entries({ name, uid }).flatMap(([member, text]) =>
    text === '' ? [invalid(`spec.madeWith.${member}`, text, 'must not be empty')] : [],
  )
}

function reasonErrors(reason: string, action: RevocationSpec['action']): FieldError[] {
  const path = 'spec.reason'
  if (action === 'Delete') return [forbidden(path, 'may not be set with action Delete: a deleted key cannot show it')]
  if (withoutCredentials(reason) !== reason) return [forbidden(path, 'must not contain a credential')]
  return isPrintable(reason) ? [] : [invalid(path, reason, 'must be printable text in one line')]
}

export type Test = (stored: Stored) => boolean

/** Returns the owners that a revocation selects, or undefined for all. */
export function ownersOf({ users, teams, subjects }: RevocationSpec): readonly Identity[] | undefined {
  if (users) return users.map((name) => `user:${name}` as const)
  if (teams) return teams.map((name) => `team:${name}` as const)
  return subjects?.map((name) => `subject:${name}` as const)
}

/**
 * Returns a test whether a key, as it is now, is selected by a valid revocation: it matches all fields of the spec, and is
 * not yet what the revocation makes it. `maker` is the uid of the key in `spec.madeWith`.
 */
export function selects(spec: RevocationSpec, maker: string | undefined, now: Date): Test {
  const { names, types, selector, createdBefore, unusedSince, unscoped, madeWith, action = 'Disable' } = spec
  const owners = ownersOf(spec)
  const tests: Test[] = [({ object }) => object.metadata.deletionTimestamp === undefined]
  if (action === 'Disable') tests.push(({ object }) => specOf(object).disabled !== true)
  if (names) tests.push(isOneOf(names, ({ object }) => object.metadata.name ?? ''))
  if (owners) tests.push(isOneOf<string>(owners, (stored) => keyIdentity(toKey(stored))))
  if (types) tests.push(isOneOf<string>(types, ({ object }) => specOf(object).type ?? ''))
  if (selector) tests.push(hasLabels(selector))
  if (createdBefore !== undefined) tests.push(isCreatedBefore(createdBefore))
  if (unusedSince !== undefined) tests.push(isCreatedBefore(unusedSince), isUnusedSince(unusedSince, now))
  if (unscoped) tests.push((stored) => effectiveChain(toKey(stored)).every(isUnrestricted))
  if (maker !== undefined)
    tests.push(({ internal }) => isMadeWith(decodeKeyInternal(internal), maker, madeWith?.descendants ?? true))
  return (stored) => tests.every((test) => test(stored))
}

/** Returns a test whether one of these values is that of the object. */
export function isOneOf<T>(values: readonly T[], memberOf: (stored: Stored) => T): Test {
  const all = new Set(values)
  return (stored) => all.has(memberOf(stored))
}

export function hasLabels(selector: NonNullable<RevocationSpec['selector']>): Test {
  const matches = matcherOf(requirementsOf(selector))
  return ({ object }) => matches(object.metadata.labels ?? {})
}

export function isCreatedBefore(text: string): Test {
  const at = momentOf(text)
  return ({ object }) => lifeOf(object).created * 1000 < at
}

function isUnusedSince(text: string, now: Date): Test {
  const at = momentOf(text)
  return (stored) => momentOf(lastUseOf(stored, now) ?? '') < at
}

/**
 * Returns a test whether the user may revoke a key: the scopes allow listing it and changing or deleting it, it is visible, and it
 * carries the scopes of the user, unless it is the key of the request.
 */
export function mayRevoke(user: UserInfo, asked: RevocationSpec, { scopes }: Pick<Services, 'scopes'>): Test {
  return (stored) => {
    const key = toKey(stored)
    const { name = '' } = stored.object.metadata
    const isOwn = user.key.uid !== '' && user.key.uid === key.uid
    const isOpen = (verb: string) => isAllowed(KINDS.OwnedAccessKey, { verb, name }, user, key, scopes)
    if (!verbsOf(asked).every(isOpen)) return false
    return isOwn || containsChain(effectiveChain(key), user.chain)
  }
}

/** Reports whether the user may read the history of a key that they may revoke. */
export function mayReadHistory(user: UserInfo, stored: Stored, scopes: Services['scopes']): boolean {
  const { name = '' } = stored.object.metadata
  const { subresource } = KINDS.OwnedAccessKeyHistory
  const asked = [
    { verb: 'get', name },
    { verb: 'get', name, subresource },
  ]
  return asked.every((one) => isAllowed(KINDS.OwnedAccessKey, one, user, toKey(stored), scopes))
}

/** The verbs that a revocation of an object needs. */
export const verbsOf = ({ action }: RevocationSpec): string[] => ['list', action === 'Delete' ? 'delete' : 'patch']

/** Reports whether the scopes of the user allow revoking a key of this name, regardless of its owner. Nothing is read for it. */
export const isInScope = (user: UserInfo, asked: RevocationSpec, name: string, scopes: Services['scopes']): boolean =>
  verbsOf(asked).every((verb) => evaluateHere(user.chain, KINDS.OwnedAccessKey, { verb, name }, scopes).allowed)

/** Reports whether the scopes and the ownership of a key, or of what is owned like one, allow a request for it. */
export function isAllowed(
  kind: KindRow,
  asked: { verb: string; name: string; subresource?: string },
  user: UserInfo,
  key: Key,
  scopes: Services['scopes'],
): boolean {
  const decision = evaluateHere(user.chain, kind, asked, scopes)
  if (!decision.allowed || !maySeeKey(user, key, decision.own)) return false
  return decision.self !== true || user.key.uid === key.uid
}
