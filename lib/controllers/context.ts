/** In whose name the server itself acts. */
import { AUTHENTICATED, MASTERS } from '../authorization/users/identity.ts'
import type { Deadline } from '../meta/errors/deadline.ts'
import type { RequestContext } from '../registry/kind.ts'

/** A request of nobody outside: user `system:controller:NAME`, a name that no key can have, which may do everything. */
export const controllerContext = (name: string, now: Date, deadline: Deadline): RequestContext =>
  internalContext(`system:controller:${name}`, now, deadline)

/** The same under any `system:` name. */
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
