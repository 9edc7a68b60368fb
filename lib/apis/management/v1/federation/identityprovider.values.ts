/** Reads values of an identity provider, and decides who may use it. */
import { AUTHENTICATED, identityOf, isMaster } from '../../../../authorization/users/identity.ts'
import type { UserInfo } from '../../../../authorization/users/user.ts'
import type { ProviderSpec } from '../../../../federation/identityprovider.schema.ts'
import type { KubeObject } from '../../../../meta/types.ts'

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
