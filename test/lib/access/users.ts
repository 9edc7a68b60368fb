/** Users and keys for the tests of privileges. */

import { effectiveUser, type Key, type KeySpec } from '../../../lib/access/users/identity.ts'
import { effectiveChain } from '../../../lib/access/users/privilege.ts'
import type { UserInfo } from '../../../lib/access/users/user.ts'

export const aKey = (spec: KeySpec = {}, more: Partial<Key> = {}): Key => ({
  uid: 'u1',
  spec,
  creator: 'user:admin',
  carried: [],
  ...more,
})

/** Returns the user of a request with this key. */
export function holderOf(key: Key): UserInfo {
  const { name, identity, groups } = effectiveUser(key)
  const { user, team, subject, type = '' } = key.spec
  return {
    name,
    identity,
    groups,
    key: { name: 'k', uid: key.uid, type, ...(user && { user }), ...(team && { team }), ...(subject && { subject }) },
    chain: effectiveChain(key),
  }
}

/** Presents a key other than the tested ones. */
export const as = (spec: KeySpec, more: Partial<Key> = {}): UserInfo => holderOf(aKey(spec, { uid: 'caller', ...more }))

export const alice = as({ user: 'alice', groups: ['dev'] })
export const master = as({ user: 'admin', groups: ['system:masters'] })
