/**
 * How a user of this API appears to a cluster, in a token or in a certificate. Names below `system:` belong to
 * Kubernetes itself, so none ever leaves: `system:masters` in a certificate would be an administrator that no
 * authorizer can refuse.
 */
import { MASTERS } from '../authorization/users/identity.ts'

const RESERVED = 'system:'

/** The group that administrators (system:masters here) have outside. Nobody else appears in it. */
const ADMINISTRATORS = 'platform:admins'

/** Whether clusters may see a user of this name at all. */
export const mayLeave = (user: string): boolean => user !== '' && !user.startsWith(RESERVED)

/** The groups that clusters see: sorted, each once. */
export function outsideGroups(groups: readonly string[]): string[] {
  const leaving = groups.filter((group) => group !== '' && !group.startsWith(RESERVED) && group !== ADMINISTRATORS)
  const all = groups.includes(MASTERS) ? [...leaving, ADMINISTRATORS] : leaving
  return [...new Set(all)].sort()
}
