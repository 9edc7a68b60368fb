/** Builds the request contexts of the server itself. */
import { AUTHENTICATED, MASTERS } from '../authorization/users/identity.ts'
import type { Deadline } from '../meta/errors/deadline.ts'
import type { RequestContext } from '../registry/kind.ts'

/** Returns the context of a controller: user `system:controller:NAME`, which no key can have, with full access. */
export const controllerContext = (name: string, now: Date, deadline: Deadline): RequestContext =>
  internalContext(`system:controller:${name}`, now, deadline)

/** Returns the same context for any `system:` user. */
export function internalContext(user: `system:${string}`, now: Date, deadline: Deadline): RequestContext {
  return {
    user: {
      name: user,
      identity: `user:${user}`,
      groups: [MASTERS, AUTHENTICATED],
      key: { name: 'none', uid: '', type: '' },
      chain: [],
    },
    now,
    dryRun: false,
    deadline,
    warn: () => undefined,
    note: () => undefined,
  }
}
