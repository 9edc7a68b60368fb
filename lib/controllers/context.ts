/** In whose name the server itself acts. */
import { AUTHENTICATED, MASTERS } from '../authorization/identity.ts'
import type { RequestContext } from '../registry/kind.ts'

/** A request of nobody outside: user `system:controller:NAME`, a name that no key can have, which may do everything. */
export const controllerContext = (name: string, now: Date): RequestContext =>
  internalContext(`system:controller:${name}`, now)

/** The same under any `system:` name. */
export function internalContext(user: `system:${string}`, now: Date): RequestContext {
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
    warn: () => undefined,
    note: () => undefined,
  }
}
