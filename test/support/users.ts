/** Builds users as the authorizer passes them on, and request contexts for the registry. */

import type { Scope } from '../../lib/access/scopes/scope.ts'
import type { UserInfo } from '../../lib/access/users/user.ts'
import type { RequestContext } from '../../lib/engine/registry/kind.ts'
import { endless } from './deadlines.ts'

/** Returns the user `name` with a key without a scope. */
export const userNamed = (name: string, groups: readonly string[] = []): UserInfo => ({
  name,
  identity: `user:${name}`,
  groups: [...groups, 'system:authenticated'],
  key: { name: `key-of-${name}`, uid: `uid-of-${name}`, type: 'User', user: name },
  chain: [],
})

export const admin: UserInfo = userNamed('admin', ['system:masters'])
export const alice: UserInfo = userNamed('alice')
export const bob: UserInfo = userNamed('bob')

/** Returns the same user with a key that has these scopes. */
export const withScopes = (user: UserInfo, ...chain: Scope[]): UserInfo => ({ ...user, chain })

export interface TestContext extends RequestContext {
  warnings: string[]
  notes: Record<string, unknown>
}

/** Returns a request context that records warnings and notes. */
export function contextOf(user: UserInfo, { now = new Date(), dryRun = false } = {}): TestContext {
  const warnings: string[] = []
  const notes: Record<string, unknown> = {}
  return {
    user,
    now,
    dryRun,
    deadline: endless,
    warnings,
    notes,
    warn: (text) => void warnings.push(text),
    note: (name, value) => {
      notes[name] = value
    },
  }
}
