/** Says what only administrators may do. */
import type { Access } from '../../engine/registry/kind.ts'
import { isMaster, MASTERS } from './identity.ts'
import type { UserInfo } from './user.ts'

/** Returns the group by which the user administers all objects, or undefined. Scopes are checked elsewhere. */
export const administers = (user: Pick<UserInfo, 'groups'>): string | undefined =>
  isMaster(user) ? MASTERS : undefined

/** Returns the access of an administrator to what only they may do. */
export const mastersOnly = (user: Pick<UserInfo, 'groups'>, reason: string): Access =>
  isMaster(user) ? { type: 'allowed', rule: MASTERS } : { type: 'denied', reason }
