/** Finds the trusts of owners who lose `access` to an identity provider: exchanges through these trusts keep working. */
import { evaluateHere } from '../access/scopes/evaluate.ts'
import { keyIdentity } from '../access/users/identity.ts'
import type { Identity, UserInfo } from '../access/users/user.ts'
import { eachStored } from '../engine/registry/store.ts'
import type { Services } from '../keys/services.ts'
import { FederatedIdentityCredential } from './federatedidentitycredential.ts'
import { isOpenTrust, listedNames, specOf, toKey } from './federatedidentitycredential.values.ts'
import type { ProviderSpec } from './identityprovider.schema.ts'

const EVERYBODY = 'team:*'

/** Returns the users and teams that may refer to the provider. */
const named = ({ access = [] }: ProviderSpec): Set<string> =>
  new Set(
    access
      .filter(({ verbs }) => verbs.includes('use'))
      .flatMap(({ users = [], teams = [] }) => [
        ...users.map((one) => `user:${one}`),
        ...teams.map((one) => `team:${one}`),
      ]),
  )

/**
 * Returns a test whether an owner of trusts loses access by the change. The teams of a user are known only in a request of that user, so
 * a user who is no longer in an entry counts as a member of a team that loses access.
 */
function losesAccess(old: ProviderSpec, next: ProviderSpec): ((owner: Identity) => boolean) | undefined {
  const [before, after] = [named(old), named(next)]
  const lost = [...before].filter((one) => !after.has(one))
  if (lost.length === 0 || after.has(EVERYBODY)) return undefined
  const isForMembers = lost.some((one) => one.startsWith('team:'))
  return (owner) =>
    !after.has(owner) &&
    (lost.includes(owner) || lost.includes(EVERYBODY) || (isForMembers && owner.startsWith('user:')))
}

/** Returns the warning about the open trusts of owners who lose access to the provider by the change, or nothing. */
export async function accessWarnings(
  services: Services,
  name: string,
  old: ProviderSpec,
  next: ProviderSpec,
  user: UserInfo,
): Promise<string[]> {
  const isLost = losesAccess(old, next)
  if (isLost === undefined) return []
  const mayList = (trust: string) =>
    evaluateHere(user.chain, FederatedIdentityCredential, { verb: 'list', name: trust }, services.scopes).allowed
  const left: string[] = []
  for await (const stored of eachStored(services.storeOf(FederatedIdentityCredential))) {
    const { metadata } = stored.object
    const isOpen = isOpenTrust(stored) && specOf(stored.object).identityProvider === name
    if (isOpen && isLost(keyIdentity(toKey(stored))) && mayList(metadata.name ?? '')) left.push(metadata.name ?? '')
  }
  if (left.length === 0) return []
  return [
    `spec.access: ${listedNames(left)} of owners without access may keep issuing access keys: disable those that must not`,
  ]
}
