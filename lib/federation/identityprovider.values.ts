/** Reads values of an identity provider, decides who may use it, and says how providers are stored. Functions that only read them need no more. */
import { AUTHENTICATED, identityOf, isMaster } from '../access/users/identity.ts'
import type { UserInfo } from '../access/users/user.ts'
import type { KubeObject } from '../engine/meta/types.ts'
import type { Table } from '../engine/storage/interface.ts'
import { KINDS } from '../kinds.ts'
import type { ProviderSpec } from './identityprovider.schema.ts'

/**
 * Lists read every provider and leave out those that the user may not use. A deployment has a few dozen at most, so one
 * query reads fewer items than one for each team of the user would.
 */
export const table: Table = { resource: KINDS.IdentityProvider.plural, partitions: () => [], activity: false }

/** Returns the spec, which the schema has validated. */
export const specOf = ({ spec }: KubeObject): ProviderSpec => spec as unknown as ProviderSpec

/** Returns the rule that lets the user read the provider and refer to it, or undefined. */
export function useRule(user: UserInfo, { access = [] }: ProviderSpec): string | undefined {
  if (isMaster(user)) return 'system:masters'
  const index = access.findIndex(
    ({ verbs, users = [], teams = [] }) =>
      verbs.includes('use') &&
      (users.some((name) => identityOf(user) === `user:${name}`) || teams.some((team) => isIn(user, team))),
  )
  return index < 0 ? undefined : `spec.access[${index}]`
}

const isIn = ({ groups }: UserInfo, team: string): boolean =>
  team === '*' ? groups.includes(AUTHENTICATED) : team !== '' && groups.includes(`team:${team}`)
