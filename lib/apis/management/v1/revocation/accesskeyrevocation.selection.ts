/** Decides which access keys a revocation selects. */
import { decodeKeyInternal } from '../../../../authentication/keyinternal.ts'
import { lifeOf } from '../../../../authentication/keystatus.ts'
import { managementRequest } from '../../../../authorization/attributes/attributes.ts'
import { containsChain } from '../../../../authorization/scopes/chain.ts'
import { evaluate } from '../../../../authorization/scopes/evaluate.ts'
import { type Key, keyIdentity } from '../../../../authorization/users/identity.ts'
import { effectiveChain, maySeeKey } from '../../../../authorization/users/privilege.ts'
import type { Identity, UserInfo } from '../../../../authorization/users/user.ts'
import { parseTime } from '../../../../meta/encoding/time.ts'
import { matcherOf } from '../../../../meta/selectors/labelmatcher.ts'
import { requirementsOf } from '../../../../meta/selectors/labelselector.ts'
import type { Stored } from '../../../../storage/interface.ts'
import { group } from '../group.ts'
import { lastUseOf } from '../ownedaccesskey.status.ts'
import { plural } from '../ownedaccesskey.table.ts'
import { specOf, toKey } from '../ownedaccesskey.values.ts'
import type { Services } from '../services.ts'
import type { RevocationSpec } from './accesskeyrevocation.schema.ts'

type Test = (stored: Stored) => boolean

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
export function selects(spec: RevocationSpec, maker: string | undefined): Test {
  const { names, types, selector, createdBefore, unusedSince, unscoped, madeWith, action = 'Disable' } = spec
  const owners = ownersOf(spec)
  const tests: Test[] = [({ object }) => object.metadata.deletionTimestamp === undefined]
  if (action === 'Disable') tests.push(({ object }) => specOf(object).disabled !== true)
  if (names) tests.push(isOneOf(names, ({ object }) => object.metadata.name ?? ''))
  if (owners) tests.push(isOneOf<string>(owners, (stored) => keyIdentity(toKey(stored))))
  if (types) tests.push(isOneOf<string>(types, ({ object }) => specOf(object).type ?? ''))
  if (selector) tests.push(hasLabels(selector))
  if (createdBefore !== undefined) tests.push(isCreatedBefore(createdBefore))
  if (unusedSince !== undefined) tests.push(isCreatedBefore(unusedSince), isUnusedSince(unusedSince))
  if (unscoped) tests.push((stored) => effectiveChain(toKey(stored)).length === 0)
  if (maker !== undefined) tests.push(isMadeWith(maker, madeWith?.descendants ?? true))
  return (stored) => tests.every((test) => test(stored))
}

function isOneOf<T>(values: readonly T[], memberOf: (stored: Stored) => T): Test {
  const all = new Set(values)
  return (stored) => all.has(memberOf(stored))
}

function hasLabels(selector: NonNullable<RevocationSpec['selector']>): Test {
  const matches = matcherOf(requirementsOf(selector))
  return ({ object }) => matches(object.metadata.labels ?? {})
}

const momentOf = (text: string): number => parseTime(text)?.getTime() ?? Number.NEGATIVE_INFINITY

function isCreatedBefore(text: string): Test {
  const at = momentOf(text)
  return ({ object }) => lifeOf(object).created * 1000 < at
}

function isUnusedSince(text: string): Test {
  const at = momentOf(text)
  return (stored) => momentOf(lastUseOf(stored) ?? '') < at
}

function isMadeWith(maker: string, descendants: boolean): Test {
  return ({ internal }) => {
    const { ancestors = [] } = decodeKeyInternal(internal)
    return descendants ? ancestors.includes(maker) : ancestors.at(-1) === maker
  }
}

/**
 * Returns a test whether the user may revoke a key: the scopes allow listing it and changing or deleting it, it is visible, and it
 * carries the scopes of the user, unless it is the key of the request.
 */
export function mayRevoke(user: UserInfo, { action }: RevocationSpec, { scopes }: Pick<Services, 'scopes'>): Test {
  const verbs = ['list', action === 'Delete' ? 'delete' : 'patch']
  return (stored) => {
    const key = toKey(stored)
    const { name = '' } = stored.object.metadata
    const isOwn = user.key.uid !== '' && user.key.uid === key.uid
    if (!verbs.every((verb) => isAllowed({ verb, name }, user, key, scopes))) return false
    return isOwn || containsChain(effectiveChain(key), user.chain)
  }
}

/** Reports whether the scopes and the ownership of the key allow a request for it. */
export function isAllowed(
  asked: { verb: string; name: string },
  user: UserInfo,
  key: Key,
  scopes: Services['scopes'],
): boolean {
  const decision = evaluate(user.chain, managementRequest({ group, resource: plural, ...asked }), scopes)
  if (!decision.allowed || !maySeeKey(user, key, decision.own)) return false
  return decision.self !== true || user.key.uid === key.uid
}
