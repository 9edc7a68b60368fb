/**
 * Maps a user to the name and groups that a cluster sees in a token or certificate. Names below `system:` belong to
 * Kubernetes, so they are never passed on: `system:masters` in a certificate would be an administrator that no
 * authorizer can deny.
 */
import { MASTERS } from '../../access/users/identity.ts'

const RESERVED = 'system:'

/** The group of administrators (system:masters here) in clusters. Only they can be in it. */
const ADMINISTRATORS = 'platform:admins'

/** Reports whether clusters may see a user of this name. */
export const isVisibleUser = (user: string): boolean => user !== '' && !user.startsWith(RESERVED)

/** Returns the groups that clusters see, sorted and without duplicates. */
export function visibleGroups(groups: readonly string[]): string[] {
  const leaving = groups.filter((group) => group !== '' && !group.startsWith(RESERVED) && group !== ADMINISTRATORS)
  const all = groups.includes(MASTERS) ? [...leaving, ADMINISTRATORS] : leaving
  return [...new Set(all)].sort()
}
