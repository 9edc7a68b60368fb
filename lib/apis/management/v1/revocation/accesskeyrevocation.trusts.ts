/**
 * Finds the federated identity credentials, called trusts in code, that a revocation selects, and those that it leaves: a trust keeps
 * giving keys after the keys of its owner have ended.
 */
import { containsChain } from '../../../../authorization/scopes/chain.ts'
import { evaluateHere } from '../../../../authorization/scopes/evaluate.ts'
import { keyIdentity } from '../../../../authorization/users/identity.ts'
import { effectiveChain, visiblePartitions } from '../../../../authorization/users/privilege.ts'
import type { UserInfo } from '../../../../authorization/users/user.ts'
import type { TrustSpec } from '../../../../federation/federatedidentitycredential.schema.ts'
import { decodeTrustInternal } from '../../../../federation/trust.ts'
import { KINDS } from '../../../../kinds/kinds.ts'
import type { JsonObject } from '../../../../meta/types.ts'
import { eachStored } from '../../../../registry/each.ts'
import type { RequestContext } from '../../../../registry/kind.ts'
import type { Store } from '../../../../registry/store.ts'
import type { Stored } from '../../../../storage/interface.ts'
import { listedNames, ownerOf, specOf, toKey } from '../federation/federatedidentitycredential.values.ts'
import type { Services } from '../services.ts'
import type { Selected } from './accesskeyrevocation.find.ts'
import { MOST_SHOWN, type RevocationSpec } from './accesskeyrevocation.schema.ts'
import {
  hasLabels,
  isAllowed,
  isCreatedBefore,
  isOneOf,
  ownersOf,
  type Test,
  verbsOf,
} from './accesskeyrevocation.selection.ts'

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
  if (asked.action !== 'Delete') tests.push(isOpen)
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
  const found: FoundTrusts = { selected: [], shown: [], isOwnSpared: false, left: [], logins: [] }
  const mayList = evaluateHere(user.chain, TRUST, { verb: 'list' }, scopes)
  if (!mayList.allowed && !asked.federatedIdentityCredentials) return found
  const isConcerned = concernsTrusts(asked) ? concerns(asked, maker) : () => false
  for await (const stored of eachStored(store, visiblePartitions(user))) {
    if (!isAllowed(TRUST, request('list', stored), user, toKey(stored), scopes)) continue
    const { name = '', uid = '' } = stored.object.metadata
    const isSelected = test(stored)
    if (isSelected && (uid !== user.federation?.trust.uid || asked.includeSelf)) {
      found.selected.push({ name, uid })
      if (found.shown.length < MOST_SHOWN) found.shown.push(shownTrust(stored))
    } else if (isSelected) found.isOwnSpared = true
    else if (isOpen(stored) && isConcerned(stored)) found.left.push(name)
    else if (isOpen(stored) && asked.users?.some((one) => logsIn(specOf(stored.object), one))) found.logins.push(name)
  }
  return found
}

/** Returns the warnings about trusts that the revocation leaves. */
export function warningsOf({ left, logins, isOwnSpared }: FoundTrusts, asked: RevocationSpec): string[] {
  const advice = asked.federatedIdentityCredentials
    ? 'disable what must not'
    : 'disable them, or set spec.federatedIdentityCredentials'
  return [
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

const isOpen: Test = ({ object }) => object.metadata.deletionTimestamp === undefined && specOf(object).disabled !== true

/** Returns a test whether a trust belongs to an owner in the spec, only logs in its users, or was made with `maker`. */
function concerns(asked: RevocationSpec, maker: string | undefined): Test {
  const { users = [], madeWith } = asked
  const owners = ownersOf(asked)
  const isOwned = owners && isOneOf<string>(owners, (stored) => keyIdentity(toKey(stored)))
  const tests: Test[] = [({ object }) => object.metadata.deletionTimestamp === undefined]
  if (isOwned) tests.push((stored) => isOwned(stored) || logsInOnly(specOf(stored.object), users))
  if (maker !== undefined) tests.push(isMadeWith(maker, madeWith?.descendants ?? true))
  return (stored) => tests.every((test) => test(stored))
}

function isMadeWith(uid: string, descendants: boolean): Test {
  return ({ internal }) => {
    const { maker, ancestors = [] } = decodeTrustInternal(internal)
    return maker === uid || (descendants && ancestors.includes(uid))
  }
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
